// The training that the server may ask for recordings, looked at again and again while the panel is open.
import { onMounted, onUnmounted, ref, shallowRef, type Ref } from 'vue'

import { api, type ControlState } from '../api'

const often = 500 // ms, while a request is under way
const rarely = 2000

export interface Training {
  state: Ref<ControlState | null>
  error: Ref<Error | null>
  look: () => Promise<void>
}

export function useTraining(): Training {
  const state = shallowRef<ControlState | null>(null)
  const error = ref<Error | null>(null)
  let timer = 0
  let open = true
  let looking = false

  async function look() {
    if (looking) return
    looking = true
    clearTimeout(timer)
    try {
      state.value = await api.controlState()
      error.value = null
    } catch (problem) {
      error.value = problem as Error
    }
    looking = false
    if (!open) return
    const busy = !error.value && state.value?.requests.some(isUnderWay)
    timer = window.setTimeout(look, busy ? often : rarely)
  }
  onMounted(look)
  onUnmounted(() => {
    open = false
    clearTimeout(timer)
  })
  return { state, error, look }
}

// Not done yet, or done and about to become a run.
function isUnderWay(request: ControlState['requests'][number]): boolean {
  return !request.over || request.ranks.some((rank) => rank.run_state === 'found' || rank.run_state === 'importing')
}
