import { expect, test } from 'vitest'

import { budgetParts, largest, meanParts, stages } from './parts'

test('parts of steps are means that add up, empty ones are left out', () => {
  const mean = meanParts([{ step_ns: 100, compute_ns: 60, other_ns: 40 }, { step_ns: 200, compute_ns: 120, other_ns: 80 }], budgetParts, 'step_ns')
  expect(mean?.total).toBe(150)
  expect(mean?.list.map((part) => [part.key, part.value])).toEqual([['compute_ns', 90], ['other_ns', 60]])
  expect(mean?.list.reduce((sum, part) => sum + part.share, 0)).toBeCloseTo(1)
  expect(meanParts([], stages, 'dur_ns')).toBeNull()
})

test('the largest are summed over rows, the rest is one', () => {
  const list = largest([['a', 1], ['b', 5], ['a', 3], ['c', 2], ['d', 0], ['e', Number.NaN]], 2)
  expect(list.map((one) => [one.name, one.value])).toEqual([['b', 5], ['a', 4], ['', 2]])
  expect(list[0]?.share).toBeCloseTo(5 / 11)
})
