// The row whose details are shown: one on a page, in the address by its table and a short name of its values.
import { computed, shallowRef } from 'vue'

import { useAddress } from '../address'
import type { Cell } from '../api'
import { rowName } from './tableRows'

// `rows`: those that a link may name.
export function useOpenRow(table: () => string, rows: () => Cell[][]) {
  const { text, choose } = useAddress()
  const kept = text('row')
  const last = shallowRef<Cell[] | null>(null) // stays what it was when the table changes around it
  const named = (row: Cell[]) => `${table()}.${rowName(row)}`
  const row = computed(() => {
    if (!kept.value.startsWith(`${table()}.`)) return null
    return last.value && named(last.value) === kept.value ? last.value : rows().find((one) => named(one) === kept.value) ?? null
  })
  function open(one: Cell[]) {
    last.value = one
    return choose({ row: named(one) }, true)
  }
  return { row, open, close: () => choose({ row: null }, true) }
}
