import { expect, test } from 'vitest'

import { tabOf, typeTabs, typesOf } from './operatorTabs'

test('categories of all sources have a tab', () => {
  expect(['AI_CORE', 'AI_VECTOR_CORE', 'MIX_AIV', 'DSA_SQE'].map(tabOf)).toEqual(Array(4).fill('aicore'))
  expect(['AI_CPU', 'HOST', 'HOST_CPU', 'CUDA', 'MEMSET', 'HCCL'].map(tabOf)).toEqual(['aicpu', 'host', 'hostcpu', 'kernels', 'kernels', 'communication'])
})

test('devices come before the host, and types add up over ranks', () => {
  const rows = [
    { rank: 0, category: 'HOST', type: 'aten::mm', self_ns: 9 },
    { rank: 0, category: 'CUDA', type: 'gemm', self_ns: 3 },
    { rank: 1, category: 'CUDA', type: 'gemm', self_ns: 5 },
    { rank: 1, category: 'MEMCPY', type: 'copy', self_ns: 2 },
  ]
  expect(typeTabs(rows)).toEqual(['kernels', 'host'])
  expect(typesOf(rows, 'kernels', 20).map((one) => [one.name, one.value])).toEqual([['gemm', 8], ['copy', 2]])
})
