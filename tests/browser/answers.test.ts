// Answers that come late, out of order, in part, or not at all: the pages say so, and show nothing else in their place.
import type { Browser, Route } from 'playwright-core'
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'

import en from '../../web/src/locale/en'
import zh from '../../web/src/locale/zh'
import { runId, runPath, withBrowser } from './support/hooks'
import { Session } from './support/session'

const generated = runPath('generated')

let browser: Browser
let session: Session
withBrowser((made) => (browser = made))
beforeEach(async () => {
  session = await Session.open(browser, inject('link'))
})
afterEach(() => session.close())

const alerts = () => session.page.getByRole('main').getByRole('alert')
const fail = (route: Route) => route.fulfill({ status: 500, json: { error: { code: 'internal', message: 'made to fail', remedy: '' } } })

// Holds back the first answer to a path until it is let go; the page may have given it up by then.
async function holdFirst(path: RegExp): Promise<{ asked: Promise<void>; release: () => Promise<void> }> {
  let release: () => void = () => undefined
  let tell: () => void = () => undefined
  const released = new Promise<void>((resolve) => (release = resolve))
  const asked = new Promise<void>((resolve) => (tell = resolve))
  let first = true
  let done: Promise<void> = Promise.resolve()
  await session.page.route(path, (route) => {
    if (!first) return route.continue()
    first = false
    tell()
    done = released.then(() => route.continue()).catch(() => undefined)
    return done
  })
  return {
    asked,
    release: async () => {
      release()
      await done
      await session.page.waitForTimeout(700) // longer than an answer and the pause before the address follows
    },
  }
}

describe('the timeline', () => {
  const search = () => session.page.getByRole('searchbox', { name: en.timeline.search })

  it('shows the slice that was chosen last, whichever answer comes last', async () => {
    await session.go(`${generated}/timeline?from=0&to=1000000000`)
    await search().fill('nccl')
    await session.page.getByText(/^0 of/).waitFor()
    const held = await holdFirst(/\/slices\/\d+/)
    await search().press('Enter')
    await held.asked
    await search().press('Enter')
    await session.page.getByText(/^2 of/).waitFor()
    await expect.poll(() => session.page.url()).toMatch(/slice=\d+/)
    const chosen = session.page.url()
    await held.release()
    expect(session.page.url()).toBe(chosen)
  })

  it('leaves the address alone once it is left', async () => {
    await session.go(`${generated}/timeline`)
    const held = await holdFirst(/\/slices\/\d+/)
    await session.go(`${generated}/overview`)
    await session.page.evaluate((target) => (location.hash = target), `${generated}/timeline?slice=5`)
    await held.asked
    await session.page.evaluate((target) => (location.hash = target), `${generated}/memory`)
    await session.page.waitForURL(/memory/)
    await held.release()
    expect(session.page.url()).toMatch(/memory$/)
  })

  it('says which lanes a selection counts, and counts again when they change', async () => {
    await session.go(`${generated}/timeline?range=0_50000000`)
    const panel = session.page.locator('aside')
    const covers = async () => Number(/([\d\u2009]+) recorded lanes/.exec(await panel.innerText())?.[1]?.replaceAll('\u2009', ''))
    const slices = async () => Number(/([\d\u2009]+) slices/.exec(await panel.innerText())?.[1]?.replaceAll('\u2009', ''))
    const all = await covers()
    const allSlices = await slices()
    expect(all).toBeGreaterThan(4)
    // Of the filtered lanes those of closed ranks count too: four ranks have a stream of this name each.
    const asking = session.page.waitForRequest((request) => request.url().includes('/timeline/range') && request.url().includes('tracks='))
    await session.page.getByRole('searchbox', { name: en.timeline.filter }).fill('stream 7')
    const tracks = new URL((await asking).url()).searchParams.get('tracks')?.split(',') ?? []
    await panel.getByText('that the filter leaves').waitFor()
    await session.settle()
    expect(await covers()).toBe(tracks.length)
    expect(await slices()).toBeLessThan(allSlices)
    await session.page.locator('header select').selectOption('2')
    await expect.poll(covers).toBeLessThan(tracks.length)
    await session.settle()
    await session.picture('timeline-range')
    session.expectNoProblems()
  })

  it('counts the lanes of closed ranks', async () => {
    const covers = async () => Number(/([\d\u2009]+) recorded lanes/.exec(await session.page.locator('aside').innerText())?.[1]?.replaceAll('\u2009', ''))
    await session.go(`${generated}/timeline?range=0_50000000&lanes=stream`)
    const open = await covers()
    await session.go(`${generated}/overview`)
    await session.go(`${generated}/timeline?range=0_50000000&lanes=stream&closed=r0,r1,r2,r3`)
    expect(open).toBeGreaterThan(3)
    expect(await covers()).toBe(open)
  })

  it('says that totals could not be counted', async () => {
    await session.page.route(/\/timeline\/range/, fail)
    await session.go(`${generated}/timeline?range=0_50000000`)
    await session.page.locator('aside').getByRole('alert').getByText('made to fail').waitFor()
  })

  it('says that lanes or curves are missing, and tries again', async () => {
    for (const part of ['lanes', 'series']) {
      await session.page.route(new RegExp(`/timeline/${part}$`), fail)
      await session.go(`${generated}/timeline`)
      await alerts().getByText('made to fail').waitFor()
      await session.page.unroute(new RegExp(`/timeline/${part}$`))
      await session.page.getByRole('button', { name: en.state.retry }).click()
      await session.settle()
      expect(await alerts().count()).toBe(0)
      await session.go(`${generated}/overview`)
    }
  })

  it('says that lanes are being computed, until they are there', async () => {
    const held = await holdFirst(/\/timeline\/lanes$/)
    await session.page.evaluate((target) => (location.hash = target), `${generated}/timeline`)
    await held.asked
    const line = session.page.getByText(en.timeline.computing)
    await line.waitFor()
    await session.picture('timeline-computing')
    await held.release()
    await session.settle()
    expect(await line.count()).toBe(0)
  })

  it('does not ask for names in a loop when they fail', async () => {
    let requests = 0
    await session.page.route(/\/timeline\/names/, (route) => {
      requests += 1
      return fail(route)
    })
    await session.go(`${generated}/timeline`)
    await alerts().getByText('made to fail').waitFor()
    await session.page.waitForTimeout(1500)
    expect(requests).toBeLessThanOrEqual(2)
  })
})

describe('pages', () => {
  it('do not take a moment of the memory that failed for an empty one', async () => {
    const reply = await session.page.request.get(`${inject('base')}api/v1/runs/${runId('generated')}/analyses/memory_curve?rank=0&limit=200`, { headers: { 'X-Stepscope-Token': inject('token') } })
    const curve = (await reply.json()) as { columns: { name: string }[]; rows: (string | number | null)[][] }
    const at = curve.columns.findIndex((column) => column.name === 'ts')
    const [first, second] = [curve.rows[20]?.[at], curve.rows[120]?.[at]]
    await session.page.route(new RegExp(`memory_owners.*at=${second}`), fail)
    await session.go(`${generated}/memory?at=${first}&compare=1&to=${second}`)
    await alerts().getByText('made to fail').waitFor()
    expect(await session.page.getByText(/^difference/).count()).toBe(0)
    await session.page.unroute(new RegExp(`memory_owners.*at=${second}`))
    await alerts().getByRole('button', { name: en.state.retry }).click()
    await session.page.getByText(/^difference/).waitFor()
  })

  it('say in the language of the reader that the server does not answer', async () => {
    await session.close()
    session = await Session.open(browser, inject('link'), { language: 'zh' })
    await session.page.route(/analyses\/memory\?/, (route) => route.abort())
    await session.go(`${generated}/memory`)
    await alerts().getByText(zh.state.offline).first().waitFor()
  })

  it('stay in English where the Chinese texts do not come', async () => {
    await session.page.route(/\/chinese[^/]*\.js$/, (route) => route.abort())
    await session.go(`${generated}/overview`)
    await session.page.getByRole('button', { name: en.bar.language }).click()
    await session.page.getByRole('alert').getByText(en.bar.noLanguage).waitFor()
    await session.picture('no-chinese')
    await session.page.evaluate(() => localStorage.setItem('stepscope.language', 'zh'))
    await session.reload()
    await session.page.getByRole('link', { name: en.page.timeline }).first().waitFor()
  })

  it('say that samples of the processors could not be loaded', async () => {
    await session.page.route(/analyses\/cpu_samples/, fail)
    await session.go(`${runPath('example')}/cpu`)
    await alerts().getByText('made to fail').waitFor()
  })

  it('say that figures are made of some of the rows', async () => {
    await session.page.route(/analyses\/step_budget/, async (route) => {
      const reply = await route.fetch()
      const table = (await reply.json()) as { total: number }
      await route.fulfill({ json: { ...table, total: 1_234_567 } })
    })
    await session.go(`${generated}/overview`)
    expect(await session.page.getByRole('main').getByText(/Only the first .* of 1.234.567 rows/).count()).toBe(1)
  })

  it('ask for the steps of the rank that is shown', async () => {
    const asking = session.page.waitForRequest(/analyses\/steps\?/)
    await session.go(`${generated}/timeline?rank=3`)
    expect(new URL((await asking).url()).searchParams.get('rank')).toBe('3')
  })

  it('show the answer of the query that was asked last', async () => {
    await session.go(`${generated}/sql`)
    const editor = session.page.getByRole('textbox', { name: 'SQL' })
    const held = await holdFirst(/\/sql$/)
    await editor.fill("select 'earlier' as name")
    await editor.press('Control+Enter')
    await held.asked
    await editor.fill("select 'later' as name")
    await editor.press('Control+Enter')
    await session.page.getByRole('cell', { name: 'later' }).waitFor()
    await held.release()
    expect(await session.page.getByRole('cell', { name: 'later' }).count()).toBe(1)
    expect(decodeURIComponent(session.page.url())).toContain('later')
  })
})
