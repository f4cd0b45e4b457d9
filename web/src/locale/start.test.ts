// Where the Chinese texts do not come, as from a server that has just ended.
import { expect, test, vi } from 'vitest'

vi.mock('./chinese', () => {
  throw new Error('not loaded')
})
const kept = new Map([['stepscope.language', 'zh']])
vi.stubGlobal('localStorage', { getItem: (name: string) => kept.get(name) ?? null, setItem: (name: string, value: string) => kept.set(name, value) })
const { language, setLanguage, startLanguage, t } = await import('.')
vi.stubGlobal('document', { documentElement: {} })

test('the pages start in English, and say that they cannot change', async () => {
  await startLanguage()
  expect([language.value, document.documentElement.lang, t('page.steps')]).toEqual(['en', 'en', 'Step trace'])
  kept.set('stepscope.language', 'en')
  await expect(setLanguage('zh')).rejects.toThrow()
  expect([language.value, kept.get('stepscope.language')]).toEqual(['en', 'en'])
})
