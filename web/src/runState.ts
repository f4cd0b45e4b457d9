// What the pages of one run share: the run, the chosen rank and steps. All of it lives in the address.
import { computed, inject, type InjectionKey, type Ref } from 'vue'
import { useRoute, useRouter } from 'vue-router'

import type { RunInfo } from './api'

export const runInfoKey: InjectionKey<Ref<RunInfo | null>> = Symbol('run')

export function useRun() {
  const route = useRoute()
  const router = useRouter()
  const info = inject(runInfoKey)
  if (!info) throw new Error('useRun outside of a run')
  const run = computed(() => String(route.params.run))
  const number = (name: string) =>
    computed(() => {
      const text = route.query[name]
      return typeof text === 'string' && text !== '' ? Number(text) : null
    })
  // Adds to the address what the user chose; null removes it. Back returns.
  function choose(values: Record<string, string | number | null | undefined>, replace = false) {
    const query = { ...route.query }
    for (const [name, value] of Object.entries(values)) {
      if (value === null || value === undefined || value === '') delete query[name]
      else query[name] = String(value)
    }
    return replace ? router.replace({ query }) : router.push({ query })
  }
  return { run, info, rank: number('rank'), step: number('step'), choose, route, router }
}
