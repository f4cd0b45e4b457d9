// A frame of the timeline: lanes, ruler, heads, arrows, marks. Only what is on screen, in device pixels.
import { byUnit, duration } from '../format'
import { drawArrows } from './drawArrows'
import { drawHeads } from './drawHeads'
import { slicePixels, type Lane } from './lanes'
import type { Palette } from './palette'
import { makeRuler, type Ruler } from './ruler'
import { headPixels, laneTop, rowTop, rulerPixels, scrollTop, visibleLanes, xOf, type Scene } from './scene'
import { fonts, type Tools } from './tools'
import type { View } from './viewport'

function paintLane(scene: Scene, lane: Lane, tools: Tools, level: number): void {
  const { store, palette, painter } = tools
  const pieces = (id: number) => store.slices.pieces(id, scene.view, level, scene.length)
  if (lane.kind === 'track' && lane.track) {
    const parts = pieces(lane.track.track)
    if (parts.length) for (let depth = 0; depth < lane.rows; ++depth) painter.row(scene, lane, depth, parts, palette)
  } else if (lane.kind === 'curve' && lane.series) {
    const high = Math.max(...lane.series.map((one) => one.high))
    const low = Math.min(0, ...lane.series.map((one) => one.low))
    lane.series.forEach((one, i) => {
      const hue = one.kind === 'memory' ? 'memory' : one.kind === 'queue' ? 'data' : 'host'
      const parts = store.curves.pieces(one.series, scene.view, level, scene.length)
      const line = i === 0 ? palette.plainPixel(hue) : palette.softPixel(hue, 0.6)
      painter.curve(scene, lane, parts, low, high, one.last, line, i === 0 ? palette.softPixel(hue, 0.22) : null)
    })
  } else {
    painter.band(scene, lane, palette.plainPixel('hover'))
    if (lane.strip.length) painter.strip(scene, lane, lane.strip.map(pieces), palette.plainPixel('hover'), palette)
  }
}

// What the ruler shows, at the left of it.
function drawRulerHead(context: CanvasRenderingContext2D, scene: Scene, tools: Tools, ruler: Ruler): void {
  context.font = fonts.lane
  context.textBaseline = 'alphabetic'
  context.fillStyle = tools.palette.css('muted')
  const lines: [string, number][] = [[scene.steps.length ? tools.words.steps(scene.stepsOf) : '', 14], [ruler.base && `${ruler.base} +`, rulerPixels - 8]]
  for (const [text, y] of lines) {
    const fitted = tools.text.fit(text, headPixels - 16)
    context.fillText(fitted, headPixels - 8 - context.measureText(fitted).width, y)
  }
}

function drawRuler(context: CanvasRenderingContext2D, scene: Scene, tools: Tools, ruler: Ruler): void {
  const { palette } = tools
  context.fillStyle = palette.css('card')
  context.fillRect(0, 0, scene.width, rulerPixels)
  drawRulerHead(context, scene, tools, ruler)
  context.save()
  context.beginPath()
  context.rect(headPixels, 0, scene.width - headPixels, rulerPixels)
  context.clip()
  context.font = fonts.lane
  context.textBaseline = 'alphabetic'
  let lastText = -Infinity
  for (const mark of scene.steps) {
    if (mark.end < scene.view.from || mark.start > scene.view.to) continue
    const left = Math.max(headPixels, xOf(scene, mark.start))
    const right = Math.min(scene.width, xOf(scene, mark.end))
    if (right - left < 1) continue
    context.fillStyle = palette.css(mark.step === scene.step ? 'computing' : 'select')
    context.fillRect(Math.round(left), 2, Math.max(1, Math.round(right) - Math.round(left) - 1), 16)
    const long = `${tools.words.step} ${mark.step}`
    const text = [long, String(mark.step)].find((one) => tools.text.fit(one, right - left - 8) === one)
    if (text && left > lastText) {
      context.fillStyle = palette.css(mark.step === scene.step ? 'card' : 'text')
      context.fillText(text, Math.round(left) + 4, 14)
      lastText = left
    }
  }
  const span = scene.range && rangeSpan(context, scene, scene.range)
  context.font = fonts.lane
  for (const { time, text } of ruler.marks) {
    const x = Math.round(xOf(scene, time))
    context.fillStyle = palette.css('border')
    context.fillRect(x, rulerPixels - 8, 1, 8)
    // Whole or not at all: half a number reads as another one.
    const end = x + 4 + context.measureText(text).width
    const isCovered = span !== null && x < span.x + span.width + 2 && end > span.x - 2
    if (end > scene.width - 2 || isCovered) continue
    context.fillStyle = palette.css('muted')
    context.fillText(text, x + 4, rulerPixels - 8)
  }
  // Where the search finds something, however short it is.
  context.fillStyle = palette.css('bad')
  for (const time of scene.hitTimes) {
    if (time >= scene.view.from && time <= scene.view.to) context.fillRect(Math.round(xOf(scene, time)) - 1, rulerPixels - 5, 2, 4)
  }
  context.restore()
}

function drawLabels(context: CanvasRenderingContext2D, scene: Scene, tools: Tools): void {
  context.font = fonts.lane
  context.textBaseline = 'middle'
  const top = scrollTop(scene)
  for (const label of tools.painter.labels) {
    const name = tools.store.names.get(label.name)
    if (!name) continue
    const text = tools.text.fit(name, label.width - 7)
    if (!text) continue
    context.fillStyle = label.dim ? tools.palette.css('muted') : tools.palette.ink(label.colour)
    // A row that is half below the pinned lanes is clipped by what is drawn over it; text must not stand out.
    if (label.y < top && label.y + slicePixels > top) continue
    context.fillText(text, Math.round(label.x) + 3, Math.round(label.y) + slicePixels / 2)
  }
}

function drawCurveScales(context: CanvasRenderingContext2D, scene: Scene, lanes: Lane[], tools: Tools): void {
  context.font = fonts.lane
  context.textBaseline = 'top'
  for (const lane of lanes) {
    const first = lane.series?.[0]
    if (lane.kind !== 'curve' || !first) continue
    const y = laneTop(scene, lane)
    if (!lane.pinned && y < scrollTop(scene) - 2) continue
    const text = byUnit(Math.max(...(lane.series ?? []).map((one) => one.high)), first.unit)
    const width = context.measureText(text).width
    context.fillStyle = tools.palette.css('page')
    context.globalAlpha = 0.75
    context.fillRect(headPixels + 2, y + 3, width + 4, 12)
    context.globalAlpha = 1
    context.fillStyle = tools.palette.css('muted')
    context.fillText(text, headPixels + 4, y + 4)
  }
}

function drawChosen(context: CanvasRenderingContext2D, scene: Scene, palette: Palette): void {
  const { chosen } = scene
  const lane = chosen && scene.layout.ofTrack.get(chosen.track)
  if (!chosen || lane?.kind !== 'track' || chosen.depth >= lane.rows) return
  const y = rowTop(scene, lane, chosen.depth)
  const left = Math.max(headPixels - 2, Math.round(xOf(scene, chosen.start)))
  const right = Math.min(scene.width + 2, Math.round(xOf(scene, chosen.end)))
  context.strokeStyle = palette.css('text')
  context.lineWidth = 2
  context.strokeRect(left, y - 1, Math.max(2, right - left), slicePixels + 1)
}

function drawRange(context: CanvasRenderingContext2D, scene: Scene, palette: Palette): void {
  const { range } = scene
  if (!range) return
  const span = rangeSpan(context, scene, range)
  const { left, right } = span
  context.fillStyle = palette.css('computing')
  context.globalAlpha = 0.12
  context.fillRect(left, rulerPixels, right - left, scene.height)
  context.globalAlpha = 1
  context.fillRect(left, 20, 1, scene.height)
  context.fillRect(right, 20, 1, scene.height)
  drawSpan(context, span, 21, palette.css('computing'), palette)
}

// A length between two places of the ruler, and where its text stands.
interface Span {
  left: number
  right: number
  text: string
  x: number
  width: number
}
function spanOf(context: CanvasRenderingContext2D, scene: Scene, left: number, right: number, ns: number): Span {
  const text = duration(ns)
  context.font = fonts.group
  const width = context.measureText(text).width + 10
  const middle = Math.min(Math.max((left + right) / 2, headPixels + width / 2), scene.width - width / 2)
  return { left, right, text, x: Math.round(middle - width / 2), width }
}
function rangeSpan(context: CanvasRenderingContext2D, scene: Scene, range: View): Span {
  const left = Math.round(xOf(scene, Math.min(range.from, range.to)))
  const right = Math.round(xOf(scene, Math.max(range.from, range.to)))
  return spanOf(context, scene, left, right, Math.abs(range.to - range.from))
}
// The line is below the texts of its row.
function drawSpan(context: CanvasRenderingContext2D, { left, right, text, x, width }: Span, y: number, css: string, palette: Palette): void {
  context.font = fonts.group
  context.textBaseline = 'alphabetic'
  context.fillStyle = css
  context.fillRect(left, y + 16, right - left, 1)
  context.beginPath()
  context.roundRect(x, y, width, 17, 4)
  context.fill()
  context.fillStyle = palette.css('card')
  context.fillText(text, x + 5, y + 13)
}

function drawMarks(context: CanvasRenderingContext2D, scene: Scene, palette: Palette): void {
  const [first, second] = scene.marks
  for (const mark of scene.marks) {
    const x = Math.round(xOf(scene, mark))
    context.fillStyle = palette.css('bad')
    context.fillRect(x, 2, 1, scene.height)
    context.beginPath()
    context.moveTo(x - 4, 0)
    context.lineTo(x + 5, 0)
    context.lineTo(x + 0.5, 7)
    context.fill()
  }
  if (first !== undefined && second !== undefined) {
    const a = Math.round(xOf(scene, Math.min(first, second)))
    const b = Math.round(xOf(scene, Math.max(first, second)))
    if (b > headPixels && a < scene.width)
      drawSpan(context, spanOf(context, scene, Math.max(a, headPixels), Math.min(b, scene.width), Math.abs(second - first)), 2, palette.css('bad'), palette)
  }
}

export function draw(context: CanvasRenderingContext2D, scene: Scene, tools: Tools): void {
  const { palette, painter, store } = tools
  const ratio = devicePixelRatio || 1
  const level = store.level(scene.view, scene.width - headPixels)
  const lanes = visibleLanes(scene)
  const ruler = makeRuler(scene.view, scene.width - headPixels)
  painter.begin(scene, palette, ratio, ruler.marks.map((mark) => xOf(scene, mark.time)))
  for (const lane of lanes) paintLane(scene, lane, tools, level)
  context.setTransform(1, 0, 0, 1, 0, 0)
  painter.end(context)
  context.setTransform(ratio, 0, 0, ratio, 0, 0)

  context.save()
  context.beginPath()
  context.rect(headPixels, rulerPixels, scene.width - headPixels, scene.height - rulerPixels)
  context.clip()
  drawLabels(context, scene, tools)
  drawCurveScales(context, scene, lanes, tools)
  if (scene.layout.pinnedHeight > 0) {
    context.fillStyle = palette.css('muted')
    context.fillRect(headPixels, scrollTop(scene) - 1, scene.width, 1)
  }
  drawChosen(context, scene, palette)
  drawArrows(context, scene, palette)
  context.restore()
  drawRuler(context, scene, tools, ruler)
  context.save()
  context.beginPath()
  context.rect(headPixels, 0, scene.width - headPixels, scene.height)
  context.clip()
  drawRange(context, scene, palette)
  drawMarks(context, scene, palette)
  context.restore()
  drawHeads(context, scene, lanes, tools)
}

