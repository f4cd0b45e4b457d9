// Steps of a training that really runs are recorded from the page, and become a run in its list.
import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'

import en from '../../web/src/locale/en'
import zh from '../../web/src/locale/zh'
import { withBrowser } from './support/hooks'
import { focused, namelessControls, weakContrasts } from './support/looks'
import { work } from './support/paths'
import { Program } from './support/program'
import { Session } from './support/session'
import { findTextProblems } from './support/textChecks'
import { Training } from './support/training'

let browser: Browser
withBrowser((made) => (browser = made))

it('is not offered where the server has no training', async () => {
  const session = await Session.open(browser, inject('link'))
  await session.go('/?capture=1')
  expect(await session.page.getByRole('button', { name: en.capture.button, exact: true }).count()).toBe(0)
  expect(await session.page.getByRole('complementary').count()).toBe(0)
  session.expectNoProblems()
  await session.close()
})

describe('a training of two ranks', () => {
  const training = new Training(`${work}/training`)
  let program: Program
  let session: Session
  beforeAll(async () => {
    program = await Program.start(training.runs, ['--control', training.watched, '--workspace', `${work}/workspace-capture`])
    session = await Session.open(browser, program.link)
  })
  afterAll(async () => {
    await session.close()
    await program.stop()
    await training.stop()
  })
  afterEach(() => session.expectNoProblems())
  const panel = () => session.page.getByRole('complementary', { name: en.capture.title })
  const button = () => session.page.getByRole('button', { name: en.capture.button, exact: true })
  const request = (name: RegExp) => panel().getByRole('region', { name })

  it('is waited for', async () => {
    await button().click()
    await panel().getByRole('alert').waitFor()
    expect(await panel().innerText()).toContain('no such folder')
    await panel().getByRole('button', { name: en.state.retry }).click()
    await training.start(2)
    await panel().getByText('2 ranks train').waitFor()
    session.problems.splice(0) // the server's 404, and what the browser says about it
    await session.picture('capture-ranks')
    expect(session.page.url()).toContain('capture=1')
    const now = panel().getByRole('table', { name: en.capture.now })
    expect(await now.locator('tbody tr').count()).toBe(2)
    expect(await now.innerText()).toContain(en.capture.states.watching)
  })

  it('says which field is wrong, and sends nothing', async () => {
    await panel().getByRole('textbox', { name: en.capture.ranks }).fill('seven')
    await panel().getByRole('button', { name: en.capture.send }).click()
    expect(await panel().getByRole('alert').innerText()).toBe(en.capture.wrong.ranks)
    await panel().getByRole('textbox', { name: en.capture.ranks }).fill('')
    expect(await panel().getByRole('region').count()).toBe(0)
  })

  it('records the next steps, and links to the run', async () => {
    await panel().getByRole('textbox', { name: en.capture.next }).fill('4')
    await panel().getByRole('checkbox', { name: en.capture.stack }).check()
    await session.page.keyboard.press('Enter')
    const mine = request(/^Steps \d+ to \d+$/)
    await mine.getByRole('status').filter({ hasText: `2 ${en.capture.states.finished}` }).waitFor({ timeout: 30_000 })
    const link = mine.getByRole('link', { name: en.capture.openRun })
    await link.waitFor({ timeout: 30_000 })
    await session.picture('capture-finished')
    const [from, to] = ((await mine.getAttribute('aria-label')) ?? '').match(/\d+/g)?.map(Number) ?? []
    expect((to ?? 0) - (from ?? 0)).toBe(3)
    await session.page.locator('tbody tr', { hasText: 'recorded' }).getByText(en.bar.clean).waitFor({ timeout: 30_000 })
    await link.click()
    await session.page.waitForURL(/overview/)
    await session.settle()
    // The steps that were asked for are what is in it, on both ranks, with stacks.
    const id = /run\/([0-9a-f]{16})/.exec(session.page.url())?.[1]
    const sql = async (text: string) =>
      ((await (await program.api(`runs/${id}/sql`, { method: 'POST', body: JSON.stringify({ sql: text }) })).json()) as { rows: unknown[][] }).rows
    expect(await sql('select rank, min(step), max(step), count(*) from steps group by rank order by rank')).toEqual([[0, from, to, 4], [1, from, to, 4]])
    expect(await sql("select count(*) from slices where name = 'forward'")).toEqual([[8]])
  })

  it('makes a run of each window, with all ranks', async () => {
    await session.go('/?capture=1')
    await panel().getByRole('textbox', { name: en.capture.next }).fill('2')
    await panel().getByRole('button', { name: en.capture.send }).click()
    await expect.poll(() => panel().getByRole('link', { name: en.capture.openRun }).count(), { timeout: 30_000 }).toBe(2)
    const rows = session.page.locator('tbody tr', { hasText: /recorded\/start\d+_stop\d+/ })
    await rows.filter({ hasText: en.bar.clean }).nth(1).waitFor({ timeout: 30_000 })
    expect(await rows.count()).toBe(2)
    for (const row of await rows.all()) expect(await row.locator('td').nth(1).innerText()).toBe('2')
    await session.picture('capture-windows')
  })

  it('refuses to take steps away that others wait for, unless they are replaced', async () => {
    await session.go('/?capture=1')
    await panel().getByRole('button', { name: en.capture.range, exact: true }).click()
    const field = panel().getByRole('textbox', { name: en.capture.range, exact: true })
    await field.fill('900000-900001')
    await panel().getByRole('button', { name: en.capture.send }).click()
    await request(/900000/).getByRole('status').filter({ hasText: `2 ${en.capture.states.armed}` }).waitFor({ timeout: 30_000 })
    await field.fill('800000')
    await panel().getByRole('button', { name: en.capture.send }).click()
    const refusal = panel().getByRole('alert')
    await refusal.getByText('steps 900000 to 900001').waitFor()
    session.problems.splice(0) // 409
    await session.picture('capture-refused')
    await refusal.getByRole('button', { name: en.capture.replace }).click()
    await request(/^Step 800000$/).getByRole('status').filter({ hasText: `2 ${en.capture.states.armed}` }).waitFor({ timeout: 30_000 })
    await request(/900000/).getByRole('status').filter({ hasText: `2 ${en.capture.states.superseded}` }).waitFor({ timeout: 30_000 })
    expect(findTextProblems(await panel().innerText())).toEqual([])
  })

  it('is operated by keys, and closes to where it was opened from', async () => {
    expect(await session.page.evaluate(namelessControls)).toEqual([])
    await session.page.keyboard.press('Escape')
    expect(await panel().count()).toBe(0)
    expect(session.page.url()).not.toContain('capture')
    expect((await session.page.evaluate(focused)).what).toBe(`button ${en.capture.button}`)
    await session.page.keyboard.press('Enter')
    await panel().waitFor()
    await session.settle()
    expect((await session.page.evaluate(focused)).what).toContain(en.capture.next)
  })

  it.each(['light', 'dark'] as const)('in Chinese, %s', async (theme) => {
    const other = await Session.open(browser, program.link, { language: 'zh', theme, width: 1280, height: 800 })
    await other.go('/?capture=1')
    const drawer = other.page.getByRole('complementary', { name: zh.capture.title })
    await drawer.getByText('2 张卡在训练').waitFor()
    await other.settle()
    await other.picture(`capture-zh-${theme}`)
    expect(await other.page.evaluate(weakContrasts)).toEqual([])
    expect(await drawer.innerText()).not.toMatch(/\b(armed|superseded|finished|Steps)\b/)
    other.expectNoProblems()
    await other.close()
  })

  it('that has ended leaves what it recorded', async () => {
    await training.stop()
    await panel().getByText(en.capture.none).waitFor()
    expect(await panel().getByRole('button', { name: en.capture.send }).count()).toBe(0)
    expect(await panel().getByRole('link', { name: en.capture.openRun }).count()).toBe(2)
    await session.picture('capture-ended')
  })
})
