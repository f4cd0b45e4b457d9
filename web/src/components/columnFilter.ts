// What somebody wants to see of one column: of texts words or an /expression/, of numbers a comparison, in the units
// that the column is shown in: > 1 ms, <= 5 %, 2..8, 3.
import type { Cell, ColumnInfo } from '../api'

const factors: Record<string, Record<string, number>> = {
  ns: { ns: 1, us: 1e3, µs: 1e3, ms: 1e6, s: 1e9 },
  bytes: { b: 1, kib: 2 ** 10, mib: 2 ** 20, gib: 2 ** 30, tib: 2 ** 40, kb: 1e3, mb: 1e6, gb: 1e9 },
  share: { '%': 0.01 },
  flops: { k: 1e3, m: 1e6, g: 1e9, t: 1e12, p: 1e15 },
}

function readNumber(text: string, unit: string): number | null {
  const [, digits, word] = /^\s*(-?\d*\.?\d+(?:e[+-]?\d+)?)\s*([a-zµμ%/]*)\s*$/i.exec(text) ?? []
  if (digits === undefined || word === undefined) return null
  if (!word) return Number(digits)
  const isRate = /flops|per_second/.test(unit)
  const known = isRate ? factors.flops : factors[unit]
  const factor = known?.[(isRate ? word.slice(0, 1) : word).toLowerCase().replace('μ', 'µ')]
  return factor === undefined ? null : Number(digits) * factor
}

function numbersThat(text: string, unit: string): ((value: number) => boolean) | null {
  const [, low, high] = /^(.+?)\.\.(.+)$/.exec(text) ?? []
  if (low !== undefined && high !== undefined) {
    const to = readNumber(high, unit)
    // 2..8 ms: the unit is that of both.
    const from = readNumber(/[a-zµμ%]\s*$/i.test(low) ? low : low + (/[a-zµμ%/]+\s*$/i.exec(high)?.[0] ?? ''), unit)
    return from === null || to === null ? null : (value) => value >= from && value <= to
  }
  const [, sign, rest] = /^(<=|>=|<|>|=)?(.*)$/.exec(text) ?? []
  const limit = readNumber(rest ?? '', unit)
  if (limit === null) return null
  switch (sign) {
    case '<': return (value) => value < limit
    case '<=': return (value) => value <= limit
    case '>': return (value) => value > limit
    case '>=': return (value) => value >= limit
    default: return (value) => value === limit
  }
}

function textsThat(text: string): ((value: string) => boolean) | null {
  const [, pattern] = /^\/(.+)\/$/.exec(text) ?? []
  if (pattern === undefined) {
    const words = text.toLowerCase().split(/\s+/)
    return (value) => words.every((word) => value.toLowerCase().includes(word))
  }
  try {
    const expression = new RegExp(pattern, 'i')
    return (value) => expression.test(value)
  } catch {
    return null
  }
}

// Null where the text says nothing that the column could be asked for.
export function cellsThat(text: string, column: ColumnInfo): ((cell: Cell) => boolean) | null {
  const wanted = text.trim()
  if (column.kind === 'integer' || column.kind === 'float') {
    const fits = numbersThat(wanted, column.unit)
    return fits && ((cell) => cell !== null && fits(Number(cell)))
  }
  const fits = textsThat(wanted)
  return fits && ((cell) => cell !== null && fits(column.kind === 'bool' ? (cell ? 'yes true 是' : 'no false 否') : String(cell)))
}

// Moments are shown from the beginning of the run, and sorted rather than asked for.
export const canFilter = (column: ColumnInfo): boolean => column.unit !== 'unix_ns'

export function filterRows(rows: Cell[][], columns: ColumnInfo[], filters: Map<string, string>): Cell[][] {
  const wanted = columns.flatMap((column, i) => {
    const fits = filters.get(column.name) ? cellsThat(filters.get(column.name)!, column) : null
    return fits ? [{ i, fits }] : []
  })
  return wanted.length ? rows.filter((row) => wanted.every(({ i, fits }) => fits(row[i] ?? null))) : rows
}
