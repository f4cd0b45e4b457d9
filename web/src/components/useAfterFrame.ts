// True once the first frame with this component is on the screen: what is large and not read first waits for that, so
// that figures come sooner. Its place should be kept. What loads longer than a frame does not wait at all.
import { ref, type Ref } from 'vue'

export function useAfterFrame(): Ref<boolean> {
  const isTime = ref(false)
  requestAnimationFrame(() => setTimeout(() => (isTime.value = true)))
  return isTime
}
