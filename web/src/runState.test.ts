import { createApp, effectScope, ref, type EffectScope } from 'vue'
import { createMemoryHistory, createRouter, type Router } from 'vue-router'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

vi.mock('./router', () => ({ leaving: () => false }))
const { runInfoKey } = await import('./runInfo')
const { useRun } = await import('./runState')

let router: Router
let scope: EffectScope
let state: ReturnType<typeof useRun>
async function come(query: string) {
  await router.push(`/run/a/steps${query}`)
}
beforeEach(async () => {
  router = createRouter({ history: createMemoryHistory(), routes: [{ path: '/run/:run/steps', component: {} }, { path: '/run/:run/timeline', name: 'timeline', component: {} }] })
  await come('')
  scope = effectScope()
  const app = createApp({}).use(router).provide(runInfoKey, ref({ ranks: [], first_ns: '1000' } as never))
  state = app.runWithContext(() => scope.run(() => useRun()))!
})
afterEach(() => scope.stop())

test('a range of steps has two ends', async () => {
  for (const [query, range] of [['?first=3', null], ['?last=3', null], ['?first=5&last=3', null], ['?first=3&last=5', { first: 3, last: 5 }], ['?first=0&last=0', { first: 0, last: 0 }]] as const) {
    await come(query)
    expect(state.stepRange.value, query).toEqual(range)
  }
})

test('links to other pages keep the range', async () => {
  await come('?first=3&last=5&rank=2&table=steps')
  expect(state.pageLink('steps', { rank: 1, step: null }).query).toEqual({ rank: '1', first: '3', last: '5' })
  expect(state.timelineLink({ rank: 1, start: '11000', end: '31000' }).query).toEqual({ rank: '1', from: '0', to: '40000', first: '3', last: '5' })
  await come('')
  expect(state.pageLink('steps', { rank: 1 }).query).toEqual({ rank: '1' })
})
