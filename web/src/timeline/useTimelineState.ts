// What the parts of the timeline page share: data, layout, what is chosen. Everything a user chooses is in the
// address; where that changes by other means, by a link or Back, the page follows it.
import { computed, reactive, ref, shallowRef, watch } from 'vue'

import { api, type SearchHit, type SliceDetails } from '../api'
import { useNewest } from '../components/newest'
import { useLoad } from '../components/useLoad'
import { mostRows } from '../components/useTable'
import { t } from '../locale'
import { useRun } from '../runState'
import type { SliceHit } from './hit'
import { laneLabel, makeLanes, nextState, type Lane } from './lanes'
import type { Chosen } from './scene'
import type { ChosenSegment } from './segment'
import { useRange } from './useRange'
import { useSearch } from './useSearch'
import { useSteps } from './useSteps'
import { useTimelineAddress } from './useTimelineAddress'
import { useView } from './useView'
import type { View } from './viewport'

export function useTimelineState() {
  const { run, info, rank, shownRank, step, stepRange, route } = useRun()

  const tracks = useLoad([run], () => api.tracks(run.value))
  const computedLanes = useLoad([run], () => api.lanes(run.value))
  const series = useLoad([run], () => api.series(run.value))
  const steps = useLoad([run, shownRank], (signal) => api.analysis(run.value, 'steps', { rank: shownRank.value, limit: mostRows }, signal))
  const length = computed(() => (info.value ? Number(BigInt(info.value.last_ns || 0) - BigInt(info.value.first_ns || 0)) || 1 : 1))
  const origin = computed(() => BigInt(tracks.data.value?.origin_ns ?? '0'))
  // The whole run as it is shown and as shares are of: without marks, which sources put long after the last work.
  const extent = computed<View>(() => ({ from: tracks.data.value?.from ?? 0, to: tracks.data.value?.to ?? length.value }))
  const problem = ref<Error | null>(null)
  const failed = (error: Error) => (problem.value = error)
  watch([computedLanes.error, series.error, steps.error], (errors) => errors.forEach((error) => error && failed(error)))
  function retry() {
    problem.value = null
    for (const one of [computedLanes, series, steps]) if (one.error.value) one.reload()
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
    const track = computedLanes.data.value?.lanes.find((one) => one.track === segment.value?.track)
    return track ? laneLabel(track) : ''
  })
  const scrollTo = ref<number | null>(null) // a track to be scrolled to
  const scroll = ref(0) // pixels
  const wantedScroll = ref<number | null>(null) // once all lanes are there

  const scopeLevels = computed(() => Math.max(0, ...(computedLanes.data.value?.lanes ?? []).map((lane) => lane.level ?? 0)))
  const layout = computed(() => makeLanes([...(tracks.data.value?.tracks ?? []), ...(computedLanes.data.value?.lanes ?? [])], series.data.value ?? [], {
    rank: rank.value, filter: filter.value.trim(), hide, levels: levels.value, states, pinned, busy: computedLanes.data.value?.busy ?? [], length: length.value, whole: extent.value.to - extent.value.from,
    names: (section, detail) =>
      section === 'other' && detail ? detail : section === 'device' && detail === '-1' ? t('timeline.hostDevice') : t(`timeline.sections.${section}`, { n: detail }),
    stepHint: (device) => t(device === -1 ? 'timeline.stepsOf.hostHint' : 'timeline.stepsOf.deviceHint'),
    rankName: (number, window) => (window ? t('timeline.rankWindow', { n: number, window }) : t('timeline.rankName', { n: number })),
  }))
  // Whose steps the ruler shows.
  const stepsOf = computed(() => {
    const lane = computedLanes.data.value?.lanes.find((one) => one.kind === 'step' && one.rank === shownRank.value)
    return { device: lane !== undefined && lane.device !== -1, rank: (info.value?.ranks.length ?? 0) > 1 ? shownRank.value : null }
  })
  const selection = useRange(run, rank, layout, computed(() => filter.value.trim() !== '' || hide.size > 0))
  const { range } = selection
  const address = useTimelineAddress(() => ({ filter, hide, levels, states, pinned, marks, range, chosen, segment, scroll, wantedScroll, view: motion.view, search: search.text }))
  const { remember, rememberSoon, rememberStep } = address
  const motion = useView(length, rememberSoon)

  const newest = useNewest()
  // `isStep`: one that Back returns from; not where the address itself names the slice.
  async function select(slice: number | null, go = false, isStep = true) {
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
    if (isStep) rememberStep()
    else remember()
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
    rememberStep()
    if (hit.slice >= 0) return void select(hit.slice, false, false)
    newest.stop()
    details.value = null
    segment.value = { name, track: hit.track, depth: hit.depth, start: hit.start, end: hit.end, count: hit.count, colour: hit.colour }
  }

  // A range that was drawn takes the place of what was chosen before.
  function takeRange() {
    void selection.load()
    void select(null)
    rememberStep()
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
  const { stepMarks, showWanted, stepPlace, isOther } = useSteps(steps, tracks, origin, motion.goTo)

  function read() {
    newest.stop()
    details.value = null
    selection.clear()
    address.read()
    const { search: text, isOpen } = address.place()
    search.come(text, text && isOpen ? stepPlace : null)
  }
  // Goes to the place that the address names; also the first time, once there is something to show.
  function begin() {
    address.begin()
    const place = address.place()
    const { from, to } = place.view ?? extent.value
    motion.show(from, to)
    if (place.slice !== null) void select(place.slice, !place.hasView, false)
    if (range.value) void selection.load()
    if (place.isOpen) void showWanted(() => place === address.place())
  }
  read()
  const path = route.path
  watch([address.text, step, stepRange] as const, ([text, ...now], [, ...before]) => {
    if (route.path !== path) return // another page's
    if (!address.isOwn(text)) {
      read()
      if (address.isLive()) begin()
    } else if (isOther(now, before)) {
      void showWanted()
    }
  })
  return {
    run, info, rank, step, tracks, lanes: computedLanes, series, length, extent, problem, failed, retry, filter, hide, levels, scopeLevels, states, pinned, marks, range, selection,
    chosen, details, segment, segmentLane, layout, stepMarks, stepsOf, motion, search, scrollTo, scroll, wantedScroll, select, show, pick, takeRange, clearRange, toggle, togglePin, mark,
    remember, begin,
  }
}
export type TimelineState = ReturnType<typeof useTimelineState>
