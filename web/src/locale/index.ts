// The texts of the pages in the chosen language. A call of `t` while a component draws makes it follow the language.
import { ref } from 'vue'

import { keep, kept } from '../kept'
import en from './en'

export type Language = 'en' | 'zh'
interface Texts {
  [name: string]: string | Texts
}
type Chinese = typeof import('./chinese')
let chineseTexts: Chinese | null = null // once somebody reads them

// The choice is kept; the first visit takes the browser's language.
function firstLanguage(): Language {
  const chosen = kept('language')
  if (chosen === 'en' || chosen === 'zh') return chosen
  return navigator.language.toLowerCase().startsWith('zh') ? 'zh' : 'en'
}

export const language = ref<Language>('en')
// The texts where Chinese is chosen.
export const chinese = (): Chinese | null => (language.value === 'zh' ? chineseTexts : null)

async function apply(chosen: Language): Promise<void> {
  if (chosen === 'zh') chineseTexts ??= await import('./chinese')
  language.value = chosen
  document.documentElement.lang = chosen === 'zh' ? 'zh-CN' : 'en'
}

// Before the first page is drawn. Pages in English are better than none where the Chinese texts do not come.
export const startLanguage = (): Promise<void> => apply(firstLanguage()).catch(() => apply('en'))

// Fails where the texts do not come; the language stays then.
export async function setLanguage(chosen: Language): Promise<void> {
  await apply(chosen)
  keep('language', chosen)
}

function find(name: string): string | undefined {
  let found: string | Texts | undefined = chinese()?.pages ?? en
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
