import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { Names } from './names'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('names come in one request', async () => {
  const ask = vi.fn((ids: number[]) => Promise.resolve(ids.map((id) => `name ${id}`)))
  const names = new Names(ask, () => undefined, () => undefined)
  expect([names.get(1), names.get(2)]).toEqual(['', ''])
  await vi.advanceTimersByTimeAsync(10)
  expect([names.get(1), names.get(2)]).toEqual(['name 1', 'name 2'])
  expect(ask).toHaveBeenCalledTimes(1)
})

test('a server that fails is asked again after a pause, however often it is drawn', async () => {
  const ask = vi.fn(() => Promise.reject(new Error('gone')))
  const failed = vi.fn()
  // Every change draws, and drawing asks for what is missing.
  const names: Names = new Names(ask, () => void names.get(1), failed)
  names.get(1)
  for (let i = 0; i < 100; ++i) {
    await vi.advanceTimersByTimeAsync(10)
    names.get(1)
  }
  expect(ask).toHaveBeenCalledTimes(1)
  await vi.advanceTimersByTimeAsync(3000)
  expect(ask).toHaveBeenCalledTimes(2)
  expect(failed).toHaveBeenCalledTimes(2)
  names.stop()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(ask).toHaveBeenCalledTimes(2)
})
