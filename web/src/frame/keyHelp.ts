// The list of keys: one dialog for all pages, opened by its buttons and by the key ?.
import { onMounted, onUnmounted, ref } from 'vue'

export const isKeyHelpOpen = ref(false)
export const openKeyHelp = (): void => void (isKeyHelpOpen.value = true)

// While a dialog is open, keys are its own.
export const keysOfDialog = (): boolean => document.querySelector('dialog:modal') !== null

export function useHelpKey(): void {
  function key(event: KeyboardEvent) {
    const on = event.target as HTMLElement
    if (event.key !== '?' || event.ctrlKey || event.metaKey || event.altKey || keysOfDialog()) return
    if (/^(INPUT|TEXTAREA|SELECT)$/.test(on.tagName) || on.isContentEditable) return
    event.preventDefault()
    openKeyHelp()
  }
  onMounted(() => addEventListener('keydown', key))
  onUnmounted(() => {
    removeEventListener('keydown', key)
    isKeyHelpOpen.value = false
  })
}
