// What lies under a point of the canvas.
import type { Series } from '../api'
import type { Lane } from './lanes'
import { laneGap, slicePixels } from './lanes'
import { headPixels, laneAt, laneTop, timeAt, type Scene } from './scene'
import type { TimelineStore } from './store'
import { firstAfter, sampleAt } from './viewData'

export interface SliceHit {
  slice: number // -1: a segment that was computed
  name: number
  start: number
  end: number
  count: number
  colour: number
  track: number
  depth: number
  lane: Lane
}

export interface CurveHit {
  lane: Lane
  time: number
  values: { series: Series; value: number }[]
}

const slackPixels = 1.5

export function sliceAt(scene: Scene, store: TimelineStore, x: number, y: number): SliceHit | null {
  if (x < headPixels) return null
  const lane = laneAt(scene, y)
  if (!lane?.track) return null
  const depth = Math.floor((y - laneTop(scene, lane) - laneGap / 2) / slicePixels)
  if (depth < 0 || depth >= lane.rows) return null
  const time = timeAt(scene, x)
  const slack = (slackPixels * (scene.view.to - scene.view.from)) / (scene.width - headPixels)
  const level = store.level(scene.view, scene.width - headPixels)
  for (const piece of store.slices.pieces(lane.track.track, scene.view, level, scene.length)) {
    if (time < piece.from - slack || time >= piece.to + slack) continue
    const { data, rows } = piece.part
    const row = rows.find((one) => one.depth === depth)
    if (!row) continue
    let best: SliceHit | null = null
    let distance = Infinity
    for (let i = firstAfter(data, row, time - slack); i < row.last; ++i) {
      const start = data.starts[i]!
      const end = data.ends[i]!
      if (start > time + slack) break
      const away = time < start ? start - time : time >= end ? time - end : 0
      if (away >= distance) continue
      distance = away
      best = { slice: data.slices[i]!, name: data.names[i]!, start, end, count: data.counts[i]!, colour: data.colours[i]!, track: lane.track.track, depth, lane }
    }
    if (best) return best
  }
  return null
}

// The slice of a lane's first row that is nearest to a time, of what is loaded for the view.
export function sliceNear(scene: Scene, store: TimelineStore, lane: Lane, time: number): SliceHit | null {
  if (!lane.track) return null
  const level = store.level(scene.view, scene.width - headPixels)
  let best: SliceHit | null = null
  let distance = Infinity
  for (const { part } of store.slices.pieces(lane.track.track, scene.view, level, scene.length)) {
    const { data } = part
    const row = part.rows.find((one) => one.depth === 0)
    if (!row) continue
    for (let i = Math.max(row.first, firstAfter(data, row, time) - 1); i < row.last; ++i) {
      const start = data.starts[i]!
      const end = data.ends[i]!
      const away = time < start ? start - time : time >= end ? time - end : 0
      if (away < distance) {
        distance = away
        best = { slice: data.slices[i]!, name: data.names[i]!, start, end, count: data.counts[i]!, colour: data.colours[i]!, track: lane.track.track, depth: 0, lane }
      }
      if (start > time) break
    }
  }
  return best
}

export function curveAt(scene: Scene, store: TimelineStore, x: number, y: number): CurveHit | null {
  if (x < headPixels) return null
  const lane = laneAt(scene, y)
  if (!lane?.series) return null
  const time = timeAt(scene, x)
  const level = store.level(scene.view, scene.width - headPixels)
  const values: CurveHit['values'] = []
  for (const series of lane.series) {
    if (time > series.last) continue
    for (const piece of store.curves.pieces(series.series, scene.view, level, scene.length)) {
      if (time < piece.from || time >= piece.to) continue
      const { data, row } = piece.part
      const at = sampleAt(data, row, time)
      if (at >= row.first) values.push({ series, value: data.lasts[at]! })
    }
  }
  return values.length ? { lane, time, values } : null
}
