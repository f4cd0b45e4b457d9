// How wide the columns of a table are on screen: their texts are cut to that.
import { onMounted, onScopeDispose, ref, watch, type Ref } from 'vue'

export function useMeasuredColumns(table: Ref<HTMLElement | null>, names: Ref<string[]>): Ref<Record<string, number>> {
  const widths = ref<Record<string, number>>({})
  const look = new ResizeObserver((entries) => {
    const next = { ...widths.value }
    for (const { target } of entries) next[(target as HTMLElement).dataset.column ?? ''] = (target as HTMLElement).offsetWidth
    widths.value = next
  })
  function watchHeads() {
    look.disconnect()
    for (const head of table.value?.querySelectorAll('th[data-column]') ?? []) look.observe(head)
  }
  onMounted(watchHeads)
  watch(names, watchHeads, { flush: 'post' })
  onScopeDispose(() => look.disconnect())
  return widths
}
