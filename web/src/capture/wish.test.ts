import { expect, test } from 'vitest'

import { parseNumbers, parseSteps, wishOf, type CaptureFields } from './wish'

const fields: CaptureFields = { mode: 'next', next: '3', steps: '', level: '', withStack: false, ranks: '' }

test('ranks as people write them', () => {
  expect(parseNumbers('0,4-7')).toEqual([0, 4, 5, 6, 7])
  expect(parseNumbers(' 3 , 1 ')).toEqual([3, 1])
  for (const bad of ['', 'x', '1,', '7-4', '-1', '1.5', '0-99999999']) expect(parseNumbers(bad), bad).toBeNull()
})

test('steps are one or a range', () => {
  expect(parseSteps('10-12')).toEqual([10, 12])
  expect(parseSteps(' 7 ')).toEqual([7, 7])
  for (const bad of ['', '0', '0-3', '12-10', '1-2-3', '1,2', 'a']) expect(parseSteps(bad), bad).toBeNull()
})

test('what is sent', () => {
  expect(wishOf(fields)).toEqual({ next: 3, with_stack: false })
  expect(wishOf({ ...fields, mode: 'steps', steps: '5-6', level: '1', withStack: true, ranks: '0-1' })).toEqual({ steps: [5, 6], level: 1, with_stack: true, ranks: [0, 1] })
})

test('the field that is wrong', () => {
  expect(wishOf({ ...fields, next: '0' })).toBe('next')
  expect(wishOf({ ...fields, next: '1e9' })).toBe('next')
  expect(wishOf({ ...fields, mode: 'steps', steps: '9-8' })).toBe('steps')
  expect(wishOf({ ...fields, ranks: 'all' })).toBe('ranks')
})
