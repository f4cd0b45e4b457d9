// Names of kernels and operators for a place that is too narrow for them; the same idea as in the program's report
// (src/deliverables/report/short_name.cc). Different names may look the same: the whole one belongs into the tooltip.
import { shorten } from './format'

const deepest = 50 // names come from files
const plainTypes = new Set(['', 'float', 'double', 'int', 'long', 'long long', 'short', 'char', 'char*', 'bool', 'unsigned int', 'unsigned long', 'true', 'false'])
const dullTemplates = ['array<', 'OffsetCalculator<', 'TrivialOffsetCalculator<', 'LoadWithCast<', 'LoadWithoutCa', 'StoreWithCast<', 'StoreWithoutCa', 'integral_constant<']

// Says little about what a kernel does.
const isFiller = (argument: string): boolean =>
  plainTypes.has(argument) || /^[0-9ul-]*$/.test(argument) || dullTemplates.some((one) => argument.startsWith(one))

class NotUnderstood extends Error {}

// Reads a demangled C++ name once, from left to right.
class CppName {
  private at = 0
  constructor(private readonly text: string) {}

  // '' if it is not understood.
  shortForm(): string {
    try {
      const name = this.component(0)
      return this.at === this.text.length && /^[^<>(){}:, ]/.test(name) ? name : ''
    } catch (problem) {
      if (problem instanceof NotUnderstood) return ''
      throw problem
    }
  }

  // To the next `,` or `>` that is not inside of something: the last part of a qualified name, or the function that a
  // lambda is in.
  private component(depth: number): string {
    let name = ''
    while (this.at < this.text.length) {
      const letter = this.text[this.at]!
      if (letter === ',' || letter === '>') break
      if (this.text.startsWith('::', this.at)) {
        name = ''
        this.at += 2
      } else if (letter === '<') name += this.arguments(depth + 1)
      else if (letter === '(') {
        this.skipGroup()
        if (name) this.skipRest()
      } else {
        name += letter
        this.at += 1
      }
    }
    return (depth === 0 ? name.replace(/^void /, '') : name).trim()
  }

  private arguments(depth: number): string {
    if (depth > deepest) throw new NotUnderstood()
    const all: string[] = []
    while (!all.length || this.text[this.at] === ',') {
      this.at += 1 // < or ,
      all.push(this.component(depth))
      if (this.at >= this.text.length) throw new NotUnderstood()
    }
    this.at += 1 // >
    const telling = all.filter((one) => !isFiller(one))
    const left = telling.length ? telling : all
    return `<${left.join(', ')}${left.length < all.length ? ', …' : ''}>`
  }

  // (...) with all in it.
  private skipGroup() {
    let open = 0
    do {
      if (this.at === this.text.length) throw new NotUnderstood()
      open += this.text[this.at] === '(' ? 1 : this.text[this.at] === ')' ? -1 : 0
      this.at += 1
    } while (open > 0)
  }

  // Of an argument behind its function: ::{lambda(float)#1} and the like.
  private skipRest() {
    let open = 0
    for (; this.at < this.text.length; this.at += 1) {
      const letter = this.text[this.at]!
      if (open === 0 && (letter === ',' || letter === '>')) return
      open += '<({'.includes(letter) ? 1 : '>)}'.includes(letter) ? -1 : 0
    }
  }
}

const forms = new Map<string, string>() // a table asks for the same names whenever it is scrolled
function formOf(name: string): string {
  let form = forms.get(name)
  if (form === undefined) {
    if (forms.size >= 10_000) forms.clear()
    forms.set(name, (form = new CppName(name).shortForm()))
  }
  return form
}

// The name as it is where it has at most `most` letters. Of a longer one that is a C++ function's, without its
// namespaces, arguments, and template arguments that say little; what is too long even so loses its middle.
export function shortName(name: string, most: number): string {
  if (name.length <= most) return name
  const isCpp = name.includes('::') || name.startsWith('void ')
  return shorten((isCpp && formOf(name)) || name, most)
}
