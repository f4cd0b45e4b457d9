// The keys of the timeline; KeyHelp lists them. Everything the pointer does can be done with them.
import { onMounted, onUnmounted } from 'vue'

import { keysOfDialog } from '../frame/keyHelp'
import { canPin } from './drawHeads'
import { sliceNear } from './hit'
import type { Lane } from './lanes'
import { visibleLanes, type Scene } from './scene'
import type { TimelineStore } from './store'
import type { TimelineState } from './useTimelineState'

export interface KeyTarget {
  state: TimelineState
  canvas: () => HTMLElement | null
  scene: () => Scene
  store: () => TimelineStore | null
  pointer: () => { time: number; lane: Lane | null } | null // over the lanes
  fit: () => void
  redraw: () => void
  search: () => void
}

const moving = new Set(['w', 'a', 's', 'd'])

export function useKeys(target: KeyTarget): void {
  const { state } = target
  const { motion } = state

  function neighbour(slice: number | null | undefined) {
    if (slice !== null && slice !== undefined) void state.select(slice, true)
  }
  const chosenLane = (): Lane | null => {
    const track = state.chosen.value?.track
    return (track === undefined ? null : state.layout.value.ofTrack.get(track)) ?? target.pointer()?.lane ?? null
  }
  // The group that a lane is in; ranks and groups are their own.
  function groupOf(lane: Lane): Lane {
    const { lanes } = state.layout.value
    if (lane.kind === 'group' || lane.kind === 'rank' || lane.pinned) return lane
    return lanes.slice(0, lanes.indexOf(lane)).reverse().find((one) => one.kind === 'group') ?? lane
  }
  function collapse(whole: boolean) {
    const lane = chosenLane()
    if (lane) state.toggle(whole || (lane.track?.depth ?? 1) <= 1 ? groupOf(lane) : lane)
  }
  function pin() {
    const lane = chosenLane()
    if (lane && canPin(lane)) state.togglePin(lane)
  }
  function mark() {
    const { from, to } = motion.view.value
    const start = state.chosen.value?.start
    state.mark(target.pointer()?.time ?? (start !== undefined && start >= from && start <= to ? start : (from + to) / 2))
  }
  // Chooses what a lane has nearest to a time; a lane that comes into sight first has it soon.
  function pickIn(lane: Lane, time: number): boolean {
    const store = target.store()
    const hit = store && sliceNear(target.scene(), store, lane, time)
    if (hit) state.pick(hit, store.names.get(hit.name))
    return Boolean(hit)
  }
  function toLane(by: 1 | -1) {
    const tracks = state.layout.value.lanes.filter((lane) => lane.track)
    const at = tracks.findIndex((lane) => lane.track?.track === state.chosen.value?.track)
    const lane = tracks[at + by]
    if (at < 0 || !lane?.track) return
    pickIn(lane, state.chosen.value?.start ?? 0)
    state.scrollTo.value = lane.track.track
  }
  // What is chosen fills the view; without anything, something on screen is chosen.
  function enter() {
    const { from, to } = motion.view.value
    const { chosen } = state
    if (!chosen.value) return void visibleLanes(target.scene()).some((lane) => pickIn(lane, (from + to) / 2))
    const { start, end } = chosen.value
    motion.goTo(start - (end - start) * 0.3, end + (end - start) * 0.3)
  }

  function key(event: KeyboardEvent) {
    const on = event.target as HTMLElement
    if (/^(INPUT|TEXTAREA|SELECT)$/.test(on.tagName)) {
      if (event.key === 'Escape') on.blur()
      return
    }
    if (event.ctrlKey || event.metaKey || event.altKey || keysOfDialog()) return
    const name = event.key.length === 1 ? event.key.toLowerCase() : event.key
    if (name === 'Enter' && on !== target.canvas()) return // of a button, a link or a row
    const actions: Record<string, () => void> = {
      f: target.fit, 0: () => motion.goTo(state.extent.value.from, state.extent.value.to), z: motion.back, m: mark, p: pin, c: () => collapse(event.shiftKey), '/': target.search,
      '[': () => void state.search.previous(), ']': () => void state.search.next(), Enter: enter,
      ArrowLeft: () => neighbour(state.details.value?.previous), ArrowRight: () => neighbour(state.details.value?.next),
      ArrowUp: () => (event.shiftKey ? toLane(-1) : neighbour(state.details.value?.parents[0]?.slice)),
      Escape: () => { state.marks.value = []; state.clearRange(); void state.select(null) },
    }
    if (event.shiftKey) actions.ArrowDown = () => toLane(1)
    const action = moving.has(name) ? () => motion.hold(name) : actions[name]
    if (!action) return
    event.preventDefault()
    action()
    target.redraw()
  }
  const keyUp = (event: KeyboardEvent) => motion.release(event.key.toLowerCase())
  const letGo = () => motion.release()
  onMounted(() => {
    addEventListener('keydown', key)
    addEventListener('keyup', keyUp)
    addEventListener('blur', letGo)
  })
  onUnmounted(() => {
    removeEventListener('keydown', key)
    removeEventListener('keyup', keyUp)
    removeEventListener('blur', letGo)
  })
}
