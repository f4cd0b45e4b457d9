// Colours of slices: hue by meaning (the codes of src/server/slice_colour.h), lightness by name, so that
// the same kernel looks the same in every lane, run and session.
import { colour } from '../preferences'

const names = ['host', 'computing', 'ai-cpu', 'comm', 'memory', 'data', 'host', 'host', 'host', 'interval', 'bad', 'free']

function parse(hex: string): [number, number, number] {
  const value = parseInt(hex.slice(1), 16)
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255]
}

export class Palette {
  private readonly base: [number, number, number][]
  private readonly cache = new Map<number, string>()
  readonly text: string
  readonly dark: boolean

  constructor() {
    this.base = names.map((name) => parse(colour(name) || '#888888'))
    this.dark = document.documentElement.dataset.theme === 'dark'
    this.text = this.dark ? '#0f1521' : '#ffffff'
  }

  fill(code: number, name: number): string {
    const shade = (Math.imul(name, 2654435761) >>> 28) & 7
    const key = code * 8 + shade
    let text = this.cache.get(key)
    if (!text) {
      const [r, g, b] = this.base[code] ?? [128, 128, 128]
      // Runtime calls and Python are quieter than the operators they belong to.
      const quiet = code === 7 || code === 8 ? 0.35 : 0
      const mix = quiet + shade * 0.035
      const target = this.dark ? 22 : 255
      const blend = (c: number) => Math.round(c + (target - c) * mix)
      text = `rgb(${blend(r)},${blend(g)},${blend(b)})`
      this.cache.set(key, text)
    }
    return text
  }
}
