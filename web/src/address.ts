// What the user chose lives in the address: a link reopens the same view.
import { computed, onScopeDispose, ref, toValue, watch, type ComputedRef, type MaybeRefOrGetter, type Ref } from 'vue'
import { useRoute, useRouter, type LocationQueryRaw } from 'vue-router'

import { leaving } from './router'

const restMs = 300

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text // typed by hand
  }
}
// Several names in one text; each may hold any letter.
export const listText = (names: Iterable<string>): string => [...names].map(encodeURIComponent).join(',')
export const readList = (text: unknown): string[] => (typeof text === 'string' && text ? text.split(',').map(decoded) : [])
// And names with a text each: name~text,name~text.
const part = (text: string): string => encodeURIComponent(text).replaceAll('~', '%7E')
export const pairsText = (pairs: Iterable<[string, string]>): string => [...pairs].map((pair) => pair.map(part).join('~')).join(',')
export function readPairs(text: string): [string, string][] {
  return text ? text.split(',').map((pair) => {
    const [name = '', ...rest] = pair.split('~')
    return [decoded(name), decoded(rest.join('~'))]
  }) : []
}

let coming: LocationQueryRaw | null = null // of a change that is on its way: another one adds to it

export function useAddress() {
  const route = useRoute()
  const router = useRouter()
  // A text of the address, '' without one.
  const text = (name: MaybeRefOrGetter<string>): ComputedRef<string> =>
    computed(() => {
      const value = route.query[toValue(name)]
      return typeof value === 'string' ? value : ''
    })
  // Adds to the address what the user chose; null removes it. Back returns, unless it replaces what was there.
  function choose(values: Record<string, string | number | null | undefined>, replace = false): Promise<unknown> {
    if (replace && leaving()) return Promise.resolve()
    const query: LocationQueryRaw = { ...(coming ?? route.query) }
    for (const [name, value] of Object.entries(values)) {
      if (value === null || value === undefined || value === '') delete query[name]
      else query[name] = String(value)
    }
    coming = query
    const there = () => {
      if (coming === query) coming = null
    }
    const going = replace ? router.replace({ query }) : router.push({ query })
    going.then(there, there)
    return going
  }
  // A text that somebody types: here at once, in the address when they pause.
  function typed(name: MaybeRefOrGetter<string>): Ref<string> {
    const kept = text(name)
    const now = ref(kept.value)
    let timer: ReturnType<typeof setTimeout> | undefined
    const stop = () => {
      clearTimeout(timer)
      timer = undefined
    }
    watch(now, (value) => {
      stop()
      if (value === kept.value) return
      timer = setTimeout(() => {
        timer = undefined
        void choose({ [toValue(name)]: value }, true)
      }, restMs)
    })
    watch(kept, (value) => {
      if (timer === undefined) now.value = value
    })
    onScopeDispose(stop)
    return now
  }
  return { route, router, text, choose, typed }
}
