// What the pages of one run share: the run, the chosen rank and steps. All of it lives in the address.
import { computed, inject } from 'vue'

import { useAddress } from './address'
import type { Cell } from './api'
import type { PageName } from './router'
import { runInfoKey } from './runInfo'

// Where to look in the timeline. Times are unix ns, as the tables have them.
export interface Place {
  rank?: Cell
  step?: Cell
  start?: Cell
  end?: Cell
  slice?: Cell
  search?: string
  lanes?: string // only these
}

export interface StepRange {
  first: number
  last: number // that one too
}

export function useRun() {
  const { route, router, text, choose } = useAddress()
  const info = inject(runInfoKey)
  if (!info) throw new Error('useRun outside of a run')
  const run = computed(() => String(route.params.run))
  const number = (name: string) =>
    computed(() => {
      const text = route.query[name]
      return typeof text === 'string' && text !== '' ? Number(text) : null
    })
  const rank = number('rank')
  // Steps that were drawn over in the strip: charts over the steps and the timeline are zoomed to them.
  const [first, last] = [number('first'), number('last')]
  const stepRange = computed<StepRange | null>(() => (first.value !== null && last.value !== null && first.value <= last.value ? { first: first.value, last: last.value } : null))
  // For pages that can only show one rank.
  const shownRank = computed(() => rank.value ?? info.value?.ranks[0]?.rank ?? 0)
  // A rank may have been recorded in several windows.
  const rankCount = computed(() => new Set((info.value?.ranks ?? []).map((one) => one.rank)).size)
  // Nanoseconds after the beginning of the run.
  function sinceStart(unixNs: Cell): number {
    return Number(BigInt(String(unixNs ?? 0)) - BigInt(info?.value?.first_ns || 0))
  }
  // Another page of this run, zoomed to the same steps; what is null or missing stays out of the address.
  function pageLink(page: PageName, values: Record<string, Cell | undefined> = {}) {
    const query: Record<string, string> = {}
    const all: typeof values = { ...stepRange.value, ...values }
    for (const [name, value] of Object.entries(all)) {
      if (value !== null && value !== undefined && value !== '') query[name] = String(value)
    }
    return { name: page, params: { run: run.value }, query }
  }
  function timelineLink(place: Place) {
    const values: Record<string, Cell | undefined> = { rank: place.rank, step: place.step, slice: place.slice, q: place.search?.slice(0, 120), lanes: place.lanes }
    if (place.start !== undefined && place.start !== null && place.end !== undefined && place.end !== null) {
      const start = sinceStart(place.start)
      const end = sinceStart(place.end)
      const around = Math.max(1000, (end - start) * 0.5)
      values.from = Math.round(start - around)
      values.to = Math.round(end + around)
    }
    return pageLink('timeline', values)
  }
  function showInTimeline(place: Place) {
    return router.push(timelineLink(place))
  }
  return { run, info, rank, shownRank, rankCount, step: number('step'), stepRange, text, choose, sinceStart, pageLink, timelineLink, showInTimeline, route, router }
}
