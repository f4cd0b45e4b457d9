import { expect, test } from 'vitest'

import type { ColumnInfo, ResultTable } from '../../api'
import { operatorsOfType, rowsOf, shareInTab } from './operatorTables'

const columns = (...names: string[]): ColumnInfo[] => names.map((name) => ({ name, unit: '', kind: 'text', doc: '' }))
const kernels: ResultTable = {
  columns: columns('rank', 'name', 'type', 'kind', 'total_ns', 'count'),
  rows: [[0, 'gemm_128', 'CUDA', 'gemm', 5, 1], [0, 'memset', 'MEMSET', 'set', 1, 1], [1, 'gemm_64', 'CUDA', 'gemm', 7, 2], [0, 'MatMul-op1', 'AI_CORE', 'MatMul', 2, 1]],
  total: 4,
  reasons: [],
}

test('a tab has its own rows', () => {
  expect(rowsOf(kernels, 'kernels', 'type').length).toBe(3)
  expect(rowsOf(kernels, 'aicore', 'type').map((row) => row[1])).toEqual(['MatMul-op1'])
  expect(rowsOf(kernels, 'aicore', '').length).toBe(4)
})

test('shares are of all that a tab shows of a rank, whatever its categories', () => {
  const names = columns('rank', 'window', 'category', 'self_ns', 'share')
  const rows = [[0, 0, 'CUDA', 6, 1], [0, 0, 'MEMSET', 2, 1], [1, 0, 'CUDA', 5, 1]]
  const shares = shareInTab(names, rows)
  expect(shares(rows).map((row) => row[4])).toEqual([0.75, 0.25, 1])
  expect(shares([[0, 0, 'CUDA', 4, 0.9]]).map((row) => row[4])).toEqual([0.5]) // one of those that a type consists of
})

test('a type opens to what it consists of on the same rank', () => {
  const types = columns('rank', 'category', 'type', 'count', 'total_ns', 'self_ns', 'operators')
  expect(operatorsOfType(types, [0, 'CUDA', 'gemm', 1, 5, 5, 1], kernels, true)).toEqual([[0, 'CUDA', 'gemm_128', 1, 5, 5, null]])
})
