// Draws the lanes into a canvas: only what is on screen, in device pixels.
import { duration, shorten } from '../format'
import { colour } from '../preferences'
import { groupPixels, laneGap, slicePixels, type Lane } from './lanes'
import type { Palette } from './palette'
import type { TimelineStore } from './store'
import { firstAfter } from './viewData'

export const headPixels = 220
export const rulerPixels = 40

export interface StepMark {
  step: number
  start: number
  end: number
}

export interface Scene {
  from: number
  to: number
  scroll: number
  width: number // of the canvas, CSS pixels
  height: number
  lanes: Lane[]
  steps: StepMark[]
  selected: number | null // slice
  hits: Set<number> | null // slices that match the search
  range: { from: number; to: number } | null
  marks: number[]
}

export interface Hit {
  slice: number
  name: number
  start: number
  end: number
  count: number
  lane: Lane
}

const xOf = (scene: Scene, time: number) => headPixels + ((time - scene.from) / (scene.to - scene.from)) * (scene.width - headPixels)

function niceStep(span: number, most: number): number {
  const rough = span / most
  const power = 10 ** Math.floor(Math.log10(rough))
  for (const factor of [1, 2, 5, 10]) if (power * factor >= rough) return power * factor
  return power * 10
}

function drawRuler(context: CanvasRenderingContext2D, scene: Scene): void {
  context.fillStyle = colour('card')
  context.fillRect(0, 0, scene.width, rulerPixels)
  context.fillStyle = colour('muted')
  context.strokeStyle = colour('border')
  context.lineWidth = 1
  const span = scene.to - scene.from
  const step = niceStep(span, (scene.width - headPixels) / 110)
  for (let time = Math.ceil(scene.from / step) * step; time <= scene.to; time += step) {
    const x = Math.round(xOf(scene, time)) + 0.5
    if (x < headPixels) continue
    context.beginPath()
    context.moveTo(x, rulerPixels - 6)
    context.lineTo(x, scene.height)
    context.stroke()
    context.fillText(duration(time), x + 4, rulerPixels - 8)
  }
  for (const mark of scene.steps) {
    const left = Math.max(headPixels, xOf(scene, mark.start))
    const right = Math.min(scene.width, xOf(scene, mark.end))
    if (right - left < 1) continue
    context.fillStyle = colour('select')
    context.fillRect(left, 2, right - left - 1, 16)
    if (right - left > 40) {
      context.fillStyle = colour('text')
      context.fillText(shorten(`step ${mark.step}`, Math.floor((right - left - 8) / 7)), left + 4, 14)
    }
  }
}

function drawLane(context: CanvasRenderingContext2D, scene: Scene, lane: Lane, store: TimelineStore, palette: Palette): void {
  const data = store.data
  if (!data || !lane.track) return
  const top = rulerPixels + lane.y - scene.scroll + laneGap / 2
  const pixelsPerNs = (scene.width - headPixels) / (scene.to - scene.from)
  for (const row of store.rowsOf(lane.track.track)) {
    if (row.depth >= lane.depth) continue
    const y = top + row.depth * slicePixels
    let lastX = -1
    for (let i = firstAfter(data, row, scene.from); i < row.last; ++i) {
      const start = data.starts[i] ?? 0
      if (start > scene.to) break
      const left = Math.max(headPixels, headPixels + (start - scene.from) * pixelsPerNs)
      const right = headPixels + ((data.ends[i] ?? 0) - scene.from) * pixelsPerNs
      const width = Math.max(1, Math.min(right, scene.width) - left)
      // Slices closer than a pixel would paint over each other; the first stands for them.
      if (width <= 1 && left - lastX < 0.5) continue
      lastX = left
      const slice = data.slices[i] ?? 0
      const name = data.names[i] ?? 0
      const dim = scene.hits !== null && !scene.hits.has(slice)
      context.globalAlpha = dim ? 0.25 : 1
      context.fillStyle = palette.fill(data.colours[i] ?? 0, name)
      context.fillRect(left, y, width > 3 ? width - 0.5 : width, slicePixels - 1)
      if (slice === scene.selected) {
        context.strokeStyle = colour('text')
        context.lineWidth = 2
        context.strokeRect(left + 1, y + 1, Math.max(1, width - 2), slicePixels - 3)
      }
      if (width >= 24) {
        const text = store.name(name)
        if (text) {
          context.fillStyle = palette.text
          context.fillText(shorten(text, Math.floor((width - 6) / 6.4)), left + 3, y + 11.5)
        }
      }
    }
  }
  context.globalAlpha = 1
}

function drawHeads(context: CanvasRenderingContext2D, scene: Scene): void {
  context.fillStyle = colour('card')
  context.fillRect(0, rulerPixels, headPixels, scene.height)
  context.strokeStyle = colour('border')
  context.lineWidth = 1
  context.beginPath()
  context.moveTo(headPixels + 0.5, 0)
  context.lineTo(headPixels + 0.5, scene.height)
  context.moveTo(0, rulerPixels + 0.5)
  context.lineTo(scene.width, rulerPixels + 0.5)
  context.stroke()
  for (const lane of scene.lanes) {
    const y = rulerPixels + lane.y - scene.scroll
    if (y > scene.height || y + lane.height < rulerPixels) continue
    context.save()
    context.beginPath()
    context.rect(0, rulerPixels, headPixels, scene.height)
    context.clip()
    if (lane.kind === 'group') {
      context.fillStyle = colour('hover')
      context.fillRect(0, y, headPixels, groupPixels)
      context.fillStyle = colour('text')
      context.font = `600 12px system-ui, sans-serif`
      context.fillText(`${lane.collapsed ? '▸' : '▾'} ${lane.label}`, 8, y + 16)
      context.font = `12px system-ui, sans-serif`
    } else {
      const track = lane.track
      const more = track && track.depth > 1 ? (lane.collapsed ? '▸ ' : track.depth > lane.depth ? '▹ ' : '▾ ') : ''
      context.fillStyle = colour('text')
      context.fillText(more + shorten(lane.label, 30), 16, y + 14)
    }
    context.strokeStyle = colour('border')
    context.beginPath()
    context.moveTo(0, y + lane.height - 0.5)
    context.lineTo(headPixels, y + lane.height - 0.5)
    context.stroke()
    context.restore()
  }
}

export function draw(context: CanvasRenderingContext2D, scene: Scene, store: TimelineStore, palette: Palette): void {
  const ratio = devicePixelRatio || 1
  context.setTransform(ratio, 0, 0, ratio, 0, 0)
  context.font = '12px system-ui, sans-serif'
  context.fillStyle = colour('page')
  context.fillRect(0, 0, scene.width, scene.height)
  drawRuler(context, scene)
  context.save()
  context.beginPath()
  context.rect(headPixels, rulerPixels, scene.width - headPixels, scene.height - rulerPixels)
  context.clip()
  context.font = '11px system-ui, sans-serif'
  for (const lane of scene.lanes) {
    const y = rulerPixels + lane.y - scene.scroll
    if (y > scene.height || y + lane.height < rulerPixels) continue
    if (lane.kind === 'group') {
      context.fillStyle = colour('hover')
      context.fillRect(headPixels, y, scene.width, groupPixels)
    } else {
      drawLane(context, scene, lane, store, palette)
    }
  }
  if (scene.range) {
    const left = xOf(scene, Math.min(scene.range.from, scene.range.to))
    const right = xOf(scene, Math.max(scene.range.from, scene.range.to))
    context.fillStyle = colour('computing')
    context.globalAlpha = 0.12
    context.fillRect(left, rulerPixels, right - left, scene.height)
    context.globalAlpha = 1
    context.fillRect(left, rulerPixels, 1, scene.height)
    context.fillRect(right, rulerPixels, 1, scene.height)
  }
  for (const mark of scene.marks) {
    context.fillStyle = colour('bad')
    context.fillRect(xOf(scene, mark), rulerPixels, 1.5, scene.height)
  }
  context.restore()
  context.font = '12px system-ui, sans-serif'
  drawHeads(context, scene)
}

// What lies under a point of the canvas.
export function hitTest(scene: Scene, store: TimelineStore, x: number, y: number): Hit | null {
  const data = store.data
  if (!data || x < headPixels || y < rulerPixels) return null
  const lane = scene.lanes.find((one) => y >= rulerPixels + one.y - scene.scroll && y < rulerPixels + one.y - scene.scroll + one.height)
  if (!lane?.track) return null
  const depth = Math.floor((y - (rulerPixels + lane.y - scene.scroll + laneGap / 2)) / slicePixels)
  const time = scene.from + ((x - headPixels) / (scene.width - headPixels)) * (scene.to - scene.from)
  const pixel = (scene.to - scene.from) / (scene.width - headPixels)
  for (const row of store.rowsOf(lane.track.track)) {
    if (row.depth !== depth) continue
    const i = firstAfter(data, row, time - pixel)
    if (i >= row.last) return null
    const start = data.starts[i] ?? 0
    if (start > time + pixel) return null
    return { slice: data.slices[i] ?? 0, name: data.names[i] ?? 0, start, end: data.ends[i] ?? 0, count: data.counts[i] ?? 1, lane }
  }
  return null
}

// The lane whose head is at this height, or null.
export function laneAt(scene: Scene, y: number): Lane | null {
  return scene.lanes.find((one) => y >= rulerPixels + one.y - scene.scroll && y < rulerPixels + one.y - scene.scroll + one.height) ?? null
}
