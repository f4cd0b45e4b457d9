// Everything a frame of the timeline is drawn from, and where things are on the canvas.
import type { Arrow } from '../api'
import type { Lane, Layout } from './lanes'
import { laneGap, slicePixels } from './lanes'
import type { View } from './viewport'

export const headPixels = 220
export const rulerPixels = 40

export interface StepMark {
  step: number
  start: number
  end: number
}

// Whose steps they are: a device's, or those that are marked on the host.
export interface StepsOf {
  device: boolean
  rank: number | null // where there are several
}

// A chosen slice or computed segment.
export interface Chosen {
  slice: number // -1: a segment
  track: number
  depth: number
  start: number
  end: number
}

export interface Scene {
  view: View
  length: number
  layout: Layout
  scroll: number
  width: number // of the canvas, CSS pixels
  height: number
  steps: StepMark[]
  step: number | null // chosen
  stepsOf: StepsOf
  chosen: Chosen | null
  arrows: Arrow[]
  hits: Set<number> | null // slices that match the search
  hitTimes: number[]
  range: View | null
  marks: number[]
  hoverLane: string | null
}

export const xOf = (scene: Scene, time: number): number =>
  headPixels + ((time - scene.view.from) / (scene.view.to - scene.view.from)) * (scene.width - headPixels)
export const timeAt = (scene: Scene, x: number): number =>
  scene.view.from + ((x - headPixels) / (scene.width - headPixels)) * (scene.view.to - scene.view.from)

// Where the lanes that scroll begin.
export const scrollTop = (scene: Scene): number => rulerPixels + scene.layout.pinnedHeight
export const laneTop = (scene: Scene, lane: Lane): number =>
  lane.pinned ? rulerPixels + lane.y : scrollTop(scene) + lane.y - scene.scroll
export const rowTop = (scene: Scene, lane: Lane, row: number): number => laneTop(scene, lane) + laneGap / 2 + row * slicePixels

// Lanes that can be seen; `margin` pixels more, for what will be seen soon.
export function visibleLanes(scene: Scene, margin = 0): Lane[] {
  const top = scrollTop(scene) - margin
  const bottom = scene.height + margin
  return scene.layout.lanes.filter((lane) => {
    if (lane.pinned) return true
    const y = laneTop(scene, lane)
    return y < bottom && y + lane.height > top
  })
}

// The lane at this height of the canvas, or null.
export function laneAt(scene: Scene, y: number): Lane | null {
  if (y < rulerPixels) return null
  const pinned = y < scrollTop(scene)
  return scene.layout.lanes.find((lane) => {
    if (lane.pinned !== pinned) return false
    const top = laneTop(scene, lane)
    return y >= top && y < top + lane.height
  }) ?? null
}

// The middle of a slice on screen; of what stands for it when its lane is closed; null: it is not shown at all.
export function placeOf(scene: Scene, track: number, depth: number): number | null {
  const lane = scene.layout.ofTrack.get(track)
  if (!lane) return null
  if (lane.kind !== 'track') return laneTop(scene, lane) + lane.height / 2
  return rowTop(scene, lane, Math.min(depth, lane.rows - 1)) + slicePixels / 2
}
