// Pools, curves and snapshots of memory.
import type { Cell } from '../../api'

type Row = Record<string, Cell>

export const poolKey = (row: Row): string => [row.device_kind, row.device, row.component].map((part) => String(part ?? '')).join('|')
export function poolName(row: Row): string {
  return [row.device_kind, Number(row.device) >= 0 ? row.device : '', row.component].filter((part) => part !== '' && part !== null).join(' ')
}

export interface Point {
  at: number // ns after the beginning of the run; of a plan, the position
  row: Row
}

// A plan has an order and no clock.
export const isPlan = (row: Row): boolean => row.source === 'plan'

export function points(rows: Row[], pool: Row, sinceStart: (ts: Cell) => number): Point[] {
  const key = poolKey(pool)
  return rows.filter((row) => poolKey(row) === key).map((row) => ({ at: isPlan(pool) || row.ts === null ? Number(row.position) : sinceStart(row.ts ?? null), row }))
}

// The part that was asked for in more detail replaces the coarse points there.
export function mergePoints(coarse: Point[], fine: Point[]): Point[] {
  const first = fine[0]?.at
  const last = fine[fine.length - 1]?.at
  if (first === undefined || last === undefined) return coarse
  return [...coarse.filter((point) => point.at < first), ...fine, ...coarse.filter((point) => point.at > last)]
}

// The last point at or before a place: memory keeps its size until the next event.
export function pointAt(list: Point[], at: number): Point | null {
  let low = 0
  let high = list.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((list[middle]?.at ?? 0) <= at) low = middle + 1
    else high = middle
  }
  return list[Math.max(0, low - 1)] ?? null
}

// The part of a curve that the address names, `from_to`.
export function readZoom(text: string, curve: Point[]): [number, number] | null {
  const [from, to] = text.split('_').map(Number)
  const first = curve[0]?.at
  const last = curve[curve.length - 1]?.at
  if (first === undefined || last === undefined || from === undefined || to === undefined) return null
  return from < to && to > first && from < last ? [from, to] : null
}

// What is said of a point: the size of its operator, what is allocated then, how that changed, and the rest. A single
// allocation or release has no size beside its change.
export function pointSizes(row: Row, capacity: Cell | undefined): { key: string; bytes: number }[] {
  const known = (cell: Cell | undefined) => cell !== null && cell !== undefined
  const out: { key: string; bytes: number }[] = []
  for (const [key, column] of [['size', 'operator_bytes'], ['allocated', 'allocated_bytes'], ['change', 'change_bytes'], ['reserved', 'reserved_bytes']] as const) if (known(row[column])) out.push({ key, bytes: Number(row[column]) })
  if (known(capacity) && known(row.allocated_bytes)) out.push({ key: 'available', bytes: Number(capacity) - Number(row.allocated_bytes) })
  return out
}

export interface OwnerChange {
  name: string
  category: string
  before: number
  after: number
}

// Two moments beside each other, by operator and category; the largest change first.
export function compareOwners(before: Row[], after: Row[]): OwnerChange[] {
  const sums = new Map<string, OwnerChange>()
  const add = (rows: Row[], side: 'before' | 'after') => {
    for (const row of rows) {
      const key = `${row.name}\n${row.category}`
      const one = sums.get(key) ?? { name: String(row.name ?? ''), category: String(row.category ?? ''), before: 0, after: 0 }
      one[side] += Number(row.bytes ?? 0)
      sums.set(key, one)
    }
  }
  add(before, 'before')
  add(after, 'after')
  return [...sums.values()].sort((a, b) => Math.abs(b.after - b.before) - Math.abs(a.after - a.before))
}
