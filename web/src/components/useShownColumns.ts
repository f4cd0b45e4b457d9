// The columns of a table that show: those that say something, but for those that were added or taken away. One that is
// filtered shows in any case: rows must not be missing because of something that nobody sees.
import { computed, type Ref } from 'vue'

import type { Cell, ColumnInfo } from '../api'
import { canFilter } from './columnFilter'

export interface ShownTable {
  columns: ColumnInfo[]
  rows: Cell[][]
  show?: string[] // at first, in this order; all without it
}
interface State {
  toggled: Ref<Set<string>>
  filters: Ref<Map<string, string>>
  toggle: (column: string) => unknown
  filter: (column: string, wanted: string) => void
}

export function useShownColumns(table: Readonly<ShownTable>, { toggled, filters, toggle, filter }: State) {
  // A run with one recording window has nothing to tell them apart by; nor has an empty column.
  const usual = computed(() => {
    const tells = (column: ColumnInfo, i: number) =>
      column.name === 'window' ? table.rows.some((row) => row[i] !== 0) : table.rows.some((row) => row[i] !== null && row[i] !== '')
    const there = table.columns.filter(tells).map((column) => column.name)
    return table.show ? table.show.filter((name) => there.includes(name)) : there
  })
  const filtered = computed(() => new Set(table.columns.filter((column) => filters.value.has(column.name) && canFilter(column)).map((column) => column.name)))
  const isChosen = (name: string) => usual.value.includes(name) !== toggled.value.has(name)
  const names = computed(() => {
    const others = table.columns.map((column) => column.name).filter((name) => !usual.value.includes(name))
    return [...usual.value, ...others].filter((name) => isChosen(name) || filtered.value.has(name))
  })
  const shown = computed(() => names.value.flatMap((name) => {
    const i = table.columns.findIndex((column) => column.name === name)
    const column = table.columns[i]
    return column ? [{ column, i }] : []
  }))
  // A column that goes takes its filter with it.
  function toggleColumn(name: string) {
    const isFiltered = filtered.value.has(name)
    if (isFiltered) filter(name, '')
    if (!isFiltered || isChosen(name)) void toggle(name)
  }
  return { names, shown, toggleColumn }
}
