// Arrows of the chosen slice: from a call to the work it launched, from forward to backward.
import type { Palette } from './palette'
import { headPixels, placeOf, scrollTop, xOf, type Scene } from './scene'

const headLength = 7

export function drawArrows(context: CanvasRenderingContext2D, scene: Scene, palette: Palette): void {
  const bottom = scene.height - 4
  for (const arrow of scene.arrows) {
    const fromY = placeOf(scene, arrow.from.track, arrow.from.depth)
    const toY = placeOf(scene, arrow.to.track, arrow.to.depth)
    if (fromY === null || toY === null) continue
    // It leaves where the cause ends, unless the effect began before that.
    const leaves = Math.min(arrow.from.start + arrow.from.dur, Math.max(arrow.from.start, arrow.to.start))
    const x0 = clamp(xOf(scene, leaves), headPixels - 40, scene.width + 40)
    const x1 = clamp(xOf(scene, arrow.to.start), headPixels - 40, scene.width + 40)
    const y0 = clamp(fromY, scrollTop(scene) - 40, bottom + 40)
    const y1 = clamp(toY, scrollTop(scene) - 40, bottom + 40)
    const bend = Math.max(24, Math.abs(x1 - x0) / 2)
    for (const [width, css] of [[4, palette.css('card')], [1.75, palette.css(arrow.kind === 'fwdbwd' ? 'good' : 'bad')]] as const) {
      context.strokeStyle = css
      context.fillStyle = css
      context.lineWidth = width
      context.beginPath()
      context.moveTo(x0, y0)
      context.bezierCurveTo(x0 + bend, y0, x1 - bend - headLength, y1, x1 - headLength + 2, y1)
      context.stroke()
    }
    context.beginPath()
    context.moveTo(x1, y1)
    context.lineTo(x1 - headLength, y1 - 4)
    context.lineTo(x1 - headLength, y1 + 4)
    context.fill()
  }
}

const clamp = (value: number, least: number, most: number): number => Math.min(Math.max(value, least), most)
