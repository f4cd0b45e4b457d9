import { effectScope, ref, type EffectScope } from 'vue'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import type { StepRange } from '../runState'
import { useStepPick } from './useStepPick'

const listeners = new Map<string, () => void>()
vi.stubGlobal('addEventListener', (name: string, listener: () => void) => listeners.set(name, listener))
vi.stubGlobal('removeEventListener', (name: string) => listeners.delete(name))

const step = ref<number | null>(null)
const stepRange = ref<StepRange | null>(null)
const choose = vi.fn()
let scope: EffectScope
let strip: ReturnType<typeof useStepPick>
beforeEach(() => {
  step.value = null
  stepRange.value = null
  choose.mockReset()
  scope = effectScope()
  strip = scope.run(() => useStepPick(step, stepRange, choose))!
})
afterEach(() => scope.stop())
const chosen = () => choose.mock.calls.map(([values]) => values)
const press = (number: number) => strip.begin({ button: 0, pointerType: 'mouse' } as PointerEvent, number)
const over = (number: number, buttons = 1) => strip.extend({ buttons } as PointerEvent, number)

test('a click chooses a step, another one lets it go', () => {
  strip.pick(2, false)
  step.value = 2
  strip.pick(2, false)
  strip.pick(2, true)
  expect(chosen()).toEqual([{ step: 2 }, { step: null }, { step: null }])
})

test('with shift several take the place of the one, and can be more or fewer', () => {
  step.value = 5
  strip.pick(2, true)
  step.value = null
  stepRange.value = { first: 2, last: 5 }
  strip.pick(7, true)
  expect(chosen()).toEqual([{ step: null, first: 2, last: 5 }, { step: null, first: 2, last: 7 }])
})

test('a drag draws over steps until the button is let go', () => {
  step.value = 9
  press(4)
  over(3)
  over(2)
  expect(strip.shown.value).toEqual({ first: 2, last: 4 })
  listeners.get('pointerup')!()
  expect(chosen()).toEqual([{ step: null, first: 2, last: 4 }])
  press(1)
  listeners.get('pointerup')!() // a click
  expect(chosen()).toHaveLength(1)
})

test('a drag whose end nobody told is given up', () => {
  press(2)
  over(3)
  over(5, 0) // the button is not pressed any more
  listeners.get('pointerup')!()
  for (const name of ['pointercancel', 'blur']) {
    press(2)
    over(3)
    listeners.get(name)!()
    expect(strip.shown.value).toBeNull()
    over(4)
    listeners.get('pointerup')!()
  }
  expect(chosen()).toEqual([])
  scope.stop()
  expect(listeners.size).toBe(0)
})
