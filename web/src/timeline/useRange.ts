// Totals of what lies between two times, on all lanes of the rank or those that the filter leaves. A lane counts
// whether it is open or closed.
import { computed, onScopeDispose, ref, shallowRef, watch, type Ref } from 'vue'

import { api, type RangeTotals } from '../api'
import { useNewest } from '../components/newest'
import type { Layout } from './lanes'
import type { View } from './viewport'

export const firstComputed = 2 ** 31 // lanes that the server computes have numbers from here on
const mostTracks = 700 // in the address of a request
const restMs = 200

// `filtered`: not all lanes of the rank are in the layout.
export function useRange(run: Ref<string>, rank: Ref<number | null>, layout: Ref<Layout>, filtered: Ref<boolean>) {
  const range = ref<View | null>(null)
  const totals = shallowRef<RangeTotals | null>(null)
  const error = ref<Error | null>(null)
  const tracks = computed(() => [...layout.value.ofTrack.keys()].filter((track) => track < firstComputed).sort((a, b) => a - b))
  // What the totals cover.
  const lanes = computed(() => ({ all: tracks.value.length, counted: filtered.value ? Math.min(tracks.value.length, mostTracks) : tracks.value.length, filtered: filtered.value }))
  const newest = useNewest()

  async function load(): Promise<void> {
    const mine = newest.begin()
    totals.value = null
    error.value = null
    if (!range.value) return
    const { from, to } = range.value
    try {
      const found = filtered.value && !tracks.value.length ? { rows: [], tracks: [], names: 0, count: 0, total_ns: 0, self_ns: 0 }
        : await api.range(run.value, from, to, rank.value, filtered.value ? tracks.value.slice(0, mostTracks) : null, mine)
      if (!mine.aborted) totals.value = found
    } catch (problem) {
      if (!mine.aborted) error.value = problem as Error
    }
  }
  function clear() {
    newest.stop()
    range.value = null
    totals.value = null
    error.value = null
  }
  let timer: ReturnType<typeof setTimeout> | undefined
  watch([rank, () => (filtered.value ? tracks.value.join() : '')], () => {
    if (!range.value) return
    clearTimeout(timer)
    timer = setTimeout(() => void load(), restMs)
  })
  onScopeDispose(() => clearTimeout(timer))
  return { range, totals, error, lanes, load, clear }
}
