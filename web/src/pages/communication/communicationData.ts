// Waiting against moving data, and links as a matrix.
import type { Cell } from '../../api'

type Row = Record<string, Cell>

export interface Split {
  moving: number
  waiting: number
  other: number
}

// Where transfers were recorded: time in which any plane moves data, and in which all only wait. Else what
// the shortest rank needed is moving, and the rest waiting for ranks that came later.
export function splitOf(row: Row): Split | null {
  const elapse = Number(row.elapse_ns ?? 0)
  if (!(elapse > 0)) return null
  const moving = Number(row.moving_ns ?? 0)
  const blocked = Number(row.blocked_ns ?? 0)
  if (moving + blocked > 0) return { moving, waiting: blocked, other: Math.max(0, elapse - moving - blocked) }
  if (row.peer_wait_ns === null || row.peer_wait_ns === undefined) return { moving: 0, waiting: 0, other: elapse }
  const waiting = Number(row.peer_wait_ns)
  return { moving: Math.max(0, elapse - waiting), waiting, other: 0 }
}

export function sumSplits(rows: Row[]): Split {
  const sum = { moving: 0, waiting: 0, other: 0 }
  for (const row of rows) {
    const split = splitOf(row)
    if (!split) continue
    sum.moving += split.moving
    sum.waiting += split.waiting
    sum.other += split.other
  }
  return sum
}

export interface Matrix {
  sources: number[]
  targets: number[]
  cells: { x: number; y: number; value: number; row: Row }[]
}

const sum = (rows: Row[], key: string) => rows.reduce((total, row) => total + Number(row[key] ?? 0), 0)

// The transports of one pair as one row.
function pairOf(rows: [Row, ...Row[]]): Row {
  const [first] = rows
  if (rows.length === 1) return first
  const time_ns = sum(rows, 'time_ns')
  const bytes = sum(rows, 'bytes')
  const transport = [...new Set(rows.map((row) => String(row.transport)))].join(' + ')
  return { ...first, transport, bytes, time_ns, packets: sum(rows, 'packets'), bandwidth: time_ns > 0 ? (bytes / time_ns) * 1e9 : null, slow: rows.some((row) => row.slow === true) }
}

// One kind of link between ranks; several transports of a pair are added, rates weighted by time.
export function matrixOf(rows: Row[], link: string, measure: 'bandwidth' | 'bytes' | 'time_ns'): Matrix {
  const own = rows.filter((row) => String(row.link) === link)
  const numbers = (key: string) => [...new Set(own.map((row) => Number(row[key])))].sort((a, b) => a - b)
  const sources = numbers('src_rank')
  const targets = numbers('dst_rank')
  const pairs = new Map<string, Row[]>()
  for (const row of own) {
    const key = `${row.src_rank} ${row.dst_rank}`
    pairs.set(key, [...(pairs.get(key) ?? []), row])
  }
  const cells = [...pairs.values()].map((list) => {
    const row = pairOf(list as [Row, ...Row[]])
    const time = Number(row.time_ns ?? 0)
    const value = measure !== 'bandwidth' ? Number(row[measure] ?? 0) : time > 0 ? (Number(row.bytes ?? 0) / time) * 1e9 : Number(row.bandwidth ?? 0)
    return { x: targets.indexOf(Number(row.dst_rank)), y: sources.indexOf(Number(row.src_rank)), value, row }
  })
  return { sources, targets, cells }
}

// Links between different ranks before those inside of one.
export function linkKinds(rows: Row[]): string[] {
  const between = new Map<string, boolean>()
  for (const row of rows) between.set(String(row.link), (between.get(String(row.link)) ?? false) || row.src_rank !== row.dst_rank)
  return [...between].sort((a, b) => Number(b[1]) - Number(a[1])).map(([name]) => name)
}
