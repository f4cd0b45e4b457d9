import { expect, test, vi } from 'vitest'

import { TileCache } from './tiles'

interface Request { from: number; to: number; ids: number[]; signal: AbortSignal; reply: (items?: number) => void }

function setUp(most = 1000) {
  const requests: Request[] = []
  const changed = vi.fn()
  const failed = vi.fn()
  const cache = new TileCache<string>({
    load: (from, to, ids, signal) => new Promise((resolve) => requests.push({
      from, to, ids, signal, reply: (items = 10) => resolve({ items, parts: new Map(ids.map((id) => [id, `${id} ${from}-${to}`])) }),
    })),
  }, most, changed, failed)
  return { cache, requests, changed, failed }
}
const settle = () => new Promise((resolve) => setTimeout(resolve, 0))
const length = 1 << 20

test('what is in view is asked for once, then what is beside it', async () => {
  const { cache, requests, changed } = setUp()
  cache.want([1, 2], { from: 1024, to: 2048 }, 10, length)
  expect(requests.map((one) => [one.from, one.to])).toEqual([[1024, 2048], [2048, 3072], [0, 1024]])
  expect(requests[0]!.ids).toEqual([1, 2])
  cache.want([1, 2], { from: 1024, to: 2048 }, 10, length)
  expect(requests.length).toBe(3)
  requests[0]!.reply()
  await settle()
  expect(changed).toHaveBeenCalled()
  expect(cache.pieces(2, { from: 1024, to: 2048 }, 10, length)).toEqual([{ part: '2 1024-2048', from: 1024, to: 2048 }])
  // A track that comes into sight later is asked for alone.
  cache.want([1, 2, 3], { from: 1024, to: 2048 }, 10, length)
  expect(requests[3]!.ids).toEqual([3])
})

test('requests that nobody looks at any more are dropped', async () => {
  const { cache, requests } = setUp()
  cache.want([1], { from: 0, to: 1024 }, 10, length)
  cache.want([1], { from: 512 * 1024, to: 513 * 1024 }, 10, length)
  expect(requests.slice(0, 2).every((one) => one.signal.aborted)).toBe(true)
  requests[0]!.reply()
  await settle()
  expect(cache.held).toBe(0)
})

test('larger and smaller tiles stand in for those that are missing', async () => {
  const { cache, requests } = setUp()
  cache.want([1], { from: 0, to: 4096 }, 12, 4096)
  requests[0]!.reply()
  await settle()
  expect(cache.pieces(1, { from: 1024, to: 2048 }, 10, 4096)).toEqual([{ part: '1 0-4096', from: 1024, to: 2048 }])
  // Zooming out: the tile that was sharp fills its part of the larger one.
  expect(cache.pieces(1, { from: 0, to: 8192 }, 13, 8192)).toEqual([{ part: '1 0-4096', from: 0, to: 4096 }])
})

test('what was not drawn for long is given up', async () => {
  const { cache, requests } = setUp(30)
  for (let at = 0; at < 40; at += 4) {
    cache.want([1], { from: at * 1024, to: (at + 1) * 1024 }, 10, length)
    for (const request of requests) request.reply()
    await settle()
  }
  cache.want([1], { from: 0, to: 1024 }, 10, length)
  expect(cache.held).toBeLessThanOrEqual(60)
})

test('a server that fails is not asked all the time', async () => {
  let asked = 0
  const failed = vi.fn()
  const cache = new TileCache<string>({ load: () => { ++asked; return Promise.reject(new Error('no')) } }, 100, () => undefined, failed)
  for (let i = 0; i < 50; ++i) {
    cache.want([1], { from: 0, to: 1024 }, 10, 1024)
    await settle()
  }
  expect(asked).toBeLessThan(10)
  expect(failed).toHaveBeenCalled()
})
