// The column at the left: names of groups and lanes, how busy they are, what can be opened, pins.
import type { Lane, Section } from './lanes'
import { headPixels, laneTop, rulerPixels, scrollTop, type Scene } from './scene'
import { fonts, type Tools } from './tools'

export const pinPixels = 20 // at the right end of a lane's head
const hueOf: Record<Section, string> = {
  device: 'computing', ai_cpu: 'ai-cpu', communication: 'comm', host: 'host', python: 'host', overlap: 'comm-overlapped', other: 'muted',
  counter: 'host', memory: 'memory', queue: 'data',
}
const hueOfKind: Record<string, string> = {
  step: 'interval', scope: 'host', merged_computation: 'computing', merged_communication: 'comm-overlapped', pure_communication: 'comm', free: 'free-edge',
}

export function canPin(lane: Lane): boolean {
  return lane.kind === 'track' || lane.kind === 'curve'
}

export function drawHeads(context: CanvasRenderingContext2D, scene: Scene, lanes: Lane[], tools: Tools): void {
  const { palette } = tools
  context.textBaseline = 'middle'
  const heads = (of: Lane[], top: number, bottom: number) => {
    context.save()
    context.beginPath()
    context.rect(0, top, headPixels, bottom - top)
    context.clip()
    context.fillStyle = palette.css('card')
    context.fillRect(0, top, headPixels, bottom - top)
    for (const lane of of) drawHead(context, scene, lane, tools)
    context.restore()
  }
  heads(lanes.filter((lane) => !lane.pinned), scrollTop(scene), scene.height)
  if (scene.layout.pinnedHeight > 0) {
    heads(lanes.filter((lane) => lane.pinned), rulerPixels, scrollTop(scene))
    context.fillStyle = palette.css('muted')
    context.fillRect(0, scrollTop(scene) - 1, headPixels, 1)
  }
  context.fillStyle = palette.css('border')
  context.fillRect(headPixels - 1, 0, 1, scene.height)
  context.fillRect(0, rulerPixels - 1, scene.width, 1)
}

function drawHead(context: CanvasRenderingContext2D, scene: Scene, lane: Lane, tools: Tools): void {
  const { palette, headText } = tools
  const y = laneTop(scene, lane)
  const left = 8 + lane.indent * 12
  const isGroup = lane.kind === 'rank' || lane.kind === 'group'
  const middle = y + (isGroup ? lane.height / 2 : 11)
  if (isGroup || lane.id === scene.hoverLane) {
    context.fillStyle = palette.css('hover')
    context.fillRect(0, y, headPixels, lane.height)
  }
  context.fillStyle = palette.css('border')
  context.fillRect(0, y + lane.height - 1, headPixels - 1, 1)
  let x = left
  if (isGroup) {
    caret(context, x, middle, lane.closed, palette.css('muted'))
    x += 14
    context.font = fonts.group
    context.fillStyle = palette.css('text')
    context.fillText(headText.fit(lane.label, (headPixels - x - 8) * 0.93), x, middle)
    return
  }
  context.fillStyle = palette.css(hueOfKind[lane.track?.kind ?? ''] ?? hueOf[lane.section ?? 'other'])
  context.fillRect(x, middle - 4, 8, 8)
  x += 14
  const more = lane.hidden > 0 ? `+${lane.hidden}` : lane.busy !== null ? `${(lane.busy * 100).toFixed(lane.busy < 0.0995 ? 1 : 0)} %` : ''
  let right = headPixels - 8
  if (canPin(lane) && (lane.pinned || lane.id === scene.hoverLane)) {
    right -= pinPixels - 4
    pin(context, headPixels - pinPixels / 2 - 4, middle, palette.css(lane.pinned ? 'computing' : 'muted'), lane.pinned)
  }
  context.font = fonts.lane
  context.fillStyle = palette.css('muted')
  if (more) {
    const width = context.measureText(more).width
    context.fillText(more, right - width, middle)
    right -= width + 6
  }
  if (lane.track && lane.track.depth > 1) {
    caret(context, x - 1, middle, lane.closed, palette.css('muted'), lane.hidden > 0 && !lane.closed)
    x += 11
  }
  context.font = fonts.head
  context.fillStyle = palette.css('text')
  context.fillText(headText.fit(lane.label, right - x), x, middle)
}

function caret(context: CanvasRenderingContext2D, x: number, y: number, closed: boolean, css: string, partly = false): void {
  context.strokeStyle = css
  context.lineWidth = 1.5
  context.beginPath()
  if (closed) {
    context.moveTo(x + 2, y - 4)
    context.lineTo(x + 6, y)
    context.lineTo(x + 2, y + 4)
  } else {
    context.moveTo(x, y - 2)
    context.lineTo(x + 4, y + 2)
    context.lineTo(x + 8, y - 2)
  }
  if (partly) {
    context.moveTo(x + 1, y + 5)
    context.lineTo(x + 7, y + 5)
  }
  context.stroke()
}

function pin(context: CanvasRenderingContext2D, x: number, y: number, css: string, filled: boolean): void {
  context.strokeStyle = css
  context.fillStyle = css
  context.lineWidth = 1.25
  context.beginPath()
  context.arc(x, y - 2, 3, 0, 2 * Math.PI)
  if (filled) context.fill()
  context.stroke()
  context.beginPath()
  context.moveTo(x, y + 1)
  context.lineTo(x, y + 6)
  context.stroke()
}
