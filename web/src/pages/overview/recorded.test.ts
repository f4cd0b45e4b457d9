import { expect, test } from 'vitest'

import type { RunInfo } from '../../api'
import { recordedNs } from './recorded'

const rank = (rank: number, first: string, last: string, slices = 1) => ({ rank, first_ns: first, last_ns: last, slices })
const info = { ranks: [rank(0, '1736408883674584732', '1736408883852217921'), rank(1, '1736408883676317851', '1736408883853308267'), rank(2, '0', '0', 0)] } as unknown as RunInfo

test('from the first event to the last, of the run or of a rank', () => {
  expect(recordedNs(info, null)).toBe(178_723_535)
  expect(recordedNs(info, 0)).toBe(177_633_189)
  expect(recordedNs(info, 2)).toBe(0) // nothing in it has a time
  expect(recordedNs(null, null)).toBe(0)
})
