// What the user made of a table: search, filters, order, columns, rows that show what they consist of. In the address by the
// table's name; as the table is at first, it has nothing there.
import { computed } from 'vue'

import { listText, pairsText, readList, readPairs, useAddress } from '../address'
import type { Cell, ColumnInfo } from '../api'
import { nextSort, readSort, rowName, sortText } from './tableRows'

export interface TableOptions {
  name?: string
  columns: ColumnInfo[]
  sort?: string // at first
  openAtFirst?: Cell[][]
}

export function useTableState(table: Readonly<TableOptions>) {
  const { text, choose, typed } = useAddress()
  const key = (what: string) => `${what}.${table.name ?? 'table'}`
  const search = typed(() => key('find'))
  const filterText = typed(() => key('filter'))
  const filters = computed(() => new Map(readPairs(filterText.value)))
  function filter(column: string, wanted: string) {
    const next = new Map(filters.value)
    if (wanted) next.set(column, wanted)
    else next.delete(column)
    filterText.value = pairsText(next)
  }

  const order = text(() => key('sort'))
  const first = computed(() => readSort(table.sort ?? '', table.columns) ?? [])
  const keys = computed(() => readSort(order.value, table.columns) ?? first.value)
  function sortOn(column: number, further: boolean) {
    const next = sortText(nextSort(keys.value, column, table.columns[column]?.kind === 'text', further), table.columns)
    return choose({ [key('sort')]: next === sortText(first.value, table.columns) ? null : next }, true)
  }

  // Names that were added to what shows at first, or taken away.
  function toggles(what: string) {
    const kept = text(() => key(what))
    const names = computed(() => new Set(readList(kept.value)))
    const toggle = (name: string) => {
      const next = new Set(names.value)
      if (!next.delete(name)) next.add(name)
      return choose({ [key(what)]: listText(next) }, true)
    }
    return { names, toggle }
  }
  const columns = toggles('columns')
  const rows = toggles('open')
  const openAtFirst = computed(() => new Set(table.openAtFirst))
  const isOpen = (row: Cell[]) => rows.names.value.has(rowName(row)) !== openAtFirst.value.has(row)
  return { search, filters, filter, keys, sortOn, toggled: columns.names, toggle: columns.toggle, isOpen, expand: (row: Cell[]) => rows.toggle(rowName(row)) }
}
