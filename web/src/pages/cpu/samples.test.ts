import { expect, test } from 'vitest'

import { perSecond } from './samples'

test('counts between samples become rates, whatever the distance', () => {
  const at = (ns: number, value: number) => ({ at: ns, step: null, value })
  expect(perSecond([at(0, 9), at(500_000_000, 10), at(2_500_000_000, 10), at(2_500_000_000, 3)]).map((point) => [point.at, point.value])).toEqual([[500_000_000, 20], [2_500_000_000, 5]])
  expect(perSecond([])).toEqual([])
})
