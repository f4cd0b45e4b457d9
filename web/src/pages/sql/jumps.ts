// Where the rows of a result lead in the timeline. A column says so only where it is certain what it holds: `slice` is
// the id of a slice in every table, `id` only in those whose rows are slices.
import type { Cell } from '../../api'
import type { Place } from '../../runState'

const sliceTables = new Set(['slices', 'kernels', 'ops', 'communications'])

// Whether every row of the statement is a row of slices, or of the tables that describe some of them.
export function idsAreSlices(sql: string): boolean {
  const plain = sql.replace(/--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'/g, ' ').toLowerCase()
  if (/\bas\s+"?id\b/.test(plain)) return false // a name that the statement gave
  const sources = [...plain.matchAll(/\b(?:from|join)\s+([^\s;)]*)/g)].map((match) => match[1]?.replace(/^main\./, '') ?? '')
  const list = /\bfrom\s+\w+(?:\s+(?:as\s+)?\w+)?\s*,/.test(plain) // from a, b
  return sources.length > 0 && !list && sources.every((name) => sliceTables.has(name))
}

const isWhole = (cell: Cell | undefined): boolean => /^-?\d{1,19}$/.test(String(cell ?? ''))

export interface Jumps {
  possible: boolean
  placeOf: (row: Cell[]) => Place | null
}

// A row with an own slice leads there, one with a time (`ts`, unix ns, and `dur`) to that time.
export function jumpsOf(sql: string, columns: string[]): Jumps {
  const at = (name: string) => columns.indexOf(name)
  const slice = idsAreSlices(sql) && at('id') >= 0 ? at('id') : at('slice')
  const ts = at('ts')
  return {
    possible: slice >= 0 || ts >= 0,
    placeOf: (row) => {
      const value = (name: string) => row[at(name)] ?? null
      const own = row[slice]
      if (isWhole(own)) return { slice: own ?? null, rank: value('rank') }
      if (!isWhole(row[ts])) return null
      const start = BigInt(String(row[ts]))
      const dur = Number(value('dur') ?? 0)
      return { rank: value('rank'), step: value('step'), start: String(start), end: String(start + BigInt(Number.isFinite(dur) && dur >= 1 ? Math.round(dur) : 1000)) }
    },
  }
}
