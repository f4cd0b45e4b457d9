import { expect, test } from 'vitest'

import type { Cell, ColumnInfo } from '../api'
import { canFilter, cellsThat, filterRows } from './columnFilter'

const column = (name: string, unit: string, kind: ColumnInfo['kind']): ColumnInfo => ({ name, unit, kind, doc: '' })
const time = column('total_ns', 'ns', 'integer')
const fits = (text: string, one: ColumnInfo, cell: Cell) => cellsThat(text, one)?.(cell)

test('times, sizes, shares and rates in the units they are shown in', () => {
  expect([fits('> 1 ms', time, 1_000_001), fits('> 1 ms', time, 1_000_000), fits('>=1ms', time, '1000000'), fits('< 2.5 µs', time, 2400), fits('500', time, 500), fits('= 500 ns', time, 501)]).toEqual([true, false, true, true, true, false])
  expect([fits('> 1 MiB', column('b', 'bytes', 'integer'), 2 ** 20 + 1), fits('<= 5 %', column('s', 'share', 'float'), 0.05), fits('> 2 GB/s', column('r', 'bytes_per_second', 'float'), 3e9), fits('<1 TFLOP/s', column('r', 'flops_per_second', 'float'), 3e12)]).toEqual([true, true, true, false])
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
  expect(filterRows([[1], [2]], [time], new Map([['total_ns', 'abc']]))).toEqual([[1], [2]])
  expect(canFilter(column('ts', 'unix_ns', 'integer'))).toBe(false)
})

test('all filters count', () => {
  const rows: Cell[][] = [['a', 5], ['ab', 50], ['b', 500], ['abc', null]]
  expect(filterRows(rows, [column('name', '', 'text'), time], new Map([['name', 'b'], ['total_ns', '> 10 ns'], ['gone', 'x']]))).toEqual([['ab', 50], ['b', 500]])
})
