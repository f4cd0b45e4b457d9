import { expect, test } from 'vitest'

import { evidenceUnit } from './evidence'

const sources = import.meta.glob<string>('../../../../src/analyses/advice/*.cc', { query: '?raw', import: 'default', eager: true })
const units: Record<string, string> = { Nanoseconds: 'ns', Bytes: 'bytes', Share: 'share', Count: 'count', None: '', BytesPerSecond: 'bytes_per_second' }

test('a name that two rules use has the unit of its rule', () => {
  expect(evidenceUnit('contended_bandwidth', 'lost')).toBe('share')
  expect(evidenceUnit('slow_rank', 'lost')).toBe('ns')
})

test('every number of a finding has the unit that the server means', () => {
  const found = Object.values(sources).flatMap((text) => [...text.matchAll(/\{\s*"([a-z_]+)",\s*Unit::k(\w+)/g)])
  expect(found.length).toBeGreaterThan(40)
  for (const [, name = '', unit = ''] of found) {
    if (name !== 'lost') expect(evidenceUnit('', name), name).toBe(units[unit])
  }
})
