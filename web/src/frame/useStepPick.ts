// Steps that are chosen in the strip: one by a click, several by a drag or a click with shift. Several take the place of
// the one: what is shown must not depend on which of them a page looks at.
import { computed, onScopeDispose, ref, type Ref } from 'vue'

import type { StepRange } from '../runState'

type Choose = (values: Record<string, number | null>) => unknown

export function useStepPick(step: Ref<number | null>, stepRange: Ref<StepRange | null>, choose: Choose) {
  const ordered = (from: number, to: number): StepRange => ({ first: Math.min(from, to), last: Math.max(from, to) })
  const zoom = (from: number, to: number) => choose({ step: null, ...ordered(from, to) })
  function pick(number: number, further: boolean) {
    const from = step.value ?? stepRange.value?.first ?? null
    if (further && from !== null && from !== number) zoom(from, number)
    else choose({ step: step.value === number ? null : number })
  }

  const drag = ref<{ from: number; to: number } | null>(null)
  function begin(event: PointerEvent, number: number) {
    if (event.button === 0 && event.pointerType === 'mouse') drag.value = { from: number, to: number }
  }
  const giveUp = () => (drag.value = null)
  // The button may have been let go where nobody told us.
  function extend(event: PointerEvent, number: number) {
    if (!(event.buttons & 1)) giveUp()
    else if (drag.value) drag.value = { ...drag.value, to: number }
  }
  function end() {
    const was = drag.value
    giveUp()
    if (was && was.from !== was.to) zoom(was.from, was.to)
  }
  const listeners = { pointerup: end, pointercancel: giveUp, blur: giveUp }
  for (const [name, listener] of Object.entries(listeners)) addEventListener(name, listener)
  onScopeDispose(() => {
    for (const [name, listener] of Object.entries(listeners)) removeEventListener(name, listener)
  })

  // Also while they are being drawn over.
  const shown = computed(() => (drag.value && drag.value.from !== drag.value.to ? ordered(drag.value.from, drag.value.to) : stepRange.value))
  return { pick, begin, extend, shown }
}
