import { expect, test } from 'vitest'

import type { Track } from '../api'
import { sliceAt, sliceNear } from './hit'
import { makeLanes } from './lanes'
import { headPixels, laneAt, laneTop, placeOf, rowTop, rulerPixels, timeAt, visibleLanes, xOf, type Scene } from './scene'
import type { SlicePart, TimelineStore } from './store'
import type { ViewData } from './viewData'

const track = (number: number, depth: number, more: Partial<Track> = {}): Track =>
  ({ track: number, position: 0, rank: 0, process: '', thread: `thread ${number}`, kind: 'host', pid: '', tid: '', slices: 9, depth, ...more })

function scene(pinned: string[] = [], scroll = 0): Scene {
  const layout = makeLanes([track(0, 2), track(1, 1), track(2, 30)], [], {
    rank: null, filter: '', hide: new Set(), levels: null, states: new Map(), pinned: new Set(pinned), busy: [], length: 1000, whole: 1000, stepHint: String,
    names: (section) => section, rankName: String,
  })
  return { view: { from: 0, to: 1000 }, length: 1000, layout, scroll, width: headPixels + 1000, height: 400, steps: [], step: null, stepsOf: { device: false, rank: null }, chosen: null, arrows: [], hits: null, hitTimes: [], range: null, marks: [], hoverLane: null }
}

// One row with slices at 100 to 200 and 300 to 300.4, one below with 150 to 160.
const data: ViewData = {
  rows: [{ track: 0, depth: 0, first: 0, last: 2 }, { track: 0, depth: 1, first: 2, last: 3 }],
  starts: Float64Array.of(100, 300, 150), ends: Float64Array.of(200, 300.4, 160), slices: Float64Array.of(10, 11, 12), names: Uint32Array.of(1, 2, 3),
  counts: Uint32Array.of(1, 1, 1), colours: Uint8Array.of(1, 1, 1),
}
const part: SlicePart = { data, rows: data.rows }
const store = { level: () => 10, slices: { pieces: (id: number) => (id === 0 ? [{ part, from: 0, to: 1024 }] : []) } } as unknown as TimelineStore

test('times and pixels are inverse', () => {
  const now = { ...scene(), view: { from: 50, to: 250 } }
  for (const time of [50, 123, 250]) expect(timeAt(now, xOf(now, time))).toBeCloseTo(time)
  expect(xOf(now, 50)).toBe(headPixels)
})

test('a slice is found by its row and its time', () => {
  const now = scene()
  const lane = now.layout.ofTrack.get(0)!
  const at = (time: number, row: number) => sliceAt(now, store, xOf(now, time), rowTop(now, lane, row) + 5)?.slice ?? null
  expect(at(150, 0)).toBe(10)
  expect(at(155, 1)).toBe(12)
  expect(at(250, 0)).toBe(null)
  expect(at(170, 1)).toBe(null)
  // Narrower than a pixel, it can still be hit, also a little beside it.
  expect(at(300, 0)).toBe(11)
  expect(at(301, 0)).toBe(11)
  expect(sliceAt(now, store, headPixels - 10, rowTop(now, lane, 0) + 5)).toBe(null)
})

test('the slice of a lane that is nearest to a time', () => {
  const now = scene()
  const near = (time: number) => sliceNear(now, store, now.layout.ofTrack.get(0)!, time)?.slice
  expect(near(0)).toBe(10)
  expect(near(150)).toBe(10)
  expect(near(240)).toBe(10)
  expect(near(260)).toBe(11)
  expect(near(900)).toBe(11)
  expect(sliceNear(now, store, now.layout.ofTrack.get(1)!, 0)).toBe(null)
})

test('pinned lanes stay while the others scroll', () => {
  const now = scene(['t1'], 300)
  const pinned = now.layout.ofTrack.get(1)!
  expect(laneTop(now, pinned)).toBe(rulerPixels)
  expect(laneAt(now, rulerPixels + 3)).toBe(pinned)
  expect(laneAt(now, rulerPixels - 3)).toBe(null)
  const below = laneAt(now, rulerPixels + now.layout.pinnedHeight + 1)!
  expect(below.pinned).toBe(false)
  expect(visibleLanes(now)).toContain(pinned)
  expect(visibleLanes(now)).not.toContain(now.layout.ofTrack.get(0))
})

test('the end of an arrow is the row of its slice, or the last that is shown', () => {
  const now = scene()
  const lane = now.layout.ofTrack.get(2)!
  expect(placeOf(now, 2, 3)).toBe(rowTop(now, lane, 3) + 8)
  expect(placeOf(now, 2, 29)).toBe(rowTop(now, lane, lane.rows - 1) + 8)
  expect(placeOf(now, 77, 0)).toBe(null)
})
