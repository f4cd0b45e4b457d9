// A result table of the analyses for the chosen rank and step, as objects, with how loading it went.
import { computed, type ComputedRef, type Ref } from 'vue'

import { api, records, type Cell, type ResultTable, type TableQuery } from '../api'
import { serverSentence } from '../locale/serverTexts'
import { useRun } from '../runState'
import { useLoad } from './useLoad'

export type Row = Record<string, Cell>

export interface TableSource {
  table: Ref<ResultTable | null>
  rows: ComputedRef<Row[]>
  why: ComputedRef<string> // why it is empty or incomplete
  loading: Ref<boolean>
  error: Ref<Error | null>
  reload: () => void
}

export interface TableOptions {
  // chosen: the rank of the address, or all; shown: one rank, the first without a choice
  rank?: 'chosen' | 'shown' | 'all'
  step?: boolean // only the chosen step
  sort?: string
  limit?: number
  more?: () => TableQuery | null // further values of the query; null: do not ask yet
}

export function useTable(name: string | (() => string), options: TableOptions = {}): TableSource {
  const { run, rank, shownRank, step } = useRun()
  const tableName = () => (typeof name === 'string' ? name : name())
  const query = computed<TableQuery | null>(() => {
    const more = options.more ? options.more() : {}
    if (more === null) return null
    const wanted = options.rank === 'all' ? undefined : options.rank === 'shown' ? shownRank.value : rank.value ?? undefined
    return { rank: wanted, step: options.step ? step.value ?? undefined : undefined, sort: options.sort, limit: options.limit ?? 20000, ...more }
  })
  const loaded = useLoad<ResultTable | null>([run, () => JSON.stringify(query.value), tableName], (signal) =>
    query.value === null ? Promise.resolve(null) : api.analysis(run.value, tableName(), query.value, signal))
  return {
    table: loaded.data,
    rows: computed(() => (loaded.data.value ? records(loaded.data.value) : [])),
    why: computed(() => (loaded.data.value?.reasons ?? []).map(serverSentence).join('; ')),
    loading: computed(() => loaded.loading.value && !loaded.data.value),
    error: loaded.error,
    reload: loaded.reload,
  }
}

export const number = (cell: Cell | undefined): number => Number(cell ?? 0)
export const known = (cell: Cell | undefined): boolean => cell !== null && cell !== undefined && cell !== ''
