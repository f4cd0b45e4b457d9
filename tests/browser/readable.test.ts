// What a page says can be read: nothing is cut without a hint, figures say what they are of, and what is wrong is told.
import { describe, expect, it } from 'vitest'

import en from '../../web/src/locale/en'
import { runPath, withSession } from './support/hooks'
import type { Session } from './support/session'

let session: Session
withSession((made) => (session = made))

const headline = () => session.page.locator('main .answer').first().innerText()
const generated = runPath('generated')

describe('the list of runs', () => {
  it('shortens names and gives reasons a line of their own', async () => {
    const name = `a${'_very_long_name'.repeat(12)}.json`
    await session.page.route(/\/api\/v1\/runs$/, async (route) => {
      const reply = await route.fetch()
      const list = await reply.json()
      const [one] = list.runs
      list.runs.push({ ...one, id: '00000000000000aa', name, path: `/runs/${name}`, state: 'ready', steps: 0 })
      list.runs.push({ ...one, id: '00000000000000ab', name: 'bad.json', path: '/runs/bad.json', state: 'failed', reason: `cannot import: /runs/bad.json: ${'why '.repeat(60)}(do it)` })
      await route.fulfill({ json: list })
    })
    for (const width of [1440, 1024]) {
      await session.page.setViewportSize({ width, height: 700 })
      await session.go('/')
      await session.reload()
      const list = session.page.locator('main .list')
      await list.getByText('bad.json', { exact: true }).waitFor()
      const row = list.locator('tr', { has: session.page.locator(`td[title="/runs/${name}"]`) })
      expect(await row.locator('td').first().innerText()).toContain('…')
      expect(await row.locator('td').nth(2).innerText()).toBe('–') // steps are not marked: not 0
      expect(await list.locator('tr.why').filter({ hasText: '(do it)' }).count()).toBe(1)
      await session.picture(`runs-${width}`)
    }
    await session.page.unroute(/\/api\/v1\/runs$/)
    await session.page.setViewportSize({ width: 1440, height: 900 })
    await session.reload()
  })
})

describe('a run that cannot be shown', () => {
  it.each([['that failed', () => runPath('broken.json')], ['that is unknown', () => '/run/00000000000000ff']])('%s leads back to the others, and is not called complete', async (_, path) => {
    await session.go(`${path()}/overview`)
    expect(await session.page.getByRole('alert').getByRole('link', { name: en.bar.back }).count()).toBe(1)
    expect(await session.page.locator('header').getByText(en.bar.clean).count()).toBe(0)
  })
})

describe('a link', () => {
  it('to a rank and a step that are not there shows all, and says so', async () => {
    await session.go(`${generated}/operators?rank=99&step=1000`)
    const notice = session.page.locator('.notice.missing')
    await expect.poll(() => notice.innerText()).toContain('99')
    await expect.poll(() => notice.innerText()).toContain('1000')
    expect(session.page.url()).not.toMatch(/rank=|step=/)
    await notice.getByRole('button').click()
    expect(await notice.count()).toBe(0)
  })
})

describe('headlines', () => {
  it('name the rank that stands for all, and what does not follow the step', async () => {
    for (const page of ['steps', 'calculation', 'memory']) {
      await session.go(`${generated}/${page}`)
      expect(await headline(), page).toContain('rank 0')
    }
    for (const page of ['operators', 'memory', 'calculation']) {
      await session.go(`${generated}/${page}`)
      expect(await headline(), page).not.toContain(en.bar.whole)
      await session.go(`${generated}/${page}?step=3`)
      expect(await headline(), page).toContain(en.bar.whole)
    }
  })

  it('of communication tell a part of the waiting, not more than there is', async () => {
    await session.go(`${generated}/communication`)
    expect(await headline()).toMatch(/Rank 2 comes late: (9\d\.\d|100\.0) % of all waiting is for it/)
  })
})

describe('tables', () => {
  it('cut names once, in their middle, and tell that there is more to the right', async () => {
    await session.page.setViewportSize({ width: 1024, height: 700 })
    await session.go(`${generated}/operators?tab=kernels&view=all`)
    const cut = await session.page.locator('td.mono').evaluateAll((cells) => cells.filter((cell) => cell.scrollWidth > cell.clientWidth).map((cell) => cell.textContent))
    expect(cut).toEqual([])
    expect(await session.page.locator('main .sides.more').count()).toBe(1)
    await session.page.locator('main .scroll').evaluate((box) => (box.scrollLeft = box.scrollWidth))
    await expect.poll(() => session.page.locator('main .sides.more').count()).toBe(0)
    await session.page.setViewportSize({ width: 1440, height: 900 })
  })

  it('mark an expression that is none, and hide nothing', async () => {
    await session.go(`${generated}/operators?tab=kernels&view=all`)
    const search = session.page.getByRole('searchbox', { name: en.table.search, exact: true })
    const lines = await session.page.locator('main .line').count()
    await search.fill('/(/')
    expect(await search.getAttribute('aria-invalid')).toBe('true')
    await session.page.getByText(en.table.searchWrong).waitFor()
    expect(await session.page.locator('main .line').count()).toBe(lines)
    await search.fill('')
    await session.settle()
  })

  it('stay beside the drawer, not below it', async () => {
    await session.go(`${generated}/operators?tab=kernels&view=all`)
    await session.page.locator('main .line td').first().click()
    const drawer = await session.page.locator('aside.drawer').boundingBox()
    const table = await session.page.locator('main .sides').boundingBox()
    expect((table?.x ?? 0) + (table?.width ?? 0)).toBeLessThanOrEqual(drawer?.x ?? 0)
    await session.page.keyboard.press('Escape')
    await session.settle()
  })
})

describe('SQL', () => {
  const ask = async (sql: string) => {
    await session.go(`${generated}/sql`)
    const editor = session.page.getByRole('textbox', { name: 'SQL' })
    await editor.fill(sql)
    await editor.press('Control+Enter')
  }

  it('leaves the names of columns as they were written', async () => {
    await ask('select count(*), 3 as my_col_ns from kernels')
    await session.page.locator('main .line').first().waitFor()
    expect(await session.page.locator('main th .head').allInnerTexts()).toEqual(['count_star()', 'my_col_ns'])
  })

  it('stops a query that takes too long, also in the server', async () => {
    await ask('select 1 as one')
    await session.page.locator('main .line').first().waitFor()
    const asked = session.page.waitForRequest(/\/sql$/)
    const editor = session.page.getByRole('textbox', { name: 'SQL' })
    await editor.fill('select count(*) from range(10000000) a, range(10000000) b where a.range + b.range = 7')
    await editor.press('Control+Enter')
    await asked
    await session.page.locator('.card.old').waitFor() // the answer of the query before
    await session.page.waitForTimeout(300) // it is under way there
    const [stopped] = await Promise.all([session.page.waitForResponse((reply) => reply.request().method() === 'DELETE'), session.page.getByRole('button', { name: en.sql.cancel }).click()])
    expect(await stopped.json()).toEqual({ stopped: true })
    await session.page.getByText(en.sql.cancelled).waitFor()
    await session.page.getByRole('button', { name: en.sql.run, exact: true }).waitFor()
  })
})
