// Texts for the clipboard, and whether they got there.
import { onScopeDispose, ref } from 'vue'

import { t } from '../locale'

// Pages that came over plain http from another machine have no clipboard: they copy what is selected.
function copySelected(text: string): boolean {
  const before = document.activeElement as HTMLElement | null
  const box = document.createElement('textarea')
  box.value = text
  box.readOnly = true
  box.style.position = 'fixed'
  box.style.opacity = '0'
  document.body.append(box)
  box.select()
  try {
    return document.execCommand('copy')
  } catch {
    return false
  } finally {
    box.remove()
    before?.focus({ preventScroll: true })
  }
}

export async function copyText(text: string): Promise<boolean> {
  try {
    if (navigator.clipboard) {
      await navigator.clipboard.writeText(text)
      return true
    }
  } catch {
    // not allowed: the other way may be
  }
  return copySelected(text)
}

const shownMs = 2000

// For a button: its label says for a while how it went.
export function useCopy() {
  const outcome = ref<'copied' | 'notCopied' | null>(null)
  let timer: ReturnType<typeof setTimeout> | undefined
  async function copy(text: string) {
    clearTimeout(timer)
    outcome.value = (await copyText(text)) ? 'copied' : 'notCopied'
    timer = setTimeout(() => (outcome.value = null), shownMs)
  }
  onScopeDispose(() => clearTimeout(timer))
  const label = (usual: string) => (outcome.value ? t(`state.${outcome.value}`) : usual)
  return { copy, label, outcome }
}
