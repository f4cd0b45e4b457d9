import { expect, test, vi } from 'vitest'

import { readQueries, saveQueries, withQuery } from './savedQueries'

test('queries are kept, a name once; nonsense is ignored', () => {
  let kept: string | null = null
  vi.stubGlobal('localStorage', { getItem: () => kept, setItem: (_: string, text: string) => void (kept = text) })
  expect(readQueries()).toEqual([])
  saveQueries(withQuery(withQuery([], 'a', 'select 1'), 'a', 'select 2'))
  expect(readQueries()).toEqual([{ name: 'a', sql: 'select 2' }])
  kept = '[{"name": 3}, {"name": "b", "sql": "x"}]'
  expect(readQueries()).toEqual([{ name: 'b', sql: 'x' }])
  kept = 'broken'
  expect(readQueries()).toEqual([])
})
