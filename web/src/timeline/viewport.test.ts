import { expect, test } from 'vitest'

import { childrenOf, clampView, levelOf, niceStep, parentOf, tileFrom, tilePixels, tilesOf, tileTo, zoomed } from './viewport'

test('a view stays within the run', () => {
  expect(clampView(-1e9, -9e8, 1e6)).toEqual({ from: -5e4, to: 1.05e6 })
  const short = clampView(500, 501, 1e6)
  expect(short.to - short.from).toBe(20)
  const right = clampView(2e6, 2.1e6, 1e6)
  expect(right.to).toBeCloseTo(1.05e6)
  expect(right.to - right.from).toBeCloseTo(1e5)
})

test('zooming keeps the time under the pointer', () => {
  const view = { from: 100, to: 300 }
  for (const share of [0, 0.25, 1]) {
    const after = zoomed(view, 0.5, share)
    expect(after.to - after.from).toBeCloseTo(100)
    expect(after.from + share * 100).toBeCloseTo(100 + share * 200)
  }
})

test('ruler marks are round', () => {
  expect(niceStep(1000, 10)).toBe(100)
  expect(niceStep(1100, 10)).toBe(200)
  expect(niceStep(4100, 10)).toBe(500)
  expect(niceStep(7000, 10)).toBe(1000)
})

test('tiles cover the view and are as wide as wanted', () => {
  for (const span of [50, 1e4, 3.3e6, 1e12]) {
    const level = levelOf(span, 1220)
    const pixels = (2 ** level / span) * 1220
    expect(pixels).toBeGreaterThanOrEqual(tilePixels / 2)
    if (level > 0) expect(pixels).toBeLessThanOrEqual(tilePixels)
    const tiles = tilesOf({ from: span * 3.3, to: span * 4.3 }, level, 1e14)
    expect(tiles.length).toBeLessThanOrEqual(4)
    expect(tileFrom(tiles[0]!)).toBeLessThanOrEqual(span * 3.3)
    expect(tileTo(tiles[tiles.length - 1]!)).toBeGreaterThanOrEqual(span * 4.3)
  }
})

test('no tiles outside of the run', () => {
  expect(tilesOf({ from: -500, to: 100 }, 5, 64)).toEqual([{ level: 5, index: 0 }, { level: 5, index: 1 }])
})

test('parents hold their children', () => {
  const tile = { level: 7, index: 13 }
  for (const child of childrenOf(tile)) expect(parentOf(child)).toEqual(tile)
  expect(childrenOf({ level: 0, index: 3 })).toEqual([])
})
