// Where operators run, as tabs: each has the categories of the tables that belong to it.
import type { Cell } from '../../api'
import { largest, type NamedShare } from '../../components/parts'

export const tabNames = ['aicore', 'aicpu', 'kernels', 'communication', 'hostcpu', 'host'] as const
export type OperatorTab = (typeof tabNames)[number]

// Categories are the sources' own words: AI_CORE, AI_VECTOR_CORE, MIX_AIC, DSA_SQE, CUDA, HCCL ...
export function tabOf(category: string): OperatorTab {
  if (category === 'HOST') return 'host'
  if (category === 'HOST_CPU') return 'hostcpu'
  if (/^AI_?CPU/.test(category)) return 'aicpu'
  if (/^(HCCL|COMMUNICATION|HCOM)/.test(category)) return 'communication'
  if (/^(AI_CORE|AI_VECTOR_CORE|AIC|AIV|MIX|DSA|FFTS)/.test(category)) return 'aicore'
  return 'kernels'
}

// Tabs that this run has something for, devices before the host: there the time of a step is made.
export function typeTabs(rows: Record<string, Cell>[]): OperatorTab[] {
  const there = new Set(rows.map((row) => tabOf(String(row.category))))
  return tabNames.filter((name) => there.has(name))
}

export const inTab = (tab: OperatorTab) => (row: Record<string, Cell>) => tabOf(String(row.category)) === tab

// The same type on several ranks, or in several categories of a tab, is one.
export function typesOf(rows: Record<string, Cell>[], tab: OperatorTab, most: number): NamedShare[] {
  return largest(rows.filter(inTab(tab)).map((row) => [String(row.type), Number(row.self_ns ?? row.total_ns ?? 0)]), most)
}
