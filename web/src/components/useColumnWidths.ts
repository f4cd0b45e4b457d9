// How wide somebody drew the columns of a table, kept in this browser.
import { ref, watch } from 'vue'

import { keep, kept } from '../kept'

const least = 48
const most = 1200

function read(key: string): Record<string, number> {
  try {
    const chosen: unknown = JSON.parse(kept(key) ?? '{}')
    return chosen !== null && typeof chosen === 'object' ? Object.fromEntries(Object.entries(chosen).filter(([, width]) => typeof width === 'number')) : {}
  } catch {
    return {} // not ours
  }
}

export function useColumnWidths(table: () => string) {
  const key = () => `columns.${table()}`
  const widths = ref(read(key()))
  watch(key, () => (widths.value = read(key()))) // of another table in the same place
  let drag: { column: string; x: number; width: number } | null = null

  function set(column: string, width: number | null) {
    const next = { ...widths.value }
    if (width === null) delete next[column]
    else next[column] = Math.round(Math.min(most, Math.max(least, width)))
    widths.value = next
  }
  const keepAll = () => keep(key(), JSON.stringify(widths.value))
  const headOf = (event: Event) => (event.currentTarget as HTMLElement).closest('th')?.offsetWidth ?? least

  function down(event: PointerEvent, column: string) {
    ;(event.currentTarget as HTMLElement).setPointerCapture(event.pointerId)
    drag = { column, x: event.clientX, width: headOf(event) }
  }
  function move(event: PointerEvent) {
    if (drag) set(drag.column, drag.width + event.clientX - drag.x)
  }
  function up() {
    if (drag) keepAll()
    drag = null
  }
  // As wide as it is by itself.
  function reset(column: string) {
    set(column, null)
    keepAll()
  }
  function nudge(event: KeyboardEvent, column: string) {
    const by = event.key === 'ArrowRight' ? 16 : event.key === 'ArrowLeft' ? -16 : 0
    if (!event.altKey || !by) return
    event.preventDefault()
    event.stopPropagation()
    set(column, (widths.value[column] ?? headOf(event)) + by)
    keepAll()
  }
  const styleOf = (column: string) => {
    const width = widths.value[column]
    return width === undefined ? undefined : { width: `${width}px`, minWidth: `${width}px`, maxWidth: `${width}px` }
  }
  return { widths, down, move, up, reset, nudge, styleOf }
}
