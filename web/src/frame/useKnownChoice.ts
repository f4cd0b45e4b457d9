// A link may name a rank or a step that the run does not have. Then all of them are shown, and `missing` says so until
// something is chosen.
import { ref, watch, type Ref } from 'vue'

import type { RunInfo } from '../api'

export interface Missing {
  what: 'rank' | 'step'
  value: string
}
interface Choice {
  run: Ref<string>
  info: Ref<RunInfo | null>
  asked: (name: 'rank' | 'step') => string // '' without one
  hasStep: (run: string, step: number) => Promise<boolean>
  drop: (names: Record<string, null>) => unknown
}

export function useKnownChoice({ run, info, asked, hasStep, drop }: Choice): Ref<Missing[]> {
  const missing = ref<Missing[]>([])
  const isHere: Record<Missing['what'], (value: string) => boolean | Promise<boolean>> = {
    rank: (value) => Boolean(info.value?.ranks.some((one) => String(one.rank) === value)),
    step: (value) => /^-?\d+$/.test(value) && hasStep(run.value, Number(value)).catch(() => true), // the page says what is wrong
  }
  for (const what of ['rank', 'step'] as const) {
    watch([run, info, () => asked(what)], async () => {
      const [value, of] = [asked(what), run.value]
      if (!info.value || value === '') return
      const here = await isHere[what](value)
      if (run.value !== of || asked(what) !== value) return
      missing.value = missing.value.filter((one) => one.what !== what)
      if (here) return
      missing.value = [...missing.value, { what, value: value.slice(0, 20) }]
      drop({ [what]: null })
    }, { immediate: true })
  }
  watch(run, () => (missing.value = []))
  return missing
}
