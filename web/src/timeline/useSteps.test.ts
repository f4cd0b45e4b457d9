import { nextTick, ref } from 'vue'
import { beforeEach, expect, test, vi } from 'vitest'

import type { StepRange } from '../runState'

const step = ref<number | null>(null)
const stepRange = ref<StepRange | null>(null)
vi.mock('../runState', () => ({ useRun: () => ({ shownRank: ref(0), step, stepRange }) }))
const { useSteps } = await import('./useSteps')

const column = (name: string) => ({ name, unit: '', kind: 'integer' as const, doc: '' })
// The device is half a step behind the host.
const rows = [1, 2, 3, 4, 5].map((number) => [0, number, String(1000 * number - 500), 1000, String(1000 * number), 1000])
const table = { columns: ['rank', 'step', 'start_ns', 'dur_ns', 'work_start_ns', 'work_dur_ns'].map(column), rows, total: 5, reasons: [] }
const tracks = { tracks: [{ track: 1, kind: 'host' }, { track: 2, kind: 'device' }] }
const loaded = <T>(data: T | null) => ({ data: ref(data), error: ref(null), loading: ref(data === null), reload: () => undefined })
const goTo = vi.fn()
function make(steps = loaded(table)) {
  return { steps, ...useSteps(steps as never, loaded(tracks) as never, ref(1000n), goTo) }
}
// Without the margin at both sides.
const shown = () => goTo.mock.calls.map(([from, to]) => [Math.round((from + (to - from) / 22) / 1000), Math.round((to - (to - from) / 22) / 1000)])
beforeEach(() => {
  step.value = null
  stepRange.value = null
  goTo.mockReset()
})

test('a step is shown, else the range', async () => {
  const { showWanted } = make()
  stepRange.value = { first: 2, last: 5 }
  await showWanted()
  step.value = 3
  await showWanted()
  await showWanted(() => false)
  expect(shown()).toEqual([[1, 5], [2, 3]])
})

test('a step that is chosen before the table of steps is there is shown when it is', async () => {
  const { steps, showWanted } = make(loaded<typeof table>(null))
  step.value = 2
  const showing = showWanted()
  await nextTick()
  await nextTick()
  expect(goTo).not.toHaveBeenCalled()
  steps.data.value = table
  steps.loading.value = false
  await showing
  expect(shown()).toEqual([[1, 2]])
})

test('the steps on the ruler are the device\'s', () => {
  expect(make().stepMarks.value.slice(0, 2)).toEqual([{ step: 1, start: 0, end: 1000 }, { step: 2, start: 1000, end: 2000 }])
})

test('a search looks into the steps that are chosen, one or several: on the host where the marks are, on the device where its work is', async () => {
  const { stepPlace } = make()
  expect(await stepPlace()).toBeNull()
  stepRange.value = { first: 2, last: 3 }
  const place = await stepPlace()
  expect(place).toMatchObject({ work: { from: 1000, to: 3000 }, host: { from: 500, to: 2500 } })
  const has = (track: number, start: number) => place?.has({ slice: 1, track, start, dur: 1, name: '' })
  expect([has(1, 500), has(1, 2499), has(1, 2500)]).toEqual([true, true, false])
  expect([has(2, 500), has(2, 1000), has(2, 2999)]).toEqual([false, true, true])
  step.value = 9
  expect(await stepPlace()).toBeNull()
})

test('a range that takes the place of a step is another choice, a step that is let go is none', () => {
  const { isOther } = make()
  const range = { first: 2, last: 5 }
  expect(isOther([null, range], [2, null])).toBe(true)
  expect(isOther([3, range], [2, range])).toBe(true)
  expect(isOther([null, range], [2, range])).toBe(false)
  expect(isOther([null, null], [2, range])).toBe(false)
  expect(isOther([2, range], [2, range])).toBe(false)
})
