// Roofs and points of a roofline chart, from rates and the shares of the peaks that they reach.
import type { Cell } from '../../api'

type Row = Record<string, Cell>

export interface Roofs {
  memory: number | null // bytes a second
  compute: { name: string; peak: number }[] // FLOP/s by data type, highest first
}

// A peak is a rate over its utilisation; the row with the best utilisation gives the most exact one.
export function roofsOf(rows: Row[]): Roofs {
  let memory: { peak: number; used: number } | null = null
  const compute = new Map<string, { peak: number; used: number }>()
  for (const row of rows) {
    const memoryUsed = Number(row.memory_utilisation ?? 0)
    if (memoryUsed > (memory?.used ?? 0)) memory = { peak: Number(row.bytes_per_second) / memoryUsed, used: memoryUsed }
    const used = Number(row.utilisation ?? 0)
    const rate = Number(row.flops_per_second ?? 0)
    if (!(used > 0) || !(rate > 0)) continue
    const matrix = ['matmul', 'convolution', 'attention', 'cube'].includes(String(row.kind))
    const name = matrix ? String(row.data_type) : 'vector'
    if (used > (compute.get(name)?.used ?? 0)) compute.set(name, { peak: rate / used, used })
  }
  return { memory: memory?.peak ?? null, compute: [...compute].map(([name, one]) => ({ name, peak: one.peak })).sort((a, b) => b.peak - a.peak) }
}

// The roof between two intensities: rising with the memory's bandwidth, flat from the ridge on.
export function roofLine(memory: number, peak: number, from: number, to: number): [number, number][] {
  const ridge = peak / memory
  const at = (intensity: number): [number, number] => [intensity, Math.min(peak, intensity * memory)]
  return [from, ...(ridge > from && ridge < to ? [ridge] : []), to].map(at)
}

export function pointsOf(rows: Row[]): { row: Row; x: number; y: number; time: number }[] {
  return rows.map((row) => ({ row, x: Number(row.intensity ?? 0), y: Number(row.flops_per_second ?? 0), time: Number(row.time_ns ?? 0) })).filter((point) => point.x > 0 && point.y > 0)
}
