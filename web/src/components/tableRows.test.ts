import { expect, test } from 'vitest'

import type { Cell, ColumnInfo } from '../api'
import { isWrongSearch, nextSort, readSort, rowName, searchRows, sortRows, sortText, toClipboard, toCsv, toJson } from './tableRows'

const columns: ColumnInfo[] = [
  { name: 'name', unit: '', kind: 'text', doc: '' },
  { name: 'ts', unit: 'unix_ns', kind: 'integer', doc: '' },
  { name: 'count', unit: 'count', kind: 'integer', doc: '' },
]
const rows: Cell[][] = [
  ['MatMul', '1790000000000000009', 2],
  ['Add, "x"', '1790000000000000010', 2],
  ['BatchNorm', null, 1],
]
const names = (list: Cell[][]) => list.map((row) => row[0])

test('large whole numbers sort exactly, nothing comes last', () => {
  expect(names(sortRows(rows, columns, [{ column: 1, falling: true }]))).toEqual(['Add, "x"', 'MatMul', 'BatchNorm'])
  expect(names(sortRows(rows, columns, [{ column: 1, falling: false }]))).toEqual(['MatMul', 'Add, "x"', 'BatchNorm'])
})

test('a second key decides among equals', () => {
  expect(names(sortRows(rows, columns, [{ column: 2, falling: true }, { column: 0, falling: false }]))).toEqual(['Add, "x"', 'MatMul', 'BatchNorm'])
})

test('a heading goes through its orders', () => {
  const first = nextSort([], 2, false, false)
  expect(first).toEqual([{ column: 2, falling: true }])
  const second = nextSort(first, 2, false, false)
  expect(second).toEqual([{ column: 2, falling: false }])
  expect(nextSort(second, 2, false, false)).toEqual([])
  expect(nextSort(first, 0, true, true)).toEqual([{ column: 2, falling: true }, { column: 0, falling: false }])
})

test('search: words, expressions, letters in order', () => {
  expect(names(searchRows(rows, columns, 'mat'))).toEqual(['MatMul'])
  expect(names(searchRows(rows, columns, '/^(add|batch)/'))).toEqual(['Add, "x"', 'BatchNorm'])
  expect(names(searchRows(rows, columns, 'btcnrm'))).toEqual(['BatchNorm'])
  expect(searchRows(rows, columns, '/(/')).toEqual(rows) // it is marked, and hides nothing
  expect(['/(/', '/a+/', '(', '//', ''].map(isWrongSearch)).toEqual([true, false, false, false, false])
  expect(searchRows(rows, columns, 'zz')).toEqual([])
})

test('an expression looks at each text by itself', () => {
  const two: ColumnInfo[] = [{ name: 'category', unit: '', kind: 'text', doc: '' }, { name: 'name', unit: '', kind: 'text', doc: '' }]
  expect(searchRows([['HOST', 'aten::mm'], ['HOST', 'aten::mm_out']], two, '/^aten::mm$/')).toEqual([['HOST', 'aten::mm']])
})

test('files have what is shown, exactly', () => {
  expect(toCsv(columns, rows.slice(1, 2))).toBe('name,ts,count\r\n"Add, ""x""",1790000000000000010,2\r\n')
  expect(JSON.parse(toJson(columns, rows.slice(2)))).toEqual([{ name: 'BatchNorm', ts: null, count: 1 }])
  expect(toClipboard(columns, [['a\tb', null, 1]])).toBe('name\tts\tcount\na b\t\t1')
})

test('an order comes back from its text; columns that are not there do not count', () => {
  const keys = [{ column: 2, falling: true }, { column: 0, falling: false }]
  expect(sortText(keys, columns)).toBe('-count,name')
  expect(readSort('-count,name', columns)).toEqual(keys)
  expect(readSort('-gone,name', columns)).toEqual([{ column: 0, falling: false }])
  expect(readSort('gone', columns)).toBeNull()
  expect(readSort('', columns)).toBeNull()
  expect(readSort(sortText([], columns), columns)).toEqual([])
})

test('a row is found again by its values', () => {
  expect(rowName(['MatMul', 1, null])).toBe(rowName(['MatMul', 1, null]))
  expect(new Set([...rows, ['MatMul', '1790000000000000009', 3]].map(rowName)).size).toBe(4)
})
