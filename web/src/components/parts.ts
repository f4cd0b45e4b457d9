// What a step is made of, in two ways: by what the device does and why it stands still (step_budget), and
// by stages (step_trace). One place for their order, names and colours.
import type { Cell } from '../api'

export interface Part {
  key: string // column of the table
  label: string // key of the text
  colour: string // name of the variable
}

export const budgetParts: Part[] = [
  { key: 'compute_ns', label: 'part.compute', colour: 'computing' },
  { key: 'exposed_communication_ns', label: 'part.exposed_communication', colour: 'comm' },
  { key: 'exposed_copy_ns', label: 'part.exposed_copy', colour: 'memory' },
  { key: 'input_ns', label: 'part.input', colour: 'data' },
  { key: 'sync_ns', label: 'part.sync', colour: 'bad' },
  { key: 'gc_ns', label: 'part.gc', colour: 'ai-cpu' },
  { key: 'queued_ns', label: 'part.queued', colour: 'interval' },
  { key: 'host_ns', label: 'part.host', colour: 'host' },
  { key: 'other_ns', label: 'part.other', colour: 'free' },
]

// Without a device the same columns are about the operators on the host.
const hostLabels: Record<string, string> = { compute_ns: 'part.operators', host_ns: 'part.between' }
export function budgetPartsOf(rows: Record<string, Cell>[]): Part[] {
  if (!rows.every((row) => Number(row.device) < 0)) return budgetParts
  return budgetParts.map((part) => ({ ...part, label: hostLabels[part.key] ?? part.label }))
}

// Rows that a mean is made of: of a chosen step all, else those that the server says.
export function averagedRows(rows: Record<string, Cell>[], step: number | null): Record<string, Cell>[] {
  return step === null ? rows.filter((row) => row.averaged === true) : rows
}

// How many steps the rows are of: a step of two devices has two of them, and windows have steps of the same number.
export interface StepCounts {
  steps: number
  windows: number
  devices: number // where a rank has several, else 0
}
export function countSteps(rows: Record<string, Cell>[]): StepCounts {
  const different = (key: (row: Record<string, Cell>) => string) => new Set(rows.map(key)).size
  const devices = different((row) => `${row.rank} ${row.device}`)
  return {
    steps: different((row) => `${row.window} ${row.step}`),
    windows: different((row) => String(row.window)),
    devices: devices > different((row) => String(row.rank)) ? devices : 0,
  }
}

// Mean time before a step that no step has (the table steps); null when it is less than 2 % of the time.
export function timeBetween(steps: Record<string, Cell>[]): number | null {
  const known = steps.filter((row) => typeof row.between_ns === 'number')
  const sum = (key: string) => known.reduce((total, row) => total + Number(row[key]), 0)
  const between = sum('between_ns')
  return between > 0 && between >= 0.02 * (between + sum('work_dur_ns')) ? between / known.length : null
}

export const stages: Part[] = [
  { key: 'iteration_interval_ns', label: 'part.interval', colour: 'interval' },
  { key: 'fp_and_bp_ns', label: 'part.fp_bp', colour: 'computing' },
  { key: 'tail_ns', label: 'part.tail', colour: 'comm' },
]

// Findings whose title is the share of a part.
export const saysPart: Record<string, string> = { slow_input: 'input_ns', exposed_communication: 'exposed_communication_ns', between_operators: 'host_ns' }

export interface Share extends Part {
  value: number
  share: number
}

const leastShare = 0.0005 // less is shown as 0.0 %
// Means of the parts over rows; those that nobody would see are left out.
export function meanParts(rows: Record<string, Cell>[], parts: Part[], totalKey: string): { total: number; list: Share[] } | null {
  if (!rows.length) return null
  const mean = (key: string) => rows.reduce((sum, row) => sum + Number(row[key] ?? 0), 0) / rows.length
  const total = mean(totalKey)
  const list = parts.map((part) => ({ ...part, value: mean(part.key), share: mean(part.key) / (total || 1) }))
  return { total, list: list.filter((part) => part.share >= leastShare) }
}

export interface NamedShare {
  name: string
  value: number
  share: number
}

// The largest of what is summed up by name, the rest as one with an empty name.
export function largest(pairs: Iterable<[string, number]>, most: number): NamedShare[] {
  const sums = new Map<string, number>()
  let total = 0
  for (const [name, value] of pairs) {
    if (!(value > 0)) continue
    sums.set(name, (sums.get(name) ?? 0) + value)
    total += value
  }
  const all = [...sums.entries()].sort((a, b) => b[1] - a[1])
  const list = all.slice(0, most).map(([name, value]) => ({ name, value, share: value / total }))
  const rest = all.slice(most).reduce((sum, [, value]) => sum + value, 0)
  return rest > 0 ? [...list, { name: '', value: rest, share: rest / total }] : list
}
