// The drawing of a step: stages on one line, collectives on a line for each stream, as parts of the step.
import type { Cell } from '../../api'

type Row = Record<string, Cell>

export interface Box {
  label: string // key of a text, or a name
  colour: string
  start: number // ns after the beginning of the step
  length: number
  left: number // shares of the whole drawing
  width: number
}

export interface Line {
  name: string
  boxes: Box[]
}

// Forward and backward apart where the point between them is known.
export function stageBoxes(row: Row): Box[] {
  const whole = Number(row.dur_ns ?? 0)
  if (!(whole > 0) || row.fp_and_bp_ns === null) return []
  const interval = Number(row.iteration_interval_ns ?? 0)
  const both = Number(row.fp_and_bp_ns)
  const forward = row.fp_ns === null || row.fp_ns === undefined ? null : Number(row.fp_ns)
  const pieces: [string, string, number][] = [['part.interval', 'interval', interval]]
  if (forward === null) pieces.push(['part.fp_bp', 'computing', both])
  else pieces.push(['steps.forward', 'computing', forward], ['steps.backward', 'memory', both - forward])
  pieces.push(['part.tail', 'comm', Number(row.tail_ns ?? 0)])
  let at = 0
  return pieces.map(([label, colour, length]) => {
    const box = { label, colour, start: at, length, left: at / whole, width: length / whole }
    at += length
    return box
  })
}

const letter = 7 // pixels, more or less
// What a box of so many pixels has room for: its name and its length, its name alone, or nothing.
export function boxTexts(name: string, length: string, pixels: number, cut: (name: string, most: number) => string): string[] {
  const most = Math.floor((pixels - 8) / letter)
  if (most < 5) return []
  const beside = most - length.length - 2
  return beside >= Math.min(name.length, 8) ? [cut(name, beside), length] : [cut(name, most)]
}

// What reaches beyond the step is cut where it ends.
export function reduceLines(rows: Row[], whole: number): Line[] {
  const lines = new Map<string, Box[]>() // by stream, '' where there is none
  for (const row of rows) {
    const start = Number(row.offset_ns)
    const length = Number(row.dur_ns)
    if (!(whole > 0) || start >= whole || start + length <= 0) continue
    const from = Math.max(0, start)
    const stream = String(row.stream ?? '')
    const boxes = lines.get(stream) ?? []
    boxes.push({ label: String(row.name), colour: 'comm-overlapped', start, length, left: from / whole, width: (Math.min(whole, start + length) - from) / whole })
    lines.set(stream, boxes)
  }
  return [...lines.entries()].sort((a, b) => Number(a[0]) - Number(b[0])).map(([name, boxes]) => ({ name, boxes }))
}
