// Slices whose names contain a text: how many, and one after the other, however many there are.
import { computed, onScopeDispose, ref, shallowRef, watch, type Ref } from 'vue'

import { api, type SearchHit } from '../api'
import { useNewest } from '../components/newest'
import type { StepPlace } from './useSteps'

const page = 2000

export function useSearch(run: Ref<string>, rank: Ref<number | null>, shown: (hit: SearchHit) => void, failed: (error: Error) => void) {
  const text = ref('')
  const hits = shallowRef<SearchHit[]>([])
  const total = ref(0)
  const before = ref(0) // hits before the first one that is here
  const at = ref(-1) // in hits
  const busy = ref(false)
  const newest = useNewest()
  let timer: ReturnType<typeof setTimeout> | undefined
  let searching = false // for a new text, whose first hit is not known yet
  let wanted = false // that first hit is to be shown as soon as it is found

  async function load(query: { from?: number; to?: number; latest?: number }): Promise<boolean> {
    const mine = newest.begin()
    busy.value = true
    try {
      const reply = await api.search(run.value, { q: text.value.trim(), rank: rank.value, limit: page, ...query }, mine)
      if (mine.aborted) return false
      hits.value = reply.hits
      total.value = reply.total
      before.value = reply.before
      return reply.hits.length > 0
    } catch (error) {
      if (!mine.aborted) failed(error as Error)
      return false
    } finally {
      if (!mine.aborted) busy.value = false
    }
  }
  // The first hit in chosen steps; -1 without one.
  async function firstIn({ work, host, has }: StepPlace): Promise<number> {
    const from = Math.floor(Math.min(work.from, host.from))
    const to = Math.ceil(Math.max(work.to, host.to))
    if (hits.value.length < total.value && !(await load({ from, to }))) await load({})
    return hits.value.findIndex(has)
  }
  function show(index: number) {
    at.value = index
    const hit = hits.value[index]
    if (hit) shown(hit)
  }
  async function next() {
    if (searching) wanted = true
    if (searching || busy.value || !hits.value.length) return
    if (at.value + 1 < hits.value.length) return show(at.value + 1)
    // Behind the last one here: the next page, or the first again.
    const last = hits.value[hits.value.length - 1]
    const more = before.value + hits.value.length < total.value
    if (await load(more && last ? { from: last.start + 1 } : {})) show(0)
  }
  async function previous() {
    if (searching || busy.value || !hits.value.length) return
    if (at.value > 0) return show(at.value - 1)
    const first = hits.value[0]
    if (await load(before.value > 0 && first ? { to: first.start, latest: 1 } : { latest: 1 })) show(hits.value.length - 1)
  }
  function begin(go: (() => Promise<StepPlace | null>) | null) {
    clearTimeout(timer)
    newest.stop()
    busy.value = false
    wanted = go !== null
    searching = text.value.trim() !== ''
    const mine = (timer = setTimeout(async () => {
      at.value = -1
      hits.value = []
      total.value = 0
      const place = searching && go ? await go() : null
      if (mine !== timer) return // another text by now
      const found = searching && (await load({}))
      const index = found && place ? await firstIn(place) : 0
      if (mine !== timer) return
      searching = false
      if (found && wanted && index >= 0) show(index)
    }, 250))
  }
  watch([text, rank], () => begin(null), { flush: 'sync' })
  // A text that somebody did not type here but comes with. `go`: to its first hit; where that answers with steps, to
  // the first one in them, or nowhere.
  function come(to: string, go: (() => Promise<StepPlace | null>) | null) {
    text.value = to
    if (go) begin(go)
  }
  onScopeDispose(() => clearTimeout(timer))
  // What does not match is dimmed, which needs all that match.
  const slices = computed(() => (hits.value.length && hits.value.length >= total.value ? new Set(hits.value.map((hit) => hit.slice)) : null))
  const times = computed(() => hits.value.map((hit) => hit.start + hit.dur / 2))
  const number = computed(() => (at.value < 0 ? 0 : before.value + at.value + 1))
  return { text, hits, slices, times, total, number, busy, come, next, previous }
}
