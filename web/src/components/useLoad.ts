// Loads something whenever what it depends on changes, and knows how that went. A newer request
// makes an older one irrelevant. On a run's pages it loads anew when the run has changed.
import { hasInjectionContext, inject, ref, shallowRef, watch, type Ref, type WatchSource } from 'vue'

import { runInfoKey } from '../runInfo'

export interface Loaded<T> {
  data: Ref<T | null>
  error: Ref<Error | null>
  loading: Ref<boolean>
  reload: () => void
}

export function useLoad<T>(sources: WatchSource[], load: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const data = shallowRef<T | null>(null) as Ref<T | null>
  const error = ref<Error | null>(null)
  const loading = ref(true)
  let last: AbortController | null = null

  async function reload() {
    last?.abort()
    const mine = new AbortController()
    last = mine
    loading.value = true
    error.value = null
    try {
      const value = await load(mine.signal)
      if (last === mine) data.value = value
    } catch (problem) {
      if (last === mine && !mine.signal.aborted) error.value = problem as Error
    } finally {
      if (last === mine) loading.value = false
    }
  }
  const info = hasInjectionContext() ? inject(runInfoKey, null) : null
  watch(info ? [...sources, info] : sources, reload, { immediate: true })
  return { data, error, loading, reload }
}
