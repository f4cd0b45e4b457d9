// Times on the ruler. Digits follow the distance of the marks: two that differ never read the same. Where that would
// take too many, all are told as what comes on top of one base time ("1800.000 s" and "+10 µs").
import { niceStep, type View } from './viewport'

const markPixels = 110 // at least, from one to the next
const mostMarks = 200
const mostDigits = 7

export interface Ruler {
  base: string // '' where the texts say everything
  marks: { time: number; text: string }[]
}

const units: [string, number][] = [['s', 1e9], ['ms', 1e6], ['µs', 1e3], ['ns', 1]]

// A time that is a multiple of `step`, as exactly as that.
export function timeText(ns: number, step: number): string {
  const rounded = Math.round(ns)
  if (rounded === 0) return '0'
  const [unit, size] = units.find((one) => Math.abs(rounded) >= one[1]) ?? ['ns', 1]
  const decimals = Math.max(0, Math.ceil(Math.log10(size / step) - 1e-9))
  return `${(rounded / size).toFixed(decimals)} ${unit}`
}

export function makeRuler(view: View, width: number): Ruler {
  const span = view.to - view.from
  const step = niceStep(span, width / markPixels)
  const times: number[] = []
  for (let at = Math.ceil(view.from / step); at * step <= view.to && times.length < mostMarks; ++at) times.push(at * step)
  if (Math.max(Math.abs(view.from), Math.abs(view.to)) / step < 10 ** mostDigits) return { base: '', marks: times.map((time) => ({ time, text: timeText(time, step) })) }
  const whole = [1e3, 1e6, 1e9].find((size) => size >= span) ?? 1e9
  const base = Math.floor(view.from / whole) * whole
  return { base: timeText(base, whole), marks: times.map((time) => ({ time, text: `+${timeText(time - base, step)}` })) }
}
