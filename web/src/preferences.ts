// Theme: the user's choice, else the system's.
import { ref } from 'vue'

export type Theme = 'light' | 'dark'

function firstTheme(): Theme {
  const kept = localStorage.getItem('stepscope.theme')
  if (kept === 'light' || kept === 'dark') return kept
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
}

export const theme = ref<Theme>(firstTheme())

export function applyTheme(): void {
  document.documentElement.dataset.theme = theme.value
}

export function toggleTheme(): void {
  theme.value = theme.value === 'light' ? 'dark' : 'light'
  localStorage.setItem('stepscope.theme', theme.value)
  applyTheme()
}

// The value of a colour variable of the present theme.
export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim()
}
