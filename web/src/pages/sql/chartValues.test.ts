import { expect, test } from 'vitest'

import { numberOf, pointsOf, valuesOf } from './chartValues'

test('what is not there is a gap, not 0', () => {
  expect([null, undefined, '', true, 'text', Infinity].map(numberOf)).toEqual([null, null, null, null, null, null])
  expect([0, '0', '1783700000000000123', 2.5].map(numberOf)).toEqual([0, 0, 1783700000000000123, 2.5])
  expect(valuesOf([['a', 1], ['b', null], ['c', 0]], 1)).toEqual([1, null, 0])
  expect(pointsOf([[1, 1], [null, 2], [3, null], [4, 0]], 0, 1)).toEqual([[1, 1], [4, 0]])
})
