import { expect, test, vi } from 'vitest'

vi.stubGlobal('localStorage', { getItem: () => 'en', setItem: () => undefined })
const { setLanguage, t, te } = await import('.')
vi.stubGlobal('document', { documentElement: {} })

test('a text has its values, in the chosen language', async () => {
  expect(t('page.steps')).toBe('Step trace')
  expect(t('state.emptyBecause', { why: 'no {data} $1' })).toBe('Nothing here: no {data} $1')
  await setLanguage('zh')
  expect(t('page.steps')).toBe('迭代轨迹')
  expect(document.documentElement.lang).toBe('zh-CN')
  await setLanguage('en')
})

test('one of something, none and several', () => {
  const rows = (n: number) => t('table.rows', { n }, n)
  expect([rows(0), rows(1), rows(2)]).toEqual(['0 rows', '1 row', '2 rows'])
})

test('a name without a text stands for itself', () => {
  expect(t('page.nothing')).toBe('page.nothing')
  expect(t('page')).toBe('page')
  expect([te('page.nothing'), te('page'), te('page.steps')]).toEqual([false, false, true])
})
