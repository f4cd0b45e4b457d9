// Theme: the user's choice, else the system's.
import { ref } from 'vue'

import { keep, kept } from './kept'

export type Theme = 'light' | 'dark'

function firstTheme(): Theme {
  const chosen = kept('theme')
  if (chosen === 'light' || chosen === 'dark') return chosen
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
}

export const theme = ref<Theme>(firstTheme())

export function applyTheme(): void {
  document.documentElement.dataset.theme = theme.value
}

export function toggleTheme(): void {
  theme.value = theme.value === 'light' ? 'dark' : 'light'
  keep('theme', theme.value)
  applyTheme()
}

// The value of a colour variable of the present theme.
export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim()
}
