import { expect, test } from 'vitest'

import { readSegment, segmentText } from './segment'

const segment = { track: 2 ** 31 + 3, depth: 0, start: 1000, end: 2500, count: 1, colour: 13, name: 'Default/network_a/layer_0' }

test('a segment comes back from the address', () => {
  expect(readSegment(segmentText(segment))).toEqual(segment)
})

test('what is no segment is none', () => {
  for (const text of [undefined, '', '1_2_3', '1_0_20_10_1_1_backwards', 'a_0_1_2_1_1_name']) expect(readSegment(text)).toBeNull()
})
