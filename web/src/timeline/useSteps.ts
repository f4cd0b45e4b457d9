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
  // Steps that are chosen in the strip, or that a link to this page names, fill the view.
  function showSteps({ first, last }: StepRange) {
    const inside = stepMarks.value.filter((one) => one.step >= first && one.step <= last)
    if (!inside.length) return
    const from = Math.min(...inside.map((one) => one.start))
    const to = Math.max(...inside.map((one) => one.end))
    goTo(from - (to - from) * 0.05, to + (to - from) * 0.05)
  }
  const wantedSteps = () => (step.value === null ? stepRange.value : { first: step.value, last: step.value })
  // When the chosen step is, once that is known; null without one.
  async function stepView(): Promise<View | null> {
    await nextTick() // steps of a rank that came together with the step are on their way then
    const loading = computed(() => steps.loading.value || tracks.loading.value)
    if (wantedSteps() && loading.value) await new Promise<void>((resolve) => watch(loading, () => resolve(), { once: true }))
    const found = stepMarks.value.find((one) => one.step === step.value)
    return found ? { from: found.start, to: found.end } : null
  }
  // Once it is known when they are; `still`: they are wanted then.
  async function showWanted(still = () => true) {
    await stepView()
    const wanted = wantedSteps()
    if (wanted && still()) showSteps(wanted)
  }
  return { stepMarks, showWanted, stepView, isOther }
}
