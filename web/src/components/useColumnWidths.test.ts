import { nextTick, ref } from 'vue'
import { beforeEach, expect, test, vi } from 'vitest'

import { useColumnWidths } from './useColumnWidths'

const kept = new Map<string, string>()
let isFull = false
vi.stubGlobal('localStorage', {
  getItem: (name: string) => kept.get(name) ?? null,
  setItem: (name: string, value: string) => {
    if (isFull) throw new Error('QuotaExceededError')
    kept.set(name, value)
  },
})
beforeEach(() => {
  isFull = false
  kept.clear()
  kept.set('stepscope.columns.first', '{"name":300}')
  kept.set('stepscope.columns.second', '{"name":100,"count":80,"other":"wide"}')
})
const head = { setPointerCapture: () => undefined, closest: () => ({ offsetWidth: 200 }) }
const at = (clientX: number) => ({ currentTarget: head, pointerId: 1, clientX }) as unknown as PointerEvent

test('each table has its own widths, also one that takes the place of another', async () => {
  const table = ref('first')
  const { widths } = useColumnWidths(() => table.value)
  expect(widths.value).toEqual({ name: 300 })
  table.value = 'second'
  await nextTick()
  expect(widths.value).toEqual({ name: 100, count: 80 })
})

test('a browser that keeps nothing does not end a drag halfway', () => {
  const { widths, down, move, up } = useColumnWidths(() => 'first')
  down(at(10), 'name')
  move(at(60))
  isFull = true
  up()
  move(at(500))
  expect(widths.value).toEqual({ name: 250 })
})
