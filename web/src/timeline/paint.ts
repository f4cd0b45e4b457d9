// Slices and curves as pixels. A row of slices looks the same on each of its lines, so one line is made and
// copied; that costs a fraction of a canvas' rectangles, above all without a graphics card. Text and lines are
// drawn over it afterwards.
import { curvePixels, laneGap, slicePixels, type Lane } from './lanes'
import { dimmed, fullCover, type Palette } from './palette'
import { headPixels, laneTop, rowTop, rulerPixels, scrollTop, type Scene } from './scene'
import type { CurvePart, SlicePart } from './store'
import type { Piece } from './tiles'
import { firstAfter, sampleAt } from './viewData'

export interface Label {
  x: number // CSS pixels
  y: number
  width: number
  name: number
  colour: number // byte
  dim: boolean
}

const labelPixels = 24
const gapFrom = 5 // slices of so many pixels leave one to the next

export class Painter {
  readonly labels: Label[] = []
  private image: ImageData | null = null
  private pixels = new Uint32Array(0)
  private base = new Uint32Array(0)
  private line = new Uint32Array(0)
  private lows = new Float64Array(0)
  private highs = new Float64Array(0)
  private width = 0
  private height = 0
  private ratio = 1

  // Begins a frame with the empty page and the grid's columns (CSS pixels of the canvas).
  begin(scene: Scene, palette: Palette, ratio: number, grid: number[]): void {
    this.ratio = ratio
    const width = Math.max(1, Math.round((scene.width - headPixels) * ratio))
    const height = Math.max(1, Math.round((scene.height - rulerPixels) * ratio))
    if (width !== this.width || height !== this.height || !this.image) {
      this.width = width
      this.height = height
      this.image = new ImageData(width, height)
      this.pixels = new Uint32Array(this.image.data.buffer)
      this.base = new Uint32Array(width)
      this.line = new Uint32Array(width)
      this.lows = new Float64Array(width)
      this.highs = new Float64Array(width)
    }
    this.base.fill(palette.plainPixel('page'))
    const mark = palette.plainPixel('border')
    for (const x of grid) {
      const column = Math.round((x - headPixels) * ratio)
      if (column >= 0 && column < width) this.base[column] = mark
    }
    this.copyDown(this.base, 0, height)
    this.labels.length = 0
  }

  end(context: CanvasRenderingContext2D): void {
    if (this.image) context.putImageData(this.image, Math.round(headPixels * this.ratio), Math.round(rulerPixels * this.ratio))
  }

  // Lines [from, to) of the canvas, CSS pixels, as lines of the buffer; those that scroll stay below the pinned.
  private lines(scene: Scene, lane: Lane, from: number, to: number): [number, number] {
    const top = lane.pinned ? rulerPixels : scrollTop(scene)
    const first = Math.round((Math.max(from, top) - rulerPixels) * this.ratio)
    const last = Math.round((Math.min(to, scene.height) - rulerPixels) * this.ratio)
    return [Math.max(0, first), Math.min(this.height, last)]
  }

  private copyDown(line: Uint32Array, first: number, last: number): void {
    if (last <= first) return
    const { width, pixels } = this
    pixels.set(line, first * width)
    // Doubling: few large copies.
    let done = 1
    const total = last - first
    while (done < total) {
      const more = Math.min(done, total - done)
      pixels.copyWithin((first + done) * width, first * width, (first + more) * width)
      done += more
    }
  }

  band(scene: Scene, lane: Lane, pixel: number): void {
    const y = laneTop(scene, lane)
    const [first, last] = this.lines(scene, lane, y, y + lane.height)
    this.line.fill(pixel)
    this.copyDown(this.line, first, last)
  }

  // A row of slices at the canvas' height y.
  row(scene: Scene, lane: Lane, depth: number, pieces: Piece<SlicePart>[], palette: Palette): void {
    const y = rowTop(scene, lane, depth)
    const [first, last] = this.lines(scene, lane, y, y + slicePixels - 1)
    if (last <= first) return
    this.line.set(this.base)
    this.paintLine(scene, pieces, depth, palette, y)
    this.copyDown(this.line, first, last)
  }

  // The outermost slices of several tracks, one over the other: how busy they are together.
  strip(scene: Scene, lane: Lane, tracks: Piece<SlicePart>[][], background: number, palette: Palette): void {
    const y = laneTop(scene, lane) + 5
    const [first, last] = this.lines(scene, lane, y, y + lane.height - 10)
    if (last <= first) return
    this.line.fill(background)
    for (const pieces of tracks) this.paintLine(scene, pieces, 0, palette, null)
    this.copyDown(this.line, first, last)
  }

  private paintLine(scene: Scene, pieces: Piece<SlicePart>[], depth: number, palette: Palette, labelsAt: number | null): void {
    const { line, width, ratio } = this
    const { from, to } = scene.view
    const scale = width / (to - from)
    let labelled = NaN
    for (const piece of pieces) {
      const { data, rows } = piece.part
      const row = rows.find((one) => one.depth === depth)
      if (!row) continue
      const begin = Math.max(from, piece.from)
      const stop = Math.min(to, piece.to)
      const leftMost = Math.max(0, Math.round((begin - from) * scale))
      const rightMost = Math.min(width, Math.round((stop - from) * scale))
      const { starts, ends, colours, counts, slices } = data
      for (let i = firstAfter(data, row, begin); i < row.last; ++i) {
        const start = starts[i]!
        if (start >= stop) break
        const end = ends[i]!
        const exact = (end - start) * scale
        let x0 = Math.floor((start - from) * scale)
        let x1 = Math.max(x0 + 1, Math.round((end - from) * scale))
        const whole = x1 - x0
        if (whole >= gapFrom) --x1
        const shown = scene.hits === null || scene.hits.has(slices[i]!)
        const cover = !shown ? dimmed : exact >= 1 ? fullCover : Math.min(fullCover, Math.floor(exact * (fullCover + 1)))
        const byte = colours[i]!
        if (x0 < leftMost) x0 = leftMost
        if (x1 > rightMost) x1 = rightMost
        const pixel = palette.pixel(byte, cover)
        if (x1 - x0 === 1) line[x0] = pixel
        else if (x1 > x0) line.fill(pixel, x0, x1)
        if (labelsAt !== null && whole >= labelPixels * ratio && start !== labelled && counts[i] === 1) {
          labelled = start
          const left = Math.max(0, (start - from) * scale) / ratio
          const right = Math.min(width, (end - from) * scale) / ratio
          if (right - left >= labelPixels)
            this.labels.push({ x: headPixels + left, y: labelsAt, width: right - left, name: data.names[i]!, colour: byte, dim: !shown })
        }
      }
    }
  }

  // A curve: its range on each pixel, and what lies below it for the first of a lane.
  curve(scene: Scene, lane: Lane, pieces: Piece<CurvePart>[], low: number, high: number, until: number, line: number, below: number | null): void {
    const { width, ratio, lows, highs, pixels } = this
    const { from, to } = scene.view
    const scale = width / (to - from)
    lows.fill(NaN)
    for (const piece of pieces) {
      const { data, row } = piece.part
      const begin = Math.max(from, piece.from)
      const stop = Math.min(to, piece.to)
      let at = sampleAt(data, row, begin)
      let value = at >= row.first ? data.lasts[at]! : NaN
      let x = Math.max(0, Math.floor((begin - from) * scale))
      const lastX = Math.min(width, Math.ceil((stop - from) * scale))
      for (++at; at < row.last && data.times[at]! < stop; ++at) {
        const next = Math.min(width - 1, Math.floor((data.times[at]! - from) * scale))
        for (; x < next; ++x) hold(lows, highs, x, value, value)
        hold(lows, highs, next, Number.isNaN(value) ? data.lows[at]! : Math.min(value, data.lows[at]!), Number.isNaN(value) ? data.highs[at]! : Math.max(value, data.highs[at]!))
        value = data.lasts[at]!
        x = next
      }
      // After the last sample of all nothing is known.
      const end = Math.min(lastX, Math.floor((until - from) * scale) + 1)
      for (++x; x < end; ++x) hold(lows, highs, x, value, value)
    }
    const top = laneTop(scene, lane) + laneGap / 2
    const [first, last] = this.lines(scene, lane, top, top + curvePixels - laneGap)
    const span = high > low ? high - low : 1
    const zero = (top + curvePixels - laneGap - rulerPixels) * ratio
    const tall = (curvePixels - laneGap - 2) * ratio
    const thick = Math.max(1, Math.round(ratio))
    for (let x = 0; x < width; ++x) {
      const lowest = lows[x]!
      if (Number.isNaN(lowest)) continue
      const y0 = Math.round(zero - ((highs[x]! - low) / span) * tall) - thick
      const y1 = Math.max(y0 + thick, Math.round(zero - ((lowest - low) / span) * tall))
      for (let y = Math.max(first, y0); y < Math.min(last, y1); ++y) pixels[y * width + x] = line
      if (below !== null) for (let y = Math.max(first, y1); y < last; ++y) pixels[y * width + x] = below
    }
  }
}

function hold(lows: Float64Array, highs: Float64Array, x: number, low: number, high: number): void {
  if (Number.isNaN(low)) return
  if (Number.isNaN(lows[x]!)) {
    lows[x] = low
    highs[x] = high
  } else {
    lows[x] = Math.min(lows[x]!, low)
    highs[x] = Math.max(highs[x]!, high)
  }
}
