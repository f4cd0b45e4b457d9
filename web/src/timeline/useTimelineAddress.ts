// What the timeline keeps in the address, besides the rank and the steps: read from there, and written when it rests.
import { onUnmounted, type Ref } from 'vue'

import { listText, readList } from '../address'
import { leaving } from '../router'
import { useRun } from '../runState'
import type { Chosen } from './scene'
import { readSegment, segmentText, type ChosenSegment } from './segment'
import type { View } from './viewport'

const names = ['from', 'to', 'slice', 'segment', 'lanes', 'hide', 'levels', 'open', 'closed', 'pin', 'marks', 'range', 'q', 'y'] as const
const restMs = 300

export interface Kept {
  filter: Ref<string>
  hide: Set<string>
  levels: Ref<number | null>
  states: Map<string, 'open' | 'closed'>
  pinned: Set<string>
  marks: Ref<number[]>
  range: Ref<View | null>
  chosen: Ref<Chosen | null>
  segment: Ref<ChosenSegment | null>
  scroll: Ref<number>
  wantedScroll: Ref<number | null>
  view: Ref<View>
  search: Ref<string>
}

// Where the address leads to.
export interface NamedPlace {
  view: View | null
  slice: number | null
  search: string
  isOpen: boolean // it says neither when nor which slice
  hasView: boolean // also one that makes no sense
}

const keptText = (values: Partial<Record<string, unknown>>): string => names.map((name) => String(values[name] ?? '')).join(' ')
const textOf = (text: unknown): string => (typeof text === 'string' ? text : '')
const numbers = (text: unknown): number[] => (typeof text === 'string' ? text.split('_').map(Number).filter((one) => Number.isFinite(one)) : [])
const span = ([from, to]: (number | undefined)[]): View | null => (from !== undefined && to !== undefined && to > from ? { from, to } : null)
function refill<T>(set: Set<T>, values: T[]) {
  set.clear()
  for (const value of values) set.add(value)
}

export function useTimelineAddress(kept: () => Kept) {
  const { choose, route } = useRun()
  let timer = 0
  let isStep = false // what is to be written is one that Back returns from
  let live = false // from the first view until the page is left, whose address is another one's then
  let written = '' // what this page put into the address, or took from it
  let place: NamedPlace = { view: null, slice: null, search: '', isOpen: true, hasView: false }

  function values() {
    const { filter, hide, levels, states, pinned, marks, range, chosen, segment, scroll, view, search } = kept()
    const ids = (state: string) => listText([...states].filter(([, one]) => one === state).map(([id]) => id))
    const rounded = ({ from, to }: View) => [from, to].map(Math.round)
    const [from, to] = rounded(view.value)
    return {
      from, to, slice: chosen.value && chosen.value.slice >= 0 ? chosen.value.slice : null, segment: segment.value && segmentText(segment.value),
      lanes: filter.value, hide: [...hide].join(','), levels: levels.value, open: ids('open'), closed: ids('closed'), pin: listText(pinned),
      marks: marks.value.map(Math.round).join('_'), range: range.value && rounded(range.value).join('_'), q: search.value, y: Math.round(scroll.value) || null,
    }
  }
  // What somebody chose is a step of the history, what moves all the time is not.
  function remember(delay = 0, step = false) {
    clearTimeout(timer)
    if (!live) return
    isStep ||= step
    timer = window.setTimeout(() => {
      const now = values()
      const replace = !isStep || leaving() || keptText(now) === keptText(route.query)
      isStep = false
      written = keptText(now)
      void choose(now, replace)
    }, isStep ? 0 : delay)
  }
  // Takes everything but the place from the address; what was to be written is not any more.
  function read() {
    clearTimeout(timer)
    isStep = false
    const { query } = route
    const { filter, hide, levels, states, pinned, marks, range, chosen, segment, scroll, wantedScroll } = kept()
    written = keptText(query)
    filter.value = textOf(query.lanes)
    levels.value = typeof query.levels === 'string' ? Number(query.levels) : null
    refill(hide, readList(query.hide))
    states.clear()
    for (const state of ['open', 'closed'] as const) for (const id of readList(query[state])) states.set(id, state)
    refill(pinned, readList(query.pin))
    marks.value = numbers(query.marks).slice(0, 2)
    range.value = span(numbers(query.range))
    segment.value = readSegment(query.segment)
    chosen.value = segment.value && { slice: -1, track: segment.value.track, depth: segment.value.depth, start: segment.value.start, end: segment.value.end }
    const y = Math.max(0, Number(query.y) || 0)
    wantedScroll.value = y === scroll.value ? null : y
    place = {
      view: query.to === undefined ? null : span([Number(query.from), Number(query.to)]), slice: typeof query.slice === 'string' ? Number(query.slice) : null,
      search: textOf(query.q), isOpen: query.to === undefined && query.slice === undefined, hasView: query.to !== undefined,
    }
  }
  onUnmounted(() => {
    live = false
    clearTimeout(timer)
  })
  return {
    read, remember,
    rememberSoon: () => remember(restMs), // of a view that moves: when it rests
    rememberStep: () => remember(0, true),
    begin: () => (live = true),
    isLive: () => live,
    place: () => place,
    text: () => keptText(route.query),
    isOwn: (text: string) => text === written,
  }
}
