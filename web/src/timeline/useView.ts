// The part of the run on screen: moved by keys that are held down, by the wheel, by dragging; with a way back.
import { onUnmounted, shallowRef, type Ref } from 'vue'

import { clampView, zoomed, type View } from './viewport'

const zoomPerSecond = 3.2 // e-folds
const panPerSecond = 1.1 // widths
const mostUndo = 200

export function useView(length: Ref<number>, changed: () => void) {
  const view = shallowRef<View>({ from: 0, to: 1 })
  const undo: View[] = []
  const held = new Set<string>()
  let pointer = 0.5 // share of the width
  let last = 0
  let frame = 0

  function show(from: number, to: number) {
    view.value = clampView(from, to, length.value)
    changed()
  }
  // Goes somewhere else; Z returns.
  function goTo(from: number, to: number) {
    undo.push(view.value)
    if (undo.length > mostUndo) undo.shift()
    show(from, to)
  }
  function back() {
    const before = undo.pop()
    if (before) show(before.from, before.to)
  }
  function zoom(factor: number, share: number) {
    const next = zoomed(view.value, factor, share)
    show(next.from, next.to)
  }
  function pan(widths: number) {
    const span = view.value.to - view.value.from
    show(view.value.from + widths * span, view.value.to + widths * span)
  }

  function move(now: number) {
    const seconds = Math.min(0.05, Math.max(0, (now - last) / 1000))
    last = now
    const zooming = (held.has('s') ? 1 : 0) - (held.has('w') ? 1 : 0)
    const panning = (held.has('d') ? 1 : 0) - (held.has('a') ? 1 : 0)
    if (zooming) zoom(Math.exp(zooming * zoomPerSecond * seconds), pointer)
    if (panning) pan(panning * panPerSecond * seconds)
    frame = held.size ? requestAnimationFrame(move) : 0
  }
  function hold(key: string) {
    if (held.has(key)) return
    if (held.size === 0) undo.push(view.value)
    held.add(key)
    // A short press moves too.
    if (!frame) {
      last = performance.now() - 16
      frame = requestAnimationFrame(move)
    }
  }
  function release(key?: string) {
    if (key === undefined) held.clear()
    else held.delete(key)
  }
  onUnmounted(() => cancelAnimationFrame(frame))
  return { view, show, goTo, back, zoom, pan, hold, release, point: (share: number) => (pointer = Math.min(1, Math.max(0, share))) }
}
