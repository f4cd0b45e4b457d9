// Both languages, both themes, the window sizes people have; contrast, names of controls, the keyboard.
import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'

import en from '../../web/src/locale/en'
import zh from '../../web/src/locale/zh'
import { pages } from './support/checkPages'
import { runPath, withBrowser } from './support/hooks'
import { focused, focusIsVisible, namelessControls, weakContrasts, widthCut } from './support/looks'
import { type Language, Session, type Theme } from './support/session'
import { findTextProblems } from './support/textChecks'

const places: [string, string][] = [['runs', '/'], ...pages.map((page): [string, string] => [page, `${runPath('generated')}/${page}`])]

let browser: Browser
let session: Session
withBrowser((made) => (browser = made))

const looks: [Theme, Language][] = [['light', 'en'], ['dark', 'zh'], ['light', 'zh'], ['dark', 'en']]
describe.each(looks)('%s, %s', (theme, language) => {
  const texts = language === 'zh' ? zh : en
  beforeAll(async () => {
    session = await Session.open(browser, inject('link'), { theme, language })
  })
  afterEach(() => session.expectNoProblems())
  afterAll(() => session.close())

  it.each(places)('%s', async (name, hash) => {
    await session.go(hash)
    await session.picture(`${theme}-${language}-${name}`)
    expect(await session.page.locator('html').getAttribute('data-theme')).toBe(theme)
    const text = await session.page.locator('body').innerText()
    expect(findTextProblems(text)).toEqual([])
    // The browser's own language was taken, everywhere.
    if (name !== 'runs') expect(text).toContain(texts.page[name as keyof typeof texts.page])
    expect(text).toContain(texts.bar.language)
    expect(await session.page.evaluate(weakContrasts)).toEqual([])
    expect(await session.page.evaluate(namelessControls)).toEqual([])
  })
})

describe.each([[1280, 800], [1024, 768], [1920, 1080]])('%i × %i', (width, height) => {
  beforeAll(async () => {
    session = await Session.open(browser, inject('link'), { width, height })
  })
  afterEach(() => session.expectNoProblems())
  afterAll(() => session.close())

  it('every page fits', async () => {
    const cut: string[] = []
    for (const [name, hash] of places) {
      await session.go(hash)
      const over = await session.page.evaluate(widthCut)
      if (over > 0) cut.push(`${name} is ${over} px too wide`)
      if (width === 1280) await session.picture(`${width}-${name}`)
    }
    expect(cut).toEqual([])
  })
})

describe('the keyboard', () => {
  beforeAll(async () => {
    session = await Session.open(browser, inject('link'))
  })
  afterEach(() => session.expectNoProblems())
  afterAll(() => session.close())

  it.each(places)('%s: the focus goes round, is seen, and is not caught', async (_, hash) => {
    await session.go(hash)
    await session.reload() // the focus starts at the top
    const visited: string[] = []
    for (let i = 0; i < 24; ++i) {
      await session.page.keyboard.press('Tab')
      const at = await session.page.evaluate(focused)
      expect(at.seen, at.what).toBe(true)
      expect(await session.page.evaluate(focusIsVisible), at.what).toBe(true)
      visited.push(at.what)
    }
    expect(new Set(visited).size, visited.join(', ')).toBeGreaterThan(5)
    // The frame comes before the page.
    expect(visited[0]).toContain(en.app.name)
  })

  it('opens a run from the list', async () => {
    await session.go('/')
    await session.page.getByRole('link', { name: 'generated' }).focus()
    await session.page.keyboard.press('Enter')
    await session.page.waitForURL(/overview/)
  })
})
