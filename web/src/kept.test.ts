import { expect, test, vi } from 'vitest'

import { keep, kept } from './kept'

test('choices are kept under our name', () => {
  const storage = new Map<string, string>()
  vi.stubGlobal('localStorage', { getItem: (name: string) => storage.get(name) ?? null, setItem: (name: string, value: string) => storage.set(name, value) })
  expect(kept('theme')).toBe(null)
  keep('theme', 'dark')
  expect(kept('theme')).toBe('dark')
  expect([...storage]).toEqual([['stepscope.theme', 'dark']])
})

test('a browser that keeps nothing knows them until the page is left', () => {
  vi.stubGlobal('localStorage', undefined)
  Object.defineProperty(globalThis, 'localStorage', { configurable: true, get: () => { throw new DOMException('denied', 'SecurityError') } })
  expect(kept('rail')).toBe(null)
  keep('rail', 'narrow')
  expect(kept('rail')).toBe('narrow')
})
