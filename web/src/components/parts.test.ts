import { expect, test } from 'vitest'

import { averagedRows, budgetParts, budgetPartsOf, countSteps, largest, meanParts, stages, timeBetween } from './parts'

test('parts of steps are means that add up, empty ones are left out', () => {
  const mean = meanParts([{ step_ns: 100, compute_ns: 60, other_ns: 40 }, { step_ns: 200, compute_ns: 120, other_ns: 80 }], budgetParts, 'step_ns')
  expect(mean?.total).toBe(150)
  expect(mean?.list.map((part) => [part.key, part.value])).toEqual([['compute_ns', 90], ['other_ns', 60]])
  expect(mean?.list.reduce((sum, part) => sum + part.share, 0)).toBeCloseTo(1)
  const least = meanParts([{ step_ns: 100_000, compute_ns: 99_947, other_ns: 53 }, { step_ns: 100_000, compute_ns: 99_960, other_ns: 40 }], budgetParts, 'step_ns')
  expect(least?.list.map((part) => part.key)).toEqual(['compute_ns']) // the other would read 0.0 %
  expect(meanParts([], stages, 'dur_ns')).toBeNull()
})

test('means are made of the steps that the server says, or of the chosen one', () => {
  const steps = [{ step: 1, averaged: false }, { step: 2, averaged: true }]
  expect(averagedRows(steps, null).map((row) => row.step)).toEqual([2])
  expect(averagedRows(steps.slice(0, 1), 1).map((row) => row.step)).toEqual([1])
})

test('a step of two devices is one, and windows have their own', () => {
  const row = (rank: number, window: number, device: number, step: number) => ({ rank, window, device, step })
  expect(countSteps([row(0, 0, 0, 1), row(0, 0, 1, 1), row(0, 0, 0, 2), row(0, 0, 1, 2)])).toEqual({ steps: 2, windows: 1, devices: 2 })
  expect(countSteps([row(0, 0, 0, 1), row(0, 1, 0, 1), row(1, 0, 0, 1), row(1, 1, 0, 1)])).toEqual({ steps: 2, windows: 2, devices: 0 })
})

test('time that no step has is told where it is 2 % or more', () => {
  const steps = (between_ns: number) => [{ between_ns: null, work_dur_ns: 10 }, { between_ns, work_dur_ns: 100 }, { between_ns, work_dur_ns: 100 }]
  expect(timeBetween(steps(400))).toBe(400)
  expect(timeBetween(steps(1))).toBeNull()
  expect(timeBetween([])).toBeNull()
})

test('without a device the parts are about the host', () => {
  const labels = (device: number) => budgetPartsOf([{ device }]).map((part) => part.label)
  expect(labels(0)).toContain('part.compute')
  expect(labels(-1)).not.toContain('part.compute')
  expect(labels(-1)).toContain('part.between')
})

test('the largest are summed over rows, the rest is one', () => {
  const list = largest([['a', 1], ['b', 5], ['a', 3], ['c', 2], ['d', 0], ['e', Number.NaN]], 2)
  expect(list.map((one) => [one.name, one.value])).toEqual([['b', 5], ['a', 4], ['', 2]])
  expect(list[0]?.share).toBeCloseTo(5 / 11)
})
