// The texts in a source of C++: literals that stand beside each other are one, and so are those added up with values
// between them, each of which becomes "X". For tests that ask for a translation of every text.
const token = /\/\/[^\n]*|#include[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\]|\\.)'|::|->|\w+|\S/g

export function cppTexts(source: string): string[] {
  const tokens = (source.match(token) ?? []).filter((one) => !one.startsWith('//') && !one.startsWith('#include'))
  const texts: string[] = []
  let text: string | null = null
  let value = false // since the last +
  let depth = 0 // of a call that makes a value
  const end = () => {
    if (text !== null) texts.push(value ? `${text}X` : text)
    text = null
    value = false
    depth = 0
  }
  tokens.forEach((one, i) => {
    if (depth > 0) {
      depth += one === '(' ? 1 : one === ')' ? -1 : 0
    } else if (one.startsWith('"')) {
      const before = tokens[i - 1]
      const part = JSON.parse(one.replace(/\\'/g, "'")) as string
      if (text !== null && (before === '+' || before?.startsWith('"'))) {
        text += part
      } else {
        end()
        text = (before === '+' ? 'X' : '') + part
      }
    } else if (text === null) {
      return
    } else if (one === '+') {
      if (value) text += 'X'
      value = false
    } else if (/^\w/.test(one)) {
      value = true
    } else if (one === '(' && value) {
      depth = 1
    } else if (!['::', '.', '->', '[', ']'].includes(one)) {
      end()
    }
  })
  end()
  return texts
}
