// The steps of the rank on the time axis, and the way to those that were chosen.
import { computed, nextTick, watch, type Ref } from 'vue'

import type { ResultTable } from '../api'
import type { Loaded } from '../components/useLoad'
import { records } from '../records'
import { useRun, type StepRange } from '../runState'
import type { StepMark } from './scene'
import type { View } from './viewport'

type Choice = [step: number | null, range: StepRange | null]
// Whether something else was chosen; a step that is let go leaves the view where it is, unless a range takes its place.
const isOther = ([step, range]: Choice, [stepBefore, rangeBefore]: Choice): boolean =>
  (step !== null && step !== stepBefore) || (range !== null && range !== rangeBefore)

export function useSteps(steps: Loaded<ResultTable>, tracks: Loaded<unknown>, origin: Ref<bigint>, goTo: (from: number, to: number) => void) {
  const { shownRank, step, stepRange } = useRun()
  const stepMarks = computed<StepMark[]>(() => {
    if (!steps.data.value) return []
    return records(steps.data.value).filter((row) => Number(row.rank) === shownRank.value).map((row) => {
      const start = Number(BigInt(String(row.start_ns)) - origin.value)
      return { step: Number(row.step), start, end: start + Number(row.dur_ns) }
    })
  })
  const wantedSteps = (): StepRange | null => (step.value === null ? stepRange.value : { first: step.value, last: step.value })
  // When the chosen steps are, once that is known; null without any.
  async function stepView(): Promise<View | null> {
    await nextTick() // steps of a rank that came together with the step are on their way then
    const loading = computed(() => steps.loading.value || tracks.loading.value)
    if (wantedSteps() && loading.value) await new Promise<void>((resolve) => watch(loading, () => resolve(), { once: true }))
    const wanted = wantedSteps()
    const inside = stepMarks.value.filter((one) => wanted && one.step >= wanted.first && one.step <= wanted.last)
    return inside.length ? { from: Math.min(...inside.map((one) => one.start)), to: Math.max(...inside.map((one) => one.end)) } : null
  }
  // Steps that are chosen in the strip, or that a link to this page names, fill the view. `still`: they are wanted then.
  async function showWanted(still = () => true) {
    const view = await stepView()
    if (!view || !still()) return
    const margin = (view.to - view.from) * 0.05
    goTo(view.from - margin, view.to + margin)
  }
  return { stepMarks, showWanted, stepView, isOther }
}
