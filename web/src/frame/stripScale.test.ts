import { expect, test } from 'vitest'

import { stripTop } from './stripScale'

test('one long step does not flatten the others', () => {
  expect(stripTop([10, 11, 12])).toBe(12)
  expect(stripTop([500, 10, 10, 10])).toBe(30)
  expect(stripTop([0, 0, 7])).toBe(7)
  expect(stripTop([])).toBe(1)
})
