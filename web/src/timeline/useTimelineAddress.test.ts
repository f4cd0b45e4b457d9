import { reactive, ref } from 'vue'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

vi.stubGlobal('window', globalThis)
const route = reactive({ query: {} as Record<string, string> })
const choose = vi.fn()
vi.mock('../address', async () => ({ listText: (names: Iterable<string>) => [...names].join(','), readList: (text?: string) => (text ? text.split(',') : []) }))
vi.mock('../router', () => ({ leaving: () => false }))
vi.mock('../runState', () => ({ useRun: () => ({ choose, route }) }))
vi.mock('vue', async (original) => ({ ...(await original<typeof import('vue')>()), onUnmounted: (act: () => void) => (leave = act) }))
let leave: () => void = () => undefined
const { useTimelineAddress } = await import('./useTimelineAddress')

function make() {
  const kept = {
    filter: ref(''), hide: new Set<string>(), levels: ref<number | null>(null), states: new Map<string, 'open' | 'closed'>(), pinned: new Set<string>(), marks: ref<number[]>([]),
    range: ref<{ from: number; to: number } | null>(null), chosen: ref(null), segment: ref(null), scroll: ref(0), wantedScroll: ref<number | null>(null), view: ref({ from: 0.4, to: 99.6 }), search: ref(''),
  }
  return { kept, address: useTimelineAddress(() => kept) }
}
beforeEach(() => {
  vi.useFakeTimers()
  choose.mockReset()
  route.query = {}
})
afterEach(() => vi.useRealTimers())

test('what is read is written again', () => {
  const query = { from: '5', to: '50', lanes: 'stream', hide: 'overlap', levels: '2', open: 't1,t2', closed: 'g', pin: 't3', marks: '7_8', range: '10_20', segment: '4_0_5_9_1_0_a_b' }
  route.query = { ...query, rank: '1' }
  const { address, kept } = make()
  address.read()
  expect(address.place()).toEqual({ view: { from: 5, to: 50 }, slice: null, search: '', isOpen: false, hasView: true })
  address.begin()
  kept.view.value = address.place().view!
  address.remember()
  vi.advanceTimersByTime(0)
  const written = Object.entries(choose.mock.calls[0]?.[0] as object).filter(([, value]) => value !== null && value !== '')
  expect(Object.fromEntries(written.map(([name, value]) => [name, String(value)]))).toEqual(query)
  expect(address.isOwn(address.text())).toBe(true)
  route.query = { ...query, slice: '3' }
  expect(address.isOwn(address.text())).toBe(false)
})

test('places: open, of a slice, without sense', () => {
  const { address } = make()
  const placeOf = (query: Record<string, string>) => {
    route.query = query
    address.read()
    return address.place()
  }
  expect(placeOf({ step: '3', q: 'nccl' })).toEqual({ view: null, slice: null, search: 'nccl', isOpen: true, hasView: false })
  expect(placeOf({ slice: '3' })).toMatchObject({ slice: 3, isOpen: false, hasView: false })
  expect(placeOf({ from: '9', to: '3' })).toMatchObject({ view: null, isOpen: false, hasView: true })
})

test('what is chosen is a step of the history, however the view moves with it', () => {
  const { address, kept } = make()
  address.read()
  address.begin()
  address.rememberSoon()
  vi.advanceTimersByTime(300)
  kept.chosen.value = { slice: 7, track: 1, depth: 0, start: 1, end: 2 } as never
  address.rememberStep()
  address.rememberSoon() // the view goes there
  vi.advanceTimersByTime(300)
  address.rememberSoon()
  vi.advanceTimersByTime(300)
  expect(choose.mock.calls.map(([values, replace]) => [values.slice, replace])).toEqual([[null, true], [7, false], [7, true]])
})

test('nothing is written before the first view, nor after the page is left', () => {
  const { address } = make()
  address.rememberSoon()
  vi.advanceTimersByTime(1000)
  address.begin()
  address.rememberSoon()
  vi.advanceTimersByTime(200)
  expect(choose).not.toHaveBeenCalled()
  leave()
  address.remember()
  vi.advanceTimersByTime(1000)
  expect(choose).not.toHaveBeenCalled()
})
