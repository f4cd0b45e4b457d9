// Slices whose names contain a text: how many, and one after the other, however many there are.
import { computed, onUnmounted, ref, shallowRef, watch, type Ref } from 'vue'

import { api, type SearchHit } from '../api'

const page = 2000

export function useSearch(run: Ref<string>, rank: Ref<number | null>, first: string, shown: (hit: SearchHit) => void, failed: (error: Error) => void) {
  const text = ref(first)
  const hits = shallowRef<SearchHit[]>([])
  const total = ref(0)
  const before = ref(0) // hits before the first one that is here
  const at = ref(-1) // in hits
  const busy = ref(false)
  let abort = new AbortController()
  let timer = 0

  async function load(query: { from?: number; to?: number; latest?: number }): Promise<boolean> {
    abort.abort()
    const mine = (abort = new AbortController())
    busy.value = true
    try {
      const reply = await api.search(run.value, { q: text.value.trim(), rank: rank.value, limit: page, ...query }, mine.signal)
      hits.value = reply.hits
      total.value = reply.total
      before.value = reply.before
      return reply.hits.length > 0
    } catch (error) {
      if (!mine.signal.aborted) failed(error as Error)
      return false
    } finally {
      if (abort === mine) busy.value = false
    }
  }
  function show(index: number) {
    at.value = index
    const hit = hits.value[index]
    if (hit) shown(hit)
  }
  async function next() {
    if (!hits.value.length) return
    if (at.value + 1 < hits.value.length) return show(at.value + 1)
    // Behind the last one here: the next page, or the first again.
    const last = hits.value[hits.value.length - 1]
    const more = before.value + hits.value.length < total.value
    if (await load(more && last ? { from: last.start + 1 } : {})) show(0)
  }
  async function previous() {
    if (!hits.value.length) return
    if (at.value > 0) return show(at.value - 1)
    const first = hits.value[0]
    if (await load(before.value > 0 && first ? { to: first.start, latest: 1 } : { latest: 1 })) show(hits.value.length - 1)
  }
  // The first hit at or after a time.
  watch([text, rank], () => {
    clearTimeout(timer)
    timer = window.setTimeout(async () => {
      at.value = -1
      if (!text.value.trim()) {
        abort.abort()
        hits.value = []
        total.value = 0
        return
      }
      await load({})
    }, 250)
  }, { immediate: true })
  onUnmounted(() => {
    clearTimeout(timer)
    abort.abort()
  })
  const slices = computed(() => (hits.value.length ? new Set(hits.value.map((hit) => hit.slice)) : null))
  const times = computed(() => hits.value.map((hit) => hit.start + hit.dur / 2))
  const number = computed(() => (at.value < 0 ? 0 : before.value + at.value + 1))
  return { text, hits, slices, times, total, number, busy, next, previous }
}
