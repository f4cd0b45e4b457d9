// A result table of the analyses for the chosen rank and step, as objects, with how loading it went.
import { computed, type ComputedRef, type Ref } from 'vue'

import { api, type Cell, type ResultTable, type TableQuery } from '../api'
import { count } from '../format'
import { t } from '../locale'
import { reasonTexts } from '../locale/serverTexts'
import { records } from '../records'
import { useRun } from '../runState'
import { useLoad } from './useLoad'

export type Row = Record<string, Cell>

export const mostRows = 100_000 // that the server sends at once
const tableRows = 20_000 // that a table of a page loads

export interface TableSource {
  table: Ref<ResultTable | null>
  rows: ComputedRef<Row[]>
  why: ComputedRef<string> // why it is empty or incomplete
  cut: ComputedRef<string> // part of `why`: that not all rows are here
  loading: Ref<boolean> // and nothing to show yet
  current: Ref<boolean> // what is here answers the present query
  error: Ref<Error | null>
  reload: () => void
}

export interface TableOptions {
  // chosen: the rank of the address, or all; shown: one rank, the first without a choice
  rank?: 'chosen' | 'shown' | 'all'
  step?: boolean // only the chosen step
  sort?: string
  limit?: number // mostRows where figures are made of the rows
  more?: () => TableQuery | null // further values of the query; null: do not ask yet
}

export function useTable(name: string | (() => string), options: TableOptions = {}): TableSource {
  const { run, rank, shownRank, step } = useRun()
  const tableName = () => (typeof name === 'string' ? name : name())
  const query = computed<TableQuery | null>(() => {
    const more = options.more ? options.more() : {}
    if (more === null) return null
    const wanted = options.rank === 'all' ? undefined : options.rank === 'shown' ? shownRank.value : rank.value ?? undefined
    return { rank: wanted, step: options.step ? step.value ?? undefined : undefined, sort: options.sort, limit: options.limit ?? tableRows, ...more }
  })
  const loaded = useLoad<ResultTable | null>([run, () => JSON.stringify(query.value), tableName], (signal) =>
    query.value === null ? Promise.resolve(null) : api.analysis(run.value, tableName(), query.value, signal))
  const cut = computed(() => {
    const { rows, total } = loaded.data.value ?? { rows: [], total: 0 }
    return rows.length < total ? t('table.cut', { shown: count(rows.length), n: count(total) }) : ''
  })
  return {
    table: loaded.data,
    rows: computed(() => (loaded.data.value ? records(loaded.data.value) : [])),
    why: computed(() => [...reasonTexts(loaded.data.value?.reasons ?? []), cut.value].filter(Boolean).join('; ')),
    cut,
    loading: computed(() => loaded.loading.value && !loaded.data.value),
    current: computed(() => !loaded.loading.value && !loaded.error.value),
    error: loaded.error,
    reload: loaded.reload,
  }
}

export const number = (cell: Cell | undefined): number => Number(cell ?? 0)
export const known = (cell: Cell | undefined): boolean => cell !== null && cell !== undefined && cell !== ''
