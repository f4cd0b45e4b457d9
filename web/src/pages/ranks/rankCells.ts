// Steps of all ranks as cells of a map.
import type { Cell } from '../../api'

type Row = Record<string, Cell>

// Own time leaves out communication: waiting for others makes the lengths of steps alike.
export const measures = ['own', 'step', 'communication', 'idle'] as const
export type Measure = (typeof measures)[number]

function valueOf(row: Row, measure: Measure): number {
  const step = Number(row.step_ns ?? 0)
  const communication = Number(row.exposed_communication_ns ?? 0)
  return { own: step - communication, step, communication, idle: Number(row.idle_ns ?? 0) }[measure]
}

// Of several devices of a rank the slowest counts.
export function heatCells(rows: Row[], measure: Measure) {
  const ranks = [...new Set(rows.map((row) => Number(row.rank)))].sort((a, b) => a - b)
  const steps = [...new Set(rows.map((row) => Number(row.step)))].sort((a, b) => a - b)
  const rankAt = new Map(ranks.map((rank, i) => [rank, i]))
  const stepAt = new Map(steps.map((step, i) => [step, i]))
  const cells = new Map<string, { x: number; y: number; value: number }>()
  for (const row of rows) {
    const x = stepAt.get(Number(row.step)) ?? 0
    const y = rankAt.get(Number(row.rank)) ?? 0
    const value = valueOf(row, measure)
    const before = cells.get(`${x} ${y}`)
    if (!before || value > before.value) cells.set(`${x} ${y}`, { x, y, value })
  }
  return { ranks, steps, cells: [...cells.values()] }
}
