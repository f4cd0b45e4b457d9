// Colours of slices: hue by meaning (the codes of src/server/slice_colour.h), lightness by a shade that the
// server makes from the name, so that the same kernel looks the same in every lane, run and session.
import { colour } from '../preferences'

const hues = [
  'host', 'computing', 'ai-cpu', 'comm', 'memory', 'data', 'host', 'host', 'host', 'select', 'interval', 'free', 'comm-overlapped', 'host',
]
const python = 7
const runtime = 8
const plain = new Set([9, 11]) // steps and free time have one shade: they recede

type Rgb = [number, number, number]

function parse(hex: string): Rgb {
  const long = hex.length === 4 ? `#${hex[1]}${hex[1]}${hex[2]}${hex[2]}${hex[3]}${hex[3]}` : hex
  const value = parseInt(long.slice(1), 16)
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255]
}
const mixed = (a: Rgb, b: Rgb, share: number): Rgb =>
  [0, 1, 2].map((i) => Math.round((a[i] ?? 0) + ((b[i] ?? 0) - (a[i] ?? 0)) * share)) as Rgb
const packed = ([r, g, b]: Rgb): number => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0 // as a pixel lies in memory
const luminance = (rgb: Rgb): number => {
  const [r, g, b] = rgb.map((value) => {
    const share = value / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  }) as Rgb
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}
const contrast = (a: number, b: number): number => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)

// How much of a pixel a slice covers, in steps of a quarter; the last is for slices that a search leaves out.
export const fullCover = 3
export const dimmed = 4
const variants = 5

export class Palette {
  readonly dark: boolean
  private readonly pixels = new Uint32Array(256 * variants)
  private readonly texts: string[] = []
  private readonly names = new Map<string, { css: string; pixel: number }>()

  constructor() {
    this.dark = document.documentElement.dataset.theme === 'dark'
    const page = parse(colour('page') || '#f6f8fb')
    const inks: Rgb[] = [parse('#ffffff'), parse('#0f1521')]
    for (let code = 0; code < 16; ++code) {
      const base = parse(colour(hues[code] ?? 'host') || '#888888')
      for (let shade = 0; shade < 8; ++shade) {
        // Runtime calls and Python are quieter than the operators they belong to.
        const quiet = code === python || code === runtime ? 0.35 : 0
        const fill = plain.has(code) ? base : mixed(base, this.dark ? [22, 30, 45] : [255, 255, 255], quiet + shade * 0.04)
        const byte = code | (shade << 4)
        for (let cover = 0; cover <= fullCover; ++cover)
          this.pixels[byte * variants + cover] = packed(mixed(page, fill, 0.4 + (0.6 * cover) / fullCover))
        this.pixels[byte * variants + dimmed] = packed(mixed(page, fill, 0.25))
        const light = luminance(fill)
        const ink = contrast(luminance(inks[0]!), light) >= contrast(luminance(inks[1]!), light) ? '#ffffff' : '#0f1521'
        this.texts[byte] = ink
      }
    }
  }

  // The pixel of a slice with this colour byte.
  pixel(byte: number, variant: number): number {
    return this.pixels[byte * variants + variant] ?? 0
  }
  // The colour of text on it.
  ink(byte: number): string {
    return this.texts[byte] ?? '#ffffff'
  }
  // A variable of the theme, read once.
  private known(name: string): { css: string; pixel: number } {
    let found = this.names.get(name)
    if (!found) {
      const css = colour(name) || '#888888'
      found = { css, pixel: packed(parse(css)) }
      this.names.set(name, found)
    }
    return found
  }
  css(name: string): string { return this.known(name).css }
  plainPixel(name: string): number { return this.known(name).pixel }
  // A lighter one, for what lies below a line.
  softPixel(name: string, share: number): number {
    return packed(mixed(parse(this.css('page')), parse(this.css(name)), share))
  }
  // The CSS colour of a slice's byte, for lists beside the canvas.
  hue(byte: number): string { return this.css(hues[byte & 15] ?? 'host') }
}
