// What people type when they want steps recorded, as the server takes it.
import type { CaptureWish } from '../api'

export interface CaptureFields {
  mode: 'next' | 'steps'
  next: string
  steps: string // 10-12
  level: string // '' is the profiler's default
  withStack: boolean
  ranks: string // 0,4-7; '' is all
}

const mostRanks = 10_000
const mostNext = 1_000_000

// "0,4-7" as numbers; null where it is none.
export function parseNumbers(text: string): number[] | null {
  const numbers: number[] = []
  for (const part of text.split(',').map((one) => one.trim())) {
    const found = /^(\d{1,15})(?:\s*-\s*(\d{1,15}))?$/.exec(part)
    if (!found) return null
    const [first, last] = [Number(found[1]), Number(found[2] ?? found[1])]
    if (last < first || numbers.length + last - first >= mostRanks) return null
    for (let number = first; number <= last; ++number) numbers.push(number)
  }
  return numbers
}

// "10-12" or "10"; null where it is neither.
export function parseSteps(text: string): [number, number] | null {
  const found = /^\s*(\d{1,15})(?:\s*[-–]\s*(\d{1,15}))?\s*$/.exec(text)
  if (!found) return null
  const [first, last] = [Number(found[1]), Number(found[2] ?? found[1])]
  return first >= 1 && last >= first ? [first, last] : null
}

// The name of the field that cannot be understood, or what to send.
export function wishOf(fields: CaptureFields): CaptureWish | 'next' | 'steps' | 'ranks' {
  const wish: CaptureWish = { with_stack: fields.withStack }
  if (fields.mode === 'next') {
    const next = Number(fields.next)
    if (!Number.isInteger(next) || next < 1 || next > mostNext) return 'next'
    wish.next = next
  } else {
    const steps = parseSteps(fields.steps)
    if (!steps) return 'steps'
    wish.steps = steps
  }
  if (fields.ranks.trim()) {
    const ranks = parseNumbers(fields.ranks)
    if (!ranks) return 'ranks'
    wish.ranks = ranks
  }
  if (fields.level !== '') wish.level = Number(fields.level)
  return wish
}
