// What somebody wants to see of one column: of texts words or an /expression/, of numbers a comparison, in the units
// that the column is shown in: > 1 ms, <= 5 %, 2..8, 3.
import type { Cell, ColumnInfo } from '../api'
import { isNumber } from './tableRows'

const times: Record<string, number> = { ns: 1, us: 1e3, µs: 1e3, ms: 1e6, s: 1e9 }
const prefixes = ['', 'k', 'm', 'g', 't', 'p']
// What is counted, behind a prefix: MB and MiB, TFLOP/s, TFLOPS. Rates and operations also by the prefix alone.
const counted: Record<string, RegExp> = { bytes: /^b$/, bytes_per_second: /^(b\/s)?$/, flops: /^(flops?)?$/, flops_per_second: /^(flop\/s|flops|flops\/s)?$/ }

// How many of the column's unit a word stands for; null where it is one of another kind.
function factorOf(word: string, unit: string): number | null {
  const small = word.toLowerCase().replace('μ', 'µ')
  if (unit === 'ns') return times[small] ?? null
  if (unit === 'share') return small === '%' ? 0.01 : null
  const [, prefix = '', binary = '', base = ''] = /^([kmgtp]?)(i?)(.*)$/.exec(small) ?? []
  const power = prefixes.indexOf(prefix)
  if (!counted[unit]?.test(base) || (binary && (power === 0 || !base.startsWith('b')))) return null
  return binary ? 1024 ** power : 1000 ** power
}

function readNumber(text: string, unit: string): number | null {
  const plain = text.replace(/(?<=\d)\s(?=\d{3}(?!\d))/g, '').replace('\u2212', '-') // 12 345 and −3, as they are shown
  const [, digits, word] = /^\s*(-?\d*\.?\d+(?:e[+-]?\d+)?)\s*([a-zµμ%/]*)\s*$/i.exec(plain) ?? []
  if (digits === undefined || word === undefined) return null
  const factor = word ? factorOf(word, unit) : 1
  return factor === null ? null : Number(digits) * factor
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
  if (isNumber(column)) {
    const fits = numbersThat(wanted, column.unit)
    return fits && ((cell) => cell !== null && fits(Number(cell)))
  }
  const fits = textsThat(wanted)
  return fits && ((cell) => cell !== null && fits(column.kind === 'bool' ? (cell ? 'yes true 是' : 'no false 否') : String(cell)))
}

// Moments are shown from the beginning of the run, and sorted rather than asked for.
export const canFilter = (column: ColumnInfo): boolean => column.unit !== 'unix_ns'

// Blanks ask for nothing.
export const isWrong = (text: string, column: ColumnInfo): boolean => text.trim() !== '' && cellsThat(text, column) === null

export interface ActiveFilter {
  i: number // of its column
  fits: (cell: Cell) => boolean
}
// The filters that do something: what is not understood filters nothing.
export function activeFilters(columns: ColumnInfo[], filters: Map<string, string>): ActiveFilter[] {
  return columns.flatMap((column, i) => {
    const text = filters.get(column.name) ?? ''
    const fits = text.trim() && canFilter(column) ? cellsThat(text, column) : null
    return fits ? [{ i, fits }] : []
  })
}

export function filterRows(rows: Cell[][], active: ActiveFilter[]): Cell[][] {
  return active.length ? rows.filter((row) => active.every(({ i, fits }) => fits(row[i] ?? null))) : rows
}
