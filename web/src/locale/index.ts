import { createI18n } from 'vue-i18n'

import en from './en'
import zh from './zh'

export type Language = 'en' | 'zh'

// The choice is kept; the first visit takes the browser's language.
function firstLanguage(): Language {
  const kept = localStorage.getItem('stepscope.language')
  if (kept === 'en' || kept === 'zh') return kept
  return navigator.language.toLowerCase().startsWith('zh') ? 'zh' : 'en'
}

export const i18n = createI18n({
  legacy: false,
  locale: firstLanguage(),
  fallbackLocale: 'en',
  messages: { en, zh },
})

export function setLanguage(language: Language): void {
  i18n.global.locale.value = language
  localStorage.setItem('stepscope.language', language)
  document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en'
}
