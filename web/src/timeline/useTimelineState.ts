// What the parts of the timeline page share: data, layout, what is chosen. Everything a user chooses is in the
// address; where that changes by other means, by a link or Back, the page follows it.
import { computed, onUnmounted, reactive, ref, shallowRef, watch } from 'vue'

import { listText, readList } from '../address'
import { api, type SearchHit, type SliceDetails } from '../api'
import { useNewest } from '../components/newest'
import { useLoad } from '../components/useLoad'
import { mostRows } from '../components/useTable'
import { t } from '../locale'
import { useRun } from '../runState'
import type { SliceHit } from './hit'
import { laneLabel, makeLanes, nextState, type Lane } from './lanes'
import type { Chosen } from './scene'
import { readSegment, segmentText, type ChosenSegment } from './segment'
import { useRange } from './useRange'
import { useSearch } from './useSearch'
import { useSteps } from './useSteps'
import { useView } from './useView'
import type { View } from './viewport'

// What the page keeps in the address, besides the rank and the step.
const kept = ['from', 'to', 'slice', 'segment', 'lanes', 'hide', 'levels', 'open', 'closed', 'pin', 'marks', 'range', 'q', 'y'] as const
const keptText = (values: Partial<Record<string, unknown>>): string => kept.map((name) => String(values[name] ?? '')).join(' ')

const textOf = (text: unknown): string => (typeof text === 'string' ? text : '')
const numbers = (text: unknown): number[] => (typeof text === 'string' ? text.split('_').map(Number).filter((one) => Number.isFinite(one)) : [])

export function useTimelineState() {
  const { run, info, rank, shownRank, step, stepRange, choose, route } = useRun()

  const tracks = useLoad([run], () => api.tracks(run.value))
  const computed_ = useLoad([run], () => api.lanes(run.value))
  const series = useLoad([run], () => api.series(run.value))
  const steps = useLoad([run, shownRank], (signal) => api.analysis(run.value, 'steps', { rank: shownRank.value, limit: mostRows }, signal))
  const length = computed(() => (info.value ? Number(BigInt(info.value.last_ns || 0) - BigInt(info.value.first_ns || 0)) || 1 : 1))
  const origin = computed(() => BigInt(tracks.data.value?.origin_ns ?? '0'))
  // What is worth looking at first: sources put marks long after the last work.
  const extent = computed<View>(() => ({ from: tracks.data.value?.from ?? 0, to: tracks.data.value?.to ?? length.value }))
  const problem = ref<Error | null>(null)
  const failed = (error: Error) => (problem.value = error)
  watch([computed_.error, series.error, steps.error], (errors) => errors.forEach((error) => error && failed(error)))
  function retry() {
    problem.value = null
    for (const one of [computed_, series, steps]) if (one.error.value) one.reload()
  }

  const filter = ref('')
  const hide = reactive(new Set<string>())
  const levels = ref<number | null>(null)
  const states = reactive(new Map<string, 'open' | 'closed'>())
  const pinned = reactive(new Set<string>())
  const marks = ref<number[]>([])
  const chosen = shallowRef<Chosen | null>(null)
  const details = shallowRef<SliceDetails | null>(null)
  const segment = shallowRef<ChosenSegment | null>(null)
  const segmentLane = computed(() => {
    const track = computed_.data.value?.lanes.find((one) => one.track === segment.value?.track)
    return track ? laneLabel(track) : ''
  })
  const scrollTo = ref<number | null>(null) // a track to be scrolled to
  const scroll = ref(0) // pixels
  const wantedScroll = ref<number | null>(null) // once all lanes are there

  const scopeLevels = computed(() => Math.max(0, ...(computed_.data.value?.lanes ?? []).map((lane) => lane.level ?? 0)))
  const layout = computed(() => makeLanes([...(tracks.data.value?.tracks ?? []), ...(computed_.data.value?.lanes ?? [])], series.data.value ?? [], {
    rank: rank.value, filter: filter.value.trim(), hide, levels: levels.value, states, pinned, busy: computed_.data.value?.busy ?? [], length: length.value,
    names: (section, detail) =>
      section === 'other' && detail ? detail : section === 'device' && detail === '-1' ? t('timeline.hostDevice') : t(`timeline.sections.${section}`, { n: detail }),
    rankName: (number, window) => (window ? t('timeline.rankWindow', { n: number, window }) : t('timeline.rankName', { n: number })),
  }))
  const selection = useRange(run, rank, layout, computed(() => filter.value.trim() !== '' || hide.size > 0))
  const { range } = selection
  let timer = 0
  let live = false // from begin() until the page is left, whose address is another one's then
  let query = route.query // as it was read
  let written = '' // what this page put into the address, or took from it
  // The address follows a view that moves when it rests.
  const rememberSoon = () => remember(300)
  function remember(delay = 0) {
    clearTimeout(timer)
    if (!live) return
    timer = window.setTimeout(() => {
      const ids = (state: string) => listText([...states].filter(([, one]) => one === state).map(([id]) => id))
      const values = {
        from: Math.round(motion.view.value.from), to: Math.round(motion.view.value.to), slice: chosen.value && chosen.value.slice >= 0 ? chosen.value.slice : null, segment: segment.value && segmentText(segment.value),
        lanes: filter.value, hide: [...hide].join(','), levels: levels.value, open: ids('open'), closed: ids('closed'),
        pin: listText(pinned), marks: marks.value.map(Math.round).join('_'),
        range: range.value ? `${Math.round(range.value.from)}_${Math.round(range.value.to)}` : null, q: search.text.value, y: Math.round(scroll.value) || null,
      }
      written = keptText(values)
      void choose(values, true)
    }, delay)
  }
  const motion = useView(length, rememberSoon)

  const newest = useNewest()
  async function select(slice: number | null, go = false) {
    const mine = newest.begin()
    segment.value = null
    if (slice === null) {
      chosen.value = null
      details.value = null
      return remember()
    }
    if (details.value?.place.slice !== slice) details.value = null
    try {
      const found = await api.slice(run.value, slice, mine)
      if (mine.aborted) return
      const { place } = found
      chosen.value = { slice, track: place.track, depth: place.depth, start: place.start, end: place.start + place.dur }
      details.value = found
      if (go) show(place)
    } catch (error) {
      if (mine.aborted) return
      failed(error as Error)
    }
    remember()
  }
  // Brings a slice on screen: large enough to be seen, and its lane opened.
  function show(place: { track: number; start: number; dur: number; depth?: number }) {
    const { from, to } = motion.view.value
    const long = Math.max(place.dur, 1000)
    if (place.start < from || place.start + place.dur > to || long * 60 < to - from || long > to - from)
      motion.goTo(place.start - long * 8, place.start + place.dur + long * 8)
    const lane = layout.value.ofTrack.get(place.track)
    if (lane && (lane.kind !== 'track' || (place.depth ?? 0) >= lane.rows)) states.set(lane.id, 'open')
    wantedScroll.value = null
    scrollTo.value = place.track
  }
  function pick(hit: SliceHit | null, name: string) {
    if (!hit) return void select(null)
    chosen.value = { slice: hit.slice, track: hit.track, depth: hit.depth, start: hit.start, end: hit.end }
    if (hit.slice >= 0) return void select(hit.slice)
    newest.stop()
    details.value = null
    segment.value = { name, track: hit.track, depth: hit.depth, start: hit.start, end: hit.end, count: hit.count, colour: hit.colour }
    remember()
  }

  // A range that was drawn takes the place of what was chosen before.
  function takeRange() {
    void selection.load()
    void select(null)
  }
  function clearRange() {
    selection.clear()
    remember()
  }
  function toggle(lane: Lane) {
    const next = nextState(lane, states.get(lane.id))
    if (next) states.set(lane.id, next)
    else states.delete(lane.id)
    remember()
  }
  function togglePin(lane: Lane) {
    if (!pinned.delete(lane.id)) pinned.add(lane.id)
    remember()
  }
  function mark(time: number) {
    marks.value = [...(marks.value.length > 1 ? [] : marks.value), time]
    remember()
  }
  const search = useSearch(run, rank, (hit: SearchHit) => {
    show(hit)
    void select(hit.slice).then(() => details.value?.place.slice === hit.slice && show(details.value.place))
  }, failed)
  watch([filter, levels, search.text, () => [...hide]], rememberSoon)
  const { stepMarks, showSteps, wantedSteps, stepView } = useSteps(steps, tracks, origin, motion.goTo)

  // Takes everything but the place from the address.
  function read() {
    query = route.query
    written = keptText(query)
    filter.value = textOf(query.lanes)
    levels.value = typeof query.levels === 'string' ? Number(query.levels) : null
    hide.clear()
    for (const section of readList(query.hide)) hide.add(section)
    states.clear()
    for (const state of ['open', 'closed'] as const) for (const id of readList(query[state])) states.set(id, state)
    pinned.clear()
    for (const id of readList(query.pin)) pinned.add(id)
    marks.value = numbers(query.marks).slice(0, 2)
    const [from, to] = numbers(query.range)
    selection.clear()
    if (from !== undefined && to !== undefined && to > from) range.value = { from, to }
    newest.stop()
    details.value = null
    segment.value = readSegment(query.segment)
    chosen.value = segment.value && { slice: -1, track: segment.value.track, depth: segment.value.depth, start: segment.value.start, end: segment.value.end }
    const y = Math.max(0, Number(query.y) || 0)
    wantedScroll.value = y === scroll.value ? null : y
    search.come(textOf(query.q), query.q && isOpenPlace() ? stepView : null)
  }
  // The address says neither when nor which slice.
  const isOpenPlace = () => query.to === undefined && query.slice === undefined
  // Goes to the place that the address names; also the first time, once there is something to show.
  function begin() {
    live = true
    const from = Number(query.from)
    const to = Number(query.to)
    if (query.to !== undefined && to > from) motion.show(from, to)
    else motion.show(extent.value.from, extent.value.to)
    if (typeof query.slice === 'string') void select(Number(query.slice), query.to === undefined)
    if (range.value) void selection.load()
    const asked = query
    if (isOpenPlace())
      void stepView().then(() => {
        const wanted = wantedSteps()
        if (asked === query && wanted) showSteps(wanted)
      })
  }
  read()
  const path = route.path
  watch([() => keptText(route.query), step, stepRange], ([text, stepNow, rangeNow], [, stepBefore, rangeBefore]) => {
    if (route.path !== path) return // another page's
    if (text !== written) {
      clearTimeout(timer)
      read()
      if (live) begin()
    } else if (stepNow !== stepBefore) {
      if (stepNow !== null) showSteps({ first: stepNow, last: stepNow })
    } else if (rangeNow && rangeNow !== rangeBefore) {
      showSteps(rangeNow)
    }
  })
  onUnmounted(() => {
    live = false
    clearTimeout(timer)
  })
  return {
    run, info, rank, step, tracks, lanes: computed_, series, length, extent, problem, failed, retry, filter, hide, levels, scopeLevels, states, pinned, marks, range, selection,
    chosen, details, segment, segmentLane, layout, stepMarks, motion, search, scrollTo, scroll, wantedScroll, select, show, pick, takeRange, clearRange, toggle, togglePin, mark,
    remember, begin,
  }
}
export type TimelineState = ReturnType<typeof useTimelineState>
