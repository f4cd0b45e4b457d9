// The texts of the pages in the chosen language. A call of `t` while a component draws makes it follow the language.
import { ref } from 'vue'

import en from './en'
import zh from './zh'

export type Language = 'en' | 'zh'
interface Texts {
  [name: string]: string | Texts
}
const texts: Record<Language, Texts> = { en, zh }

// The choice is kept; the first visit takes the browser's language.
function firstLanguage(): Language {
  const kept = localStorage.getItem('stepscope.language')
  if (kept === 'en' || kept === 'zh') return kept
  return navigator.language.toLowerCase().startsWith('zh') ? 'zh' : 'en'
}

export const language = ref<Language>(firstLanguage())

export function applyLanguage(): void {
  document.documentElement.lang = language.value === 'zh' ? 'zh-CN' : 'en'
}

export function setLanguage(chosen: Language): void {
  language.value = chosen
  localStorage.setItem('stepscope.language', chosen)
  applyLanguage()
}

function find(name: string): string | undefined {
  let found: string | Texts | undefined = texts[language.value]
  for (const part of name.split('.')) found = typeof found === 'object' ? found[part] : undefined
  return typeof found === 'string' ? found : undefined
}

// Whether there is a text of this name.
export const te = (name: string): boolean => find(name) !== undefined

// The text of a name such as 'page.steps', with values in place of {their names}. Of a text with two forms,
// 'row | rows', `n` takes the first for one and the second for any other number.
export function t(name: string, values: Record<string, unknown> = {}, n = 1): string {
  const [one, other] = (find(name) ?? name).split(' | ')
  const text = n === 1 ? one : other ?? one
  return text!.replace(/\{(\w+)\}/g, (_, key: string) => String(values[key] ?? ''))
}
