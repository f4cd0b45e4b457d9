// The steps of the rank on the time axis, and the way to those that were chosen. With a device they are the device's, as
// in the strip and in findings: it runs behind the marks on the host.
import { computed, nextTick, watch, type Ref } from 'vue'

import type { ResultTable, SearchHit, Track } from '../api'
import type { Loaded } from '../components/useLoad'
import { records } from '../records'
import { useRun, type StepRange } from '../runState'
import type { StepMark } from './scene'
import type { View } from './viewport'

type Choice = [step: number | null, range: StepRange | null]
// Whether something else was chosen; a step that is let go leaves the view where it is, unless a range takes its place.
const isOther = ([step, range]: Choice, [stepBefore, rangeBefore]: Choice): boolean =>
  (step !== null && step !== stepBefore) || (range !== null && range !== rangeBefore)

// When the chosen steps are: `work` on the device, `host` as the program marks them.
export interface StepPlace {
  work: View
  host: View
  has: (hit: SearchHit) => boolean // whether a slice starts in them, on the host or on the device
}

const around = (views: View[]): View => ({ from: Math.min(...views.map((one) => one.from)), to: Math.max(...views.map((one) => one.to)) })

export function useSteps(steps: Loaded<ResultTable>, tracks: Loaded<{ tracks: Track[] }>, origin: Ref<bigint>, goTo: (from: number, to: number) => void) {
  const { shownRank, step, stepRange } = useRun()
  const all = computed(() => {
    const view = (start_ns: unknown, dur_ns: unknown): View => {
      const from = Number(BigInt(String(start_ns)) - origin.value)
      return { from, to: from + Number(dur_ns) }
    }
    return (steps.data.value ? records(steps.data.value) : []).filter((row) => Number(row.rank) === shownRank.value)
      .map((row) => ({ step: Number(row.step), work: view(row.work_start_ns, row.work_dur_ns), host: view(row.start_ns, row.dur_ns) }))
  })
  const stepMarks = computed<StepMark[]>(() => all.value.map((one) => ({ step: one.step, start: one.work.from, end: one.work.to })))
  const deviceTracks = computed(() => new Set((tracks.data.value?.tracks ?? []).filter((track) => track.kind === 'device' || track.kind === 'communication').map((track) => track.track)))
  const wantedSteps = (): StepRange | null => (step.value === null ? stepRange.value : { first: step.value, last: step.value })
  // When the chosen steps are, once that is known; null without any.
  async function stepPlace(): Promise<StepPlace | null> {
    await nextTick() // steps of a rank that came together with the step are on their way then
    const loading = computed(() => steps.loading.value || tracks.loading.value)
    if (wantedSteps() && loading.value) await new Promise<void>((resolve) => watch(loading, () => resolve(), { once: true }))
    const wanted = wantedSteps()
    const inside = all.value.filter((one) => wanted && one.step >= wanted.first && one.step <= wanted.last)
    if (!inside.length) return null
    const work = around(inside.map((one) => one.work))
    const host = around(inside.map((one) => one.host))
    const has = (hit: SearchHit) => {
      const { from, to } = deviceTracks.value.has(hit.track) ? work : host
      return hit.start >= from && hit.start < to
    }
    return { work, host, has }
  }
  // Steps that are chosen in the strip, or that a link to this page names, fill the view. `still`: they are wanted then.
  async function showWanted(still = () => true) {
    const place = await stepPlace()
    if (!place || !still()) return
    const { from, to } = place.work
    const margin = (to - from) * 0.05
    goTo(from - margin, to + margin)
  }
  return { stepMarks, showWanted, stepPlace, isOther }
}
