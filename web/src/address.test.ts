import { createApp, effectScope, nextTick, type EffectScope } from 'vue'
import { createMemoryHistory, createRouter, type Router } from 'vue-router'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

vi.mock('./router', () => ({ leaving: () => false }))
const { listText, pairsText, readList, readPairs, useAddress } = await import('./address')

let router: Router
let scope: EffectScope
let address: ReturnType<typeof useAddress>
beforeEach(async () => {
  vi.useFakeTimers()
  router = createRouter({ history: createMemoryHistory(), routes: [{ path: '/', component: {} }] })
  await router.push('/?rank=2')
  scope = effectScope()
  address = createApp({}).use(router).runWithContext(() => scope.run(() => useAddress()))!
})
afterEach(() => {
  scope.stop()
  vi.useRealTimers()
})
const query = () => router.currentRoute.value.query

test('what is chosen is added, and null removes it', async () => {
  await address.choose({ step: 3 }, true)
  expect(query()).toEqual({ rank: '2', step: '3' })
  expect(address.text('step').value).toBe('3')
  await address.choose({ rank: null }, true)
  expect(query()).toEqual({ step: '3' })
})

test('names of a list come back, whatever is in them', () => {
  const names = ['sum(a, b)', '50 %', '卡']
  expect(readList(listText(names))).toEqual(names)
  expect(readList('a,%')).toEqual(['a', '%'])
  expect(readList(undefined)).toEqual([])
})

test('so do names with their texts', () => {
  const pairs: [string, string][] = [['sum(a~b), c', '> 1 ms'], ['name', '/a~b|50 %/'], ['卡', ' ']]
  expect(readPairs(pairsText(pairs))).toEqual(pairs)
  expect(readPairs('name~a~b,total_ns~%3E%201%20us')).toEqual([['name', 'a~b'], ['total_ns', '> 1 us']])
  expect(readPairs('')).toEqual([])
})

test('two choices at once are both kept', async () => {
  await Promise.all([address.choose({ a: 1 }, true), address.choose({ b: 2 }, true)])
  expect(query()).toEqual({ rank: '2', a: '1', b: '2' })
})

test('a text that is typed comes into the address when it rests, and follows the address', async () => {
  const now = scope.run(() => address.typed('find'))!
  now.value = 'ma'
  await nextTick()
  await vi.advanceTimersByTimeAsync(200)
  expect(query().find).toBeUndefined()
  now.value = 'mat'
  await nextTick()
  await vi.advanceTimersByTimeAsync(300)
  expect(query().find).toBe('mat')
  await router.push('/')
  await nextTick()
  expect(now.value).toBe('')
})

test('what is typed while the address changes stays', async () => {
  const now = scope.run(() => address.typed('find'))!
  now.value = 'matmul'
  await nextTick()
  await router.push('/?find=other')
  await nextTick()
  expect(now.value).toBe('matmul')
})
