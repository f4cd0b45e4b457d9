import { effectScope, nextTick, ref, type EffectScope } from 'vue'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

const search = vi.fn()
vi.mock('../api', () => ({ api: { search: (...values: unknown[]) => search(...values) } }))
const { useSearch } = await import('./useSearch')

const hit = (slice: number) => ({ slice, track: 0, start: slice * 10, dur: 5, name: 'x' })
const reply = (slices: number[], total = slices.length, before = 0) => Promise.resolve({ hits: slices.map(hit), total, before })

let scope: EffectScope
const shown: number[] = []
const failed = vi.fn()
function make(text = '', go: (() => Promise<{ from: number; to: number } | null>) | null = null) {
  const found = scope.run(() => useSearch(ref('run'), ref(null), (one) => shown.push(one.slice), failed))!
  found.come(text, go && (() => go().then((view) => view && { work: view, host: view, has: ({ start }) => start >= view.from && start < view.to })))
  return found
}
beforeEach(() => {
  vi.useFakeTimers()
  scope = effectScope()
  shown.length = 0
  search.mockReset()
  failed.mockReset()
})
afterEach(() => {
  scope.stop()
  vi.useRealTimers()
})
const rest = () => vi.advanceTimersByTimeAsync(250)

test('slices are told apart only when all that match are here', async () => {
  search.mockReturnValueOnce(reply([1, 2]))
  const found = make('x')
  await rest()
  expect(found.slices.value).toEqual(new Set([1, 2]))
  search.mockReturnValueOnce(reply([1, 2], 5000))
  found.text.value = 'xy'
  await nextTick()
  await rest()
  expect(found.total.value).toBe(5000)
  expect(found.slices.value).toBeNull()
})

test('the first one is shown as soon as it is found, when it is asked for before', async () => {
  search.mockReturnValueOnce(reply([1, 2]))
  const found = make('x')
  await found.next()
  expect(shown).toEqual([])
  await rest()
  expect(shown).toEqual([1])
  await found.next()
  expect(shown).toEqual([1, 2])
})

test('next goes on after an answer that failed', async () => {
  search.mockRejectedValueOnce(new Error('gone'))
  const found = make('x')
  await found.next()
  await rest()
  expect(failed).toHaveBeenCalledTimes(1)
  search.mockReturnValueOnce(reply([1, 2], 4))
  found.text.value = 'xy'
  await nextTick()
  await rest()
  await found.next()
  await found.next()
  search.mockRejectedValueOnce(new Error('gone'))
  await found.next() // the next page fails
  search.mockReturnValueOnce(reply([3, 4], 4, 2))
  await found.next()
  expect(shown).toEqual([1, 2, 3])
  expect(found.number.value).toBe(3)
})

test('next while a page is on its way neither asks twice nor ends it', async () => {
  search.mockReturnValueOnce(reply([1], 3))
  const found = make('x')
  await rest()
  await found.next()
  let answer: (value: unknown) => void = () => undefined
  search.mockReturnValueOnce(new Promise((resolve) => (answer = resolve)))
  const turning = found.next()
  await found.next()
  expect(search).toHaveBeenCalledTimes(2)
  answer(await reply([2, 3], 3, 1))
  await turning
  await found.next()
  expect(shown).toEqual([1, 2, 3])
})

test('an answer for an earlier text changes nothing', async () => {
  let late: (value: unknown) => void = () => undefined
  search.mockReturnValueOnce(new Promise((resolve) => (late = resolve)))
  const found = make('x')
  await rest()
  found.text.value = 'xy'
  await nextTick()
  await found.next()
  late(await reply([1]))
  await nextTick()
  search.mockReturnValueOnce(reply([7]))
  await rest()
  expect(found.hits.value.map((one) => one.slice)).toEqual([7])
  expect(shown).toEqual([7])
})

test('who comes with a text goes to its first hit', async () => {
  search.mockReturnValueOnce(reply([1, 2]))
  make('x', () => Promise.resolve(null))
  await rest()
  expect(shown).toEqual([1])
})

test('who comes with a step goes to the first hit in it, and on from there', async () => {
  search.mockReturnValueOnce(reply([1, 2, 3, 4]))
  const found = make('x', () => Promise.resolve({ from: 25, to: 45 }))
  await rest()
  expect(search).toHaveBeenCalledTimes(1)
  expect(shown).toEqual([3])
  expect(found.number.value).toBe(3)
  await found.next()
  expect(shown).toEqual([3, 4])
})

test('a step is asked for where there are more hits than come at once', async () => {
  search.mockReturnValueOnce(reply([1, 2], 9))
  search.mockReturnValueOnce(reply([6, 7], 9, 5))
  const found = make('x', () => Promise.resolve({ from: 60, to: 80 }))
  await rest()
  expect(search.mock.calls[1]?.[1]).toMatchObject({ from: 60, to: 80 })
  expect(shown).toEqual([6])
  expect(found.number.value).toBe(6)
})

test('without a hit in the step the view stays, and the others can be gone through', async () => {
  search.mockReturnValueOnce(reply([1, 2], 3))
  search.mockReturnValueOnce(reply([], 3, 2))
  search.mockReturnValueOnce(reply([1, 2], 3))
  const found = make('x', () => Promise.resolve({ from: 60, to: 80 }))
  await rest()
  expect(shown).toEqual([])
  expect(found.number.value).toBe(0)
  await found.next()
  expect(shown).toEqual([1])
})

test('a text that comes again goes to its first hit again; one that only comes back stays where the view is', async () => {
  search.mockReturnValue(reply([1, 2]))
  const found = make('x', () => Promise.resolve(null))
  await rest()
  await found.next()
  found.come('x', () => Promise.resolve(null))
  await rest()
  expect(shown).toEqual([1, 2, 1])
  found.come('x', null)
  await rest()
  expect(search).toHaveBeenCalledTimes(2)
  found.come('y', null)
  await rest()
  expect(search).toHaveBeenCalledTimes(3)
  expect(shown).toEqual([1, 2, 1])
})
