// Text that fits: the middle of a long name goes, since beginnings and ends of kernel names tell them apart.
export type Measure = (text: string) => number

const fewest = 2 // characters of the beginning that say anything
// A number at the end tells one from another (ProfilerStep#10 and #20): it stays whole. Longer ones tell nobody anything.
const endNumber = /[#_]?\d{1,6}$/

export class TextFitter {
  private readonly widths = new Map<string, number>()
  private readonly fitted = new Map<string, string>()

  constructor(private readonly measure: Measure) {}

  private width(character: string): number {
    let width = this.widths.get(character)
    if (width === undefined) this.widths.set(character, (width = this.measure(character)))
    return width
  }

  // The text, shortened to at most so many pixels; "" when next to nothing fits.
  fit(text: string, pixels: number): string {
    const room = Math.floor(pixels)
    const key = `${room} ${text}`
    const known = this.fitted.get(key)
    if (known !== undefined) return known
    if (this.fitted.size > 20_000) this.fitted.clear()
    const short = this.shorten(text, room)
    this.fitted.set(key, short)
    return short
  }

  private shorten(text: string, room: number): string {
    // Longer than any screen: what is cut away need not be measured.
    const characters = [...(text.length > 2000 ? `${text.slice(0, 1000)}${text.slice(-1000)}` : text)]
    let total = 0
    for (const character of characters) total += this.width(character)
    if (total <= room) return text
    const ellipsis = this.width('…')
    let left = room - ellipsis
    let head = 0
    let tail = characters.length - (endNumber.exec(text)?.[0].length ?? 0)
    for (const character of characters.slice(tail)) left -= this.width(character)
    // Three characters of the beginning for two of the end.
    for (let turn = 0; head < tail; ++turn) {
      const atHead = turn % 5 < 3
      const width = this.width(characters[atHead ? head : tail - 1] ?? '')
      if (width > left) break
      left -= width
      if (atHead) ++head
      else --tail
    }
    if (head < fewest) return ''
    return `${characters.slice(0, head).join('')}…${characters.slice(tail).join('')}`
  }
}
