import { ref } from 'vue'
import { expect, test } from 'vitest'

import type { Cell, ColumnInfo } from '../api'
import { useShownColumns } from './useShownColumns'

const columns = ['rank', 'window', 'name', 'count', 'empty', 'start_ns'].map((name): ColumnInfo => ({ name, unit: name === 'start_ns' ? 'unix_ns' : '', kind: name === 'name' ? 'text' : 'integer', doc: '' }))
const rows: Cell[][] = [[0, 0, 'a', 1, null, 5], [1, 0, 'b', 2, null, 6]]
function make(show?: string[]) {
  const toggled = ref(new Set<string>())
  const filters = ref(new Map<string, string>())
  const toggle = (name: string) => {
    const next = new Set(toggled.value)
    if (!next.delete(name)) next.add(name)
    toggled.value = next
  }
  const filter = (name: string, wanted: string) => {
    const next = new Map(filters.value)
    if (wanted) next.set(name, wanted)
    else next.delete(name)
    filters.value = next
  }
  return { filters, filter, ...useShownColumns({ columns, rows, show }, { toggled, filters, toggle, filter }) }
}

test('columns that say something, in the order that is wanted', () => {
  expect(make().names.value).toEqual(['rank', 'name', 'count', 'start_ns'])
  const { shown, toggleColumn } = make(['name', 'rank', 'empty'])
  toggleColumn('rank')
  toggleColumn('empty')
  expect(shown.value.map(({ column, i }) => [column.name, i])).toEqual([['name', 2], ['empty', 4]])
})

test('a filtered column shows although it would not; one of moments has no filter', () => {
  const { names, filter } = make(['name'])
  filter('count', '> 1')
  filter('start_ns', '5')
  filter('gone', 'x')
  expect(names.value).toEqual(['name', 'count'])
})

test('a filtered column that was taken away stays in its place', () => {
  const { names, filter, toggleColumn } = make(['name', 'rank'])
  toggleColumn('name')
  filter('name', 'a')
  expect(names.value).toEqual(['name', 'rank'])
})

test('a column that goes takes its filter with it', () => {
  const { names, filters, filter, toggleColumn } = make(['name', 'rank'])
  filter('rank', '1')
  filter('count', '> 1')
  toggleColumn('rank')
  toggleColumn('count')
  expect([names.value, [...filters.value]]).toEqual([['name'], []])
  toggleColumn('rank')
  expect(names.value).toEqual(['name', 'rank'])
})
