import { expect, test } from 'vitest'

import { placeAt, suggest } from './completion'

const tables = [{ name: 'kernels', columns: ['name', 'dur', 'stream'] }, { name: 'ops', columns: ['name', 'self'] }, { name: 'source."op_statistic"', columns: ['rank'] }]
const texts = (sql: string) => suggest(sql, sql.length, tables).map((one) => one.text)

test('tables after from, columns after a dot', () => {
  expect(texts('select * from ')).toEqual(['kernels', 'ops', 'source."op_statistic"'])
  expect(texts('select * from ker')).toEqual(['kernels'])
  expect(texts('select k.d from kernels k where k.')).toEqual(['name', 'dur', 'stream'])
  expect(texts('select 1 from ops join kernels as x on x.st')).toEqual(['stream'])
})

test('columns of the tables that the query names come before words', () => {
  const sql = 'select s from kernels'
  expect(suggest(sql, 8, tables).map((one) => one.text)).toEqual(['stream', 'source."op_statistic"', 'select', 'sum('])
  expect(texts('select name from kernels where ')).toEqual([])
})

test('the word at the cursor is what a suggestion replaces', () => {
  expect(placeAt('select dur', 10)).toEqual({ start: 7, word: 'dur', table: '' })
  expect(placeAt('k.na', 4)).toEqual({ start: 2, word: 'na', table: 'k' })
})
