import { effectScope, nextTick, ref, shallowRef, type EffectScope } from 'vue'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import type { Layout } from './lanes'

const range = vi.fn()
vi.mock('../api', () => ({ api: { range: (...values: unknown[]) => range(...values) } }))
const { firstComputed, useRange } = await import('./useRange')

// Lanes that are open have no more to say here than closed ones, which stand in `ofTrack` too.
const layoutOf = (tracks: number[]): Layout => ({ lanes: [], pinnedHeight: 0, height: 0, ofTrack: new Map(tracks.map((track) => [track, {} as never])) })
const totals = { rows: [], tracks: [], names: 0, count: 3, total_ns: 1 }

let scope: EffectScope
beforeEach(() => {
  vi.useFakeTimers()
  scope = effectScope()
  range.mockReset()
  range.mockResolvedValue(totals)
})
afterEach(() => {
  scope.stop()
  vi.useRealTimers()
})
function make(tracks: number[], filtered = false) {
  const parts = { rank: ref<number | null>(null), layout: shallowRef(layoutOf(tracks)), filtered: ref(filtered) }
  const selection = scope.run(() => useRange(ref('run'), parts.rank, parts.layout, parts.filtered))!
  selection.range.value = { from: 10, to: 20 }
  return { ...parts, selection }
}
const asked = () => range.mock.calls.map((call) => call.slice(1, 5))
const rest = async () => {
  await nextTick()
  await vi.advanceTimersByTimeAsync(200)
}

test('without a filter all lanes count; with one those that it leaves, open or closed', async () => {
  const { selection, layout, filtered } = make([3, 1, firstComputed])
  await selection.load()
  expect(selection.lanes.value).toEqual({ all: 2, counted: 2, filtered: false })
  filtered.value = true
  await rest()
  layout.value = layoutOf([3])
  await rest()
  expect(asked()).toEqual([[10, 20, null, null], [10, 20, null, [1, 3]], [10, 20, null, [3]]])
  expect(selection.lanes.value).toEqual({ all: 1, counted: 1, filtered: true })
})

test('another rank is asked for', async () => {
  const { selection, rank } = make([1])
  await selection.load()
  rank.value = 2
  await rest()
  expect(asked()[1]).toEqual([10, 20, 2, null])
})

test('more lanes than a request takes are said to be left out', async () => {
  const { selection } = make(Array.from({ length: 900 }, (_, i) => i), true)
  await selection.load()
  expect(asked()[0]?.[3]).toHaveLength(700)
  expect(selection.lanes.value).toEqual({ all: 900, counted: 700, filtered: true })
})

test('a filter that leaves nothing is not a request for everything', async () => {
  const { selection } = make([], true)
  await selection.load()
  expect(range).not.toHaveBeenCalled()
  expect(selection.totals.value?.count).toBe(0)
})

test('an answer that failed is an error, not empty; the last request counts', async () => {
  const { selection } = make([1])
  range.mockRejectedValueOnce(new Error('gone'))
  await selection.load()
  expect([selection.error.value?.message, selection.totals.value]).toEqual(['gone', null])
  let late: (value: unknown) => void = () => undefined
  range.mockReturnValueOnce(new Promise((resolve) => (late = resolve)))
  const first = selection.load()
  await selection.load()
  late({ ...totals, count: 99 })
  await first
  expect(selection.totals.value?.count).toBe(3)
})
