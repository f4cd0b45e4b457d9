import { expect, test } from 'vitest'

import type { Cell, ColumnInfo } from '../api'
import { count } from '../format'
import { activeFilters, canFilter, cellsThat, filterRows, isWrong } from './columnFilter'

const column = (name: string, unit: string, kind: ColumnInfo['kind']): ColumnInfo => ({ name, unit, kind, doc: '' })
const time = column('total_ns', 'ns', 'integer')
const fits = (text: string, one: ColumnInfo, cell: Cell) => cellsThat(text, one)?.(cell)

test('times, sizes, shares and rates in the units they are shown in', () => {
  expect([fits('> 1 ms', time, 1_000_001), fits('> 1 ms', time, 1_000_000), fits('>=1ms', time, '1000000'), fits('< 2.5 µs', time, 2400), fits('500', time, 500), fits('= 500 ns', time, 501)]).toEqual([true, false, true, true, true, false])
  expect([fits('> 1 MiB', column('b', 'bytes', 'integer'), 2 ** 20 + 1), fits('<= 5 %', column('s', 'share', 'float'), 0.05), fits('> 2 GB/s', column('r', 'bytes_per_second', 'float'), 3e9), fits('<1 TFLOP/s', column('r', 'flops_per_second', 'float'), 3e12)]).toEqual([true, true, true, false])
})

test('what a cell shows can be written into its filter', () => {
  const rate = column('r', 'bytes_per_second', 'float')
  const flops = column('f', 'flops', 'float')
  expect([fits('> 500 B/s', rate, 501), fits('= 5 MiB/s', rate, 5 * 2 ** 20), fits('= 5 MB/s', rate, 5e6), fits('> 2 G', rate, 3e9)]).toEqual([true, true, true, true])
  expect([fits('> 3 FLOP', flops, 4), fits('= 2 GFLOP', flops, 2e9), fits('= 1 TFLOPS', column('f', 'flops_per_second', 'float'), 1e12), fits('= 2 PiB', column('b', 'bytes', 'integer'), 2 * 2 ** 50)]).toEqual([true, true, true, true])
  const number = column('n', 'count', 'integer')
  expect([fits(`= ${count(12_345)}`, number, 12_345), fits('= 1 234 567', number, 1_234_567), fits('1 000..2 000', number, 1500)]).toEqual([true, true, true])
})

test('a unit of another kind is not understood', () => {
  const wrong: [string, string][] = [['2 ms', 'flops'], ['2 GB', 'flops_per_second'], ['2 GB', 'bytes_per_second'], ['2 B/s', 'bytes'], ['5 %', 'ns'], ['1 s', 'share'], ['2 GiFLOP', 'flops'], ['2 iB', 'bytes'], ['3 k', 'count'], ['1 2', 'count'], ['1 23 456', 'count']]
  for (const [text, unit] of wrong) expect(cellsThat(text, column('x', unit, 'float')), `${text} of ${unit}`).toBeNull()
})

test('ranges, with the unit once or twice', () => {
  expect([fits('1..2 ms', time, 1_500_000), fits('1 us..2 ms', time, 1500), fits('1..2 ms', time, 1500), fits('2..8', column('n', 'count', 'integer'), 8)]).toEqual([true, true, false, true])
})

test('words and expressions of texts, yes and no', () => {
  const name = column('name', '', 'text')
  expect([fits('mat mul', name, 'MatMulV2'), fits('/^mat.*2$/', name, 'MatMulV2'), fits('/^x/', name, 'MatMulV2'), fits('a', name, null), fits('yes', column('slow', '', 'bool'), true), fits('no', column('slow', '', 'bool'), true)]).toEqual([true, true, false, false, true, false])
})

test('what is not understood is told, and filters nothing', () => {
  for (const text of ['abc', '> 5 apples', '1..', '>']) expect(cellsThat(text, time), text).toBeNull()
  expect(cellsThat('/(/', column('name', '', 'text'))).toBeNull()
  expect(filterRows([[1], [2]], activeFilters([time], new Map([['total_ns', 'abc']])))).toEqual([[1], [2]])
  expect([isWrong('abc', time), isWrong('> 1 ms', time)]).toEqual([true, false])
  expect(canFilter(column('ts', 'unix_ns', 'integer'))).toBe(false)
})

test('blanks show all, also what has no value', () => {
  const name = column('name', '', 'text')
  const active = activeFilters([name, time], new Map([['name', '  '], ['total_ns', ' ']]))
  expect(active).toEqual([])
  expect(filterRows([['a', 1], [null, null]], active)).toHaveLength(2)
  expect([isWrong(' ', name), isWrong(' ', time)]).toEqual([false, false])
})

test('a column without a place for a filter has none', () => {
  expect(activeFilters([column('ts', 'unix_ns', 'integer')], new Map([['ts', '5']]))).toEqual([])
})

test('all filters count', () => {
  const rows: Cell[][] = [['a', 5], ['ab', 50], ['b', 500], ['abc', null]]
  expect(filterRows(rows, activeFilters([column('name', '', 'text'), time], new Map([['name', 'b'], ['total_ns', '> 10 ns'], ['gone', 'x']])))).toEqual([['ab', 50], ['b', 500]])
})
