import { expect, test } from 'vitest'

import type { Cell } from '../../api'
import en from '../../locale/en'
import { dataVerdict } from './dataVerdict'

const rows: Record<string, Cell>[] = [
  { slow_stage: 'process', bottleneck: 'MapOp_1', wait_share: 0.9, exposed_wait_ns: 5e6 },
  { slow_stage: 'process', bottleneck: 'A/B', wait_share: null },
  { slow_stage: 'process', bottleneck: '', wait_share: null },
  { slow_stage: 'process', bottleneck: '', wait_share: 0.2 },
  { slow_stage: 'transfer', wait_share: 0.1 },
  { slow_stage: 'fetch', wait_share: 0.1 },
  { slow_stage: 'none', wait_share: 0.01 },
  { slow_stage: 'none', wait_share: null },
]

test('every verdict has its sentence', () => {
  for (const row of rows) {
    const text = dataVerdict(row).key.split('.').reduce<unknown>((inner, name) => (inner as Record<string, unknown>)[name], en)
    expect(text, dataVerdict(row).key).toBeTypeOf('string')
  }
})

test('the slow stage is named, and only good ones are good', () => {
  expect(dataVerdict(rows[1]!).values.stage).toBe('A, B')
  expect(rows.map((row) => dataVerdict(row).tone)).toEqual(['bad', 'bad', 'bad', 'bad', 'bad', 'bad', 'good', 'good'])
})
