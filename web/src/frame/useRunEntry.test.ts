import { effectScope, ref, type EffectScope } from 'vue'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

const runs = vi.fn()
const run = vi.fn()
const importRun = vi.fn()
let tellChanged: () => void = () => undefined
const whenRunChanged = (listener: () => void) => {
  tellChanged = listener
  return () => (tellChanged = () => undefined)
}
vi.mock('../api', () => ({ whenRunChanged: (listener: () => void) => whenRunChanged(listener), api: { runs: () => runs(), run: () => run(), importRun: () => importRun() } }))
vi.stubGlobal('localStorage', { getItem: () => 'en', setItem: () => undefined })
const page = { visibilityState: 'visible', addEventListener: () => undefined, removeEventListener: () => undefined }
vi.stubGlobal('document', page)
const { useRunEntry } = await import('./useRunEntry')

const entry = (values = {}) => ({ id: 'a', former_ids: [] as string[], state: 'ready', reason: '', modified_ns: '1', input_bytes: 1, store_bytes: 1, ranks: 1, steps: 1, losses: 0, suspects: 0, ...values })
const answer = (...list: unknown[]) => runs.mockResolvedValue({ runs: list, can_add: true })

let scope: EffectScope
const moved = vi.fn()
const make = () => scope.run(() => useRunEntry(ref('a'), moved))!
beforeEach(() => {
  vi.useFakeTimers()
  scope = effectScope()
  page.visibilityState = 'visible'
  for (const one of [runs, run, importRun, moved]) one.mockReset().mockResolvedValue(undefined)
  run.mockImplementation(() => Promise.resolve({ ranks: [] }))
})
afterEach(() => {
  scope.stop()
  vi.useRealTimers()
})

test('a run that did not change is not read again', async () => {
  answer(entry())
  const { info } = make()
  await vi.advanceTimersByTimeAsync(0)
  const first = info.value
  expect(first).not.toBeNull()
  await vi.advanceTimersByTimeAsync(12_000)
  expect(runs).toHaveBeenCalledTimes(3)
  expect(run).toHaveBeenCalledTimes(1)
  expect(info.value).toBe(first)
})

test('a run that grew is read again once it is imported; what was there stays until then', async () => {
  answer(entry())
  const { info, entry: now } = make()
  await vi.advanceTimersByTimeAsync(0)
  const first = info.value
  answer(entry({ state: 'importing', modified_ns: '2' }))
  await vi.advanceTimersByTimeAsync(5000)
  expect(now.value?.state).toBe('importing')
  expect(info.value).toBe(first)
  answer(entry({ modified_ns: '2', steps: 2 }))
  await vi.advanceTimersByTimeAsync(300)
  expect(info.value).not.toBe(first)
  expect(run).toHaveBeenCalledTimes(2)
})

test('a run that is removed says so, and comes back', async () => {
  answer(entry())
  const { error, info } = make()
  await vi.advanceTimersByTimeAsync(0)
  answer()
  await vi.advanceTimersByTimeAsync(5000)
  expect(error.value?.message).toContain('not in the folder any more')
  expect(info.value).not.toBeNull()
  answer(entry())
  await vi.advanceTimersByTimeAsync(5000)
  expect(error.value).toBeNull()
})

test('a run that is part of another one now leads there', async () => {
  answer(entry({ id: 'b', former_ids: ['x', 'a'] }), entry({ id: 'c', former_ids: ['y'] }))
  const { error, info } = make()
  await vi.advanceTimersByTimeAsync(0)
  expect(moved.mock.calls).toEqual([['b']])
  expect([error.value, info.value]).toEqual([null, null])
})

test('answers that say that the run is part of another one are looked up at once, together', async () => {
  answer(entry())
  make()
  await vi.advanceTimersByTimeAsync(1000)
  answer(entry({ id: 'b', former_ids: ['a'] }))
  for (let i = 0; i < 5; ++i) tellChanged()
  await vi.advanceTimersByTimeAsync(100)
  expect(runs).toHaveBeenCalledTimes(2)
  expect(moved.mock.calls).toEqual([['b']])
  scope.stop()
  tellChanged()
  await vi.advanceTimersByTimeAsync(100)
  expect(runs).toHaveBeenCalledTimes(2)
})

test('a page that nobody sees does not ask', async () => {
  answer(entry())
  make()
  await vi.advanceTimersByTimeAsync(0)
  page.visibilityState = 'hidden'
  await vi.advanceTimersByTimeAsync(60_000)
  expect(runs).toHaveBeenCalledTimes(1)
})

test('an answer that fails is no end', async () => {
  runs.mockRejectedValueOnce(new Error('offline'))
  const { error, info } = make()
  await vi.advanceTimersByTimeAsync(0)
  expect(error.value?.message).toBe('offline')
  answer(entry())
  await vi.advanceTimersByTimeAsync(5000)
  expect(error.value).toBeNull()
  expect(info.value).not.toBeNull()
})
