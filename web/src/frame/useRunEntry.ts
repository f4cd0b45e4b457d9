// The run of a page as the server's list has it now, and what is in it. Goes on looking: a run may grow, be replaced
// or go away while its page is open, or be part of another one: `moved` tells which.
import { onScopeDispose, ref, shallowRef, watch, type Ref } from 'vue'

import { api, whenRunChanged, type RunEntry, type RunInfo } from '../api'
import { useNewest } from '../components/newest'
import { t } from '../locale'

const importingMs = 300
const restMs = 5000
const changedMs = 50 // a page has many answers that say the same at once

// What differs when a run was imported again. Times of files alone do not tell: a run may have many.
const stampOf = (entry: RunEntry): string =>
  [entry.modified_ns, entry.input_bytes, entry.store_bytes, entry.ranks, entry.steps, entry.losses, entry.suspects].join()

export function useRunEntry(run: Ref<string>, moved: (id: string) => void) {
  const entry = ref<RunEntry | null>(null)
  const info = shallowRef<RunInfo | null>(null) // of the last time it could be read
  const error = ref<Error | null>(null)
  const newest = useNewest()
  let timer: ReturnType<typeof setTimeout> | undefined
  let stamp = '' // of info

  async function see(signal: AbortSignal): Promise<number> {
    const { runs } = await api.runs(signal)
    const found = runs.find((one) => one.id === run.value)
    if (signal.aborted) return restMs
    if (!found) {
      const now = runs.find((one) => one.former_ids.includes(run.value))
      if (!now) throw new Error(t(info.value ? 'runs.gone' : 'runs.unknown'))
      moved(now.id)
      return restMs
    }
    entry.value = found
    if (found.state === 'failed') throw new Error(found.reason)
    if (found.state !== 'ready') {
      error.value = null
      if (found.state === 'found') await api.importRun(run.value)
      return importingMs
    }
    if (!info.value || stamp !== stampOf(found)) {
      const now = await api.run(run.value)
      if (signal.aborted) return restMs
      stamp = stampOf(found)
      info.value = now
    }
    error.value = null
    return restMs
  }
  async function look() {
    clearTimeout(timer)
    const mine = newest.begin()
    let pause = restMs
    // A page that nobody sees can wait.
    if (document.visibilityState === 'visible' || !info.value) {
      try {
        pause = await see(mine)
      } catch (problem) {
        if (!mine.aborted) error.value = problem as Error
      }
    }
    if (!mine.aborted) timer = setTimeout(look, pause)
  }
  const seenAgain = () => document.visibilityState === 'visible' && void look()
  document.addEventListener('visibilitychange', seenAgain)
  watch(run, () => {
    entry.value = null
    info.value = null
    error.value = null
    void look()
  }, { immediate: true })
  let soon: ReturnType<typeof setTimeout> | undefined
  const unheard = whenRunChanged(() => {
    soon ??= setTimeout(() => {
      soon = undefined
      void look()
    }, changedMs)
  })
  onScopeDispose(() => {
    unheard()
    clearTimeout(timer)
    clearTimeout(soon)
    document.removeEventListener('visibilitychange', seenAgain)
  })
  return { entry, info, error, look }
}
