// What people do on the pages: search, sort, choose, zoom, ask, download, add files, share links.
import { readFileSync, rmSync } from 'node:fs'
import { describe, expect, inject, it } from 'vitest'

import en from '../../web/src/locale/en'
import zh from '../../web/src/locale/zh'
import { runId, runPath, withSession } from './support/hooks'
import { tinyTrace } from './support/makeRuns'
import { runsFolder } from './support/paths'
import type { Session } from './support/session'

const generated = runPath('generated')

let session: Session
withSession((made) => (session = made))

const chart = (name: string) => session.page.getByRole('application', { name }).first()
// What is said of the item that keys have gone to.
const told = (name: string) => chart(name).locator('xpath=..').getByRole('status').innerText()

describe('the list of runs', () => {
  const rows = () => session.page.locator('tbody tr:not(.why)') // not the reasons of those that failed
  const row = (name: string) => rows().filter({ hasText: name })

  it('shows what there is, and why a run is not', async () => {
    await session.go('/')
    for (const run of inject('runs')) expect(await row(run.name).count(), run.name).toBeGreaterThan(0)
    expect(await row('broken.json').innerText()).toContain(en.runs.failed)
  })

  it('is searched and sorted', async () => {
    await session.go('/')
    const search = session.page.getByRole('searchbox', { name: en.runs.search })
    await search.fill('gener')
    expect(await rows().count()).toBe(1)
    await search.fill('no such run')
    expect(await rows().count()).toBe(0)
    await search.fill('')
    const names = async () => rows().locator('td:first-child').allInnerTexts()
    const head = session.page.getByRole('button', { name: en.runs.name })
    await head.click()
    const rising = await names()
    await head.click()
    expect(await names()).toEqual([...rising].reverse())
  })

  it('opens a run in a tab of its own, as links do, wherever its row is clicked', async () => {
    await session.go('/')
    const opened = session.page.context().waitForEvent('page')
    await row('generated').locator('td:nth-child(4)').click({ button: 'middle', force: true })
    const tab = await opened
    await tab.waitForURL(/overview/)
    await tab.close()
    expect(new URL(session.page.url()).pathname).toBe('/')
  })

  it('tags runs and finds them by tag', async () => {
    await session.go('/')
    await row('generated').getByRole('button', { name: en.runs.tagAdd }).click()
    await session.page.keyboard.type('baseline')
    await session.page.keyboard.press('Enter')
    await row('generated').getByRole('button', { name: 'baseline', exact: true }).click()
    expect(await rows().count()).toBe(1)
    await session.reload()
    await row('generated').getByRole('button', { name: 'Remove tag baseline' }).click()
    await session.settle()
    expect(await session.page.getByRole('button', { name: 'baseline', exact: true }).count()).toBe(0)
  })

  it('forgets a tag that is given up', async () => {
    await session.go('/')
    for (const finish of ['Escape', 'Enter']) {
      await row('generated').getByRole('button', { name: en.runs.tagAdd }).click()
      if (finish === 'Escape') await session.page.keyboard.type('given up')
      await session.page.keyboard.press(finish)
      await row('generated').getByRole('button', { name: en.runs.tagAdd }).waitFor()
      await session.settle()
    }
    await session.reload()
    expect(await session.page.getByText('given up').count()).toBe(0)
  })

  it('takes a file that is dropped, and imports it', async () => {
    await session.go('/')
    const data = await session.page.evaluateHandle((text) => {
      const carried = new DataTransfer()
      carried.items.add(new File([text], 'dropped.json', { type: 'application/json' }))
      return carried
    }, tinyTrace)
    for (const type of ['dragover', 'drop']) await session.page.dispatchEvent('main', type, { dataTransfer: data })
    await row('dropped.json').getByText(en.bar.clean).waitFor({ timeout: 10_000 })
    await row('dropped.json').getByRole('link').click()
    await session.page.waitForURL(/overview/)
    await session.settle()
    rmSync(`${runsFolder}/dropped.json`)
  })

  it('says why a file that is no trace is not taken', async () => {
    await session.go('/')
    const choosing = session.page.waitForEvent('filechooser')
    await session.page.getByRole('button', { name: en.runs.add }).click()
    await (await choosing).setFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('no trace') })
    await session.page.getByRole('status').getByText('no importer recognises').first().waitFor()
    await session.settle()
    session.problems.length = 0 // the answer 400 is what was wanted
  })
})

describe('the frame of a run', () => {
  const rail = () => session.page.getByRole('navigation').first()

  it('goes to every page by its links, and Back returns', async () => {
    await session.go(`${generated}/overview`)
    await rail().getByRole('link', { name: en.page.memory }).click()
    await session.page.waitForURL(/memory/)
    await session.settle()
    await session.page.goBack()
    await session.page.waitForURL(/overview/)
    await session.settle()
  })

  it('chooses a rank, and every page keeps it', async () => {
    await session.go(`${generated}/overview`)
    await session.page.locator('header select').selectOption('2')
    await session.page.waitForURL(/rank=2/)
    await rail().getByRole('link', { name: en.page.steps }).click()
    await session.page.waitForURL(/steps.*rank=2/)
    await session.settle()
  })

  it('leads from a slow rank to what shows it: all ranks beside each other', async () => {
    await session.go(`${generated}/overview`)
    const finding = () => session.page.locator('article').filter({ hasText: 'Rank 2 is slower than the others' })
    await finding().getByRole('link', { name: en.page.ranks }).click()
    await session.page.waitForURL(/ranks/)
    await session.settle()
    expect(session.address()).not.toMatch(/rank=/)
    await expect.poll(() => session.page.locator('main').innerText()).toContain(en.ranks.why.longer_without_communication)
    await expect.poll(() => session.page.locator('tr.line').count()).toBe(4)
    await session.page.goBack()
    await session.settle()
    await finding().getByRole('link', { name: en.overview.evidence }).click()
    await session.page.waitForURL(/timeline.*lanes=stream/)
    await session.settle()
    expect(session.address()).not.toMatch(/rank=/)
  })

  it('chooses a step in the strip; the link reopens it', async () => {
    await session.go(`${generated}/overview`)
    const strip = session.page.getByRole('listbox')
    expect((await strip.boundingBox())?.height).toBeLessThan(60)
    await strip.getByRole('option').nth(3).click()
    await session.page.waitForURL(/step=/)
    await session.reload()
    expect(await session.page.getByRole('listbox').getByRole('option', { selected: true }).count()).toBe(1)
  })

  it('zooms to the steps that are drawn over in the strip, on every page', async () => {
    await session.go(`${generated}/steps?rank=0`)
    const bars = session.page.getByRole('listbox').getByRole('option')
    const middle = async (at: number) => {
      const box = (await bars.nth(at).boundingBox())!
      return [box.x + box.width / 2, box.y + 10] as const
    }
    const steps = await Promise.all([2, 4].map(async (at) => /\d+/.exec((await bars.nth(at).getAttribute('aria-label'))!)![0]))
    await session.page.mouse.move(...(await middle(2)))
    await session.page.mouse.down()
    await session.page.mouse.move(...(await middle(4)), { steps: 8 })
    await session.page.mouse.up()
    await session.page.waitForURL(new RegExp(`first=${steps[0]}&last=${steps[1]}`))
    await session.settle()
    expect(session.page.url()).not.toMatch(/[?&]step=/)
    expect(await session.page.getByRole('listbox').locator('.out').count()).toBe((await bars.count()) - 3)
    await session.picture('strip-range-steps')
    // The chart has these steps only.
    await session.page.getByRole('application', { name: en.part.fp_bp }).focus()
    for (const [key, step] of [['Home', steps[0]], ['End', steps[1]]] as const) {
      await session.page.keyboard.press(key)
      expect(await told(en.part.fp_bp)).toMatch(new RegExp(`^${step},`))
    }
    // So has that of another page, to which the rail leads.
    await rail().getByRole('link', { name: en.page.communication }).click()
    await session.page.waitForURL(/communication/)
    await session.settle()
    await session.page.getByRole('application', { name: en.communication.wait }).focus()
    for (const [key, step] of [['Home', steps[0]], ['End', steps[1]]] as const) {
      await session.page.keyboard.press(key)
      expect(await told(en.communication.wait)).toMatch(new RegExp(`^${step},`))
    }
    const part = async () => (await session.page.locator('.minimap .window').boundingBox())!.width
    await session.go(`${generated}/timeline?rank=0`)
    const whole = await part()
    await session.go(`${generated}/timeline?rank=0&first=${steps[0]}&last=${steps[1]}`)
    await expect.poll(part).toBeLessThan(whole * 0.8)
    await session.picture('strip-range-timeline')
    await session.page.getByRole('button', { name: `steps ${steps[0]} to ${steps[1]}` }).click()
    await expect.poll(() => session.page.url()).not.toMatch(/first=/)
    // By keys: one step, then another with shift. The other pages show the same.
    const [from, to] = await Promise.all([1, 3].map(async (at) => /\d+/.exec((await bars.nth(at).getAttribute('aria-label'))!)![0]))
    const place = async () => (await session.page.locator('.minimap .window').boundingBox())!
    const zoom = async (page: string) => {
      await session.go(`${generated}/${page}?rank=0`)
      await bars.nth(1).focus()
      await session.page.keyboard.press('Enter')
      await session.page.waitForURL(new RegExp(`step=${from}(&|$)`))
      await bars.nth(3).focus()
      await session.page.keyboard.press('Shift+Enter')
      await expect.poll(() => session.page.url()).toMatch(new RegExp(`first=${from}&last=${to}(&|$)`))
      expect(session.page.url()).not.toMatch(/[?&]step=/)
      await session.settle()
    }
    await zoom('timeline')
    await expect.poll(async () => (await place()).width).toBeLessThan(whole * 0.8)
    await session.page.waitForTimeout(300)
    const there = await place()
    await zoom('steps')
    await rail().getByRole('link', { name: en.page.timeline }).click()
    await session.page.waitForURL(/timeline/)
    await expect.poll(place).toEqual(there)
    await session.picture('strip-range-rail')
  })

  it('takes half of a range of steps for none', async () => {
    const example = `${runPath('example')}/cpu`
    const reset = () => session.page.getByRole('button', { name: /steps \d+ to \d+/ }).count()
    const asked = async (query: string) => {
      await session.go(`${generated}/overview`)
      const asking = session.page.waitForRequest(/analyses\/cpu\?/)
      await session.go(`${example}?${query}`)
      return new URL((await asking).url()).searchParams.get('last_step')
    }
    expect(await asked('first=3')).toBeNull()
    expect(await reset()).toBe(0)
    expect(await asked('first=3&last=5')).toBe('5')
    expect(await reset()).toBe(1)
  })

  it('changes language and theme, and keeps them', async () => {
    await session.go(`${generated}/overview`)
    await session.page.getByRole('button', { name: en.bar.language }).click()
    await rail().getByRole('link', { name: zh.page.timeline }).waitFor()
    await session.page.getByRole('button', { name: zh.bar.theme }).click()
    await session.reload()
    expect(await session.page.locator('html').getAttribute('data-theme')).toBe('dark')
    await session.page.getByRole('button', { name: zh.bar.language }).click()
    await rail().getByRole('link', { name: en.page.timeline }).waitFor()
    await session.page.getByRole('button', { name: en.bar.theme }).click()
  })

  it('explains a run that cannot be read', async () => {
    await session.go(`${runPath('broken.json')}/overview`)
    expect(await session.page.getByRole('alert').innerText()).toContain('broken.json')
    session.problems.length = 0
  })
})

describe('tables', () => {
  it('are searched, sorted and saved', async () => {
    await session.go(`${generated}/operators`)
    const main = session.page.getByRole('main')
    const search = main.getByRole('searchbox', { name: en.table.search, exact: true }).first()
    await search.fill('zzz no such operator')
    await session.page.getByText(en.table.noMatch).first().waitFor()
    await search.fill('')
    const saving = session.page.waitForEvent('download')
    await main.getByRole('button', { name: en.table.csv, exact: true }).first().click()
    const path = await (await saving).path()
    expect(readFileSync(path, 'utf8').split('\n').length).toBeGreaterThan(2)
  })

  it('are filtered by column, and a link keeps that', async () => {
    await session.go(`${generated}/operators?rank=0&tab=kernels&view=all`)
    const main = session.page.getByRole('main')
    const lines = main.locator('tr.line')
    const counted = async () => Number(/^([\d\u2009]+) of [\d\u2009]+ rows?/.exec(await main.locator('.tools .muted').first().innerText())?.[1]?.replaceAll('\u2009', '') ?? NaN)
    await main.getByRole('button', { name: en.table.filter, exact: true }).first().click()
    const filter = (column: string) => main.getByRole('searchbox', { name: `Filter of ${column}`, exact: true })
    await filter('name').fill('nccl')
    await expect.poll(async () => (await lines.first().innerText()).includes('nccl')).toBe(true)
    await expect.poll(counted).toBeGreaterThan(0)
    await filter('total').fill('> 1 h')
    expect(await filter('total').getAttribute('aria-invalid')).toBe('true')
    await filter('total').fill('> 1000 s')
    await main.getByText(en.table.noMatch).first().waitFor()
    await filter('total').fill('> 1 us')
    await expect.poll(() => session.address()).toMatch(/filter\.kernels_kernels=name~nccl,total_ns~/)
    await session.picture('table-filter')
    const shown = await counted()
    await session.reload()
    expect(await filter('name').inputValue()).toBe('nccl')
    expect(await counted()).toBe(shown)
    await main.getByRole('button', { name: en.table.filter, exact: true }).first().click()
    await expect.poll(() => session.address()).not.toMatch(/filter\./)
    expect(await filter('name').count()).toBe(0)
    // A column that is filtered shows, although it was taken away; it takes its filter with it.
    await session.go(`${generated}/operators?rank=0&tab=kernels&view=all&columns.kernels_kernels=name&filter.kernels_kernels=name~nccl`)
    expect(await filter('name').inputValue()).toBe('nccl')
    await session.picture('table-filter-hidden')
    await main.locator('summary', { hasText: en.table.columns }).first().click()
    await main.getByRole('checkbox', { name: 'name', exact: true }).click()
    await expect.poll(() => session.address()).not.toMatch(/filter\./)
    expect(await filter('name').count()).toBe(0)
    expect(await main.locator('th', { hasText: 'name' }).count()).toBe(0)
  })

  it('sort by Enter on a heading, and open by Enter on a row', async () => {
    await session.go(`${generated}/operators?rank=0&tab=kernels&view=all`)
    await session.reload() // menus and the line of filters are closed
    const main = session.page.getByRole('main')
    const head = main.locator('th', { hasText: 'count' }).first()
    const drawer = session.page.locator('.drawer')
    await main.locator('.scroll').first().focus()
    await session.page.keyboard.press('ArrowDown')
    await head.getByRole('button').focus()
    await session.page.keyboard.press('Enter')
    await expect.poll(() => head.getAttribute('aria-sort')).toBe('descending')
    expect(await drawer.count()).toBe(0)
    await session.page.keyboard.press('ArrowDown')
    await session.page.keyboard.press('Enter')
    await drawer.waitFor()
    // Escape is the menu's while it is open, then the drawer's.
    const menu = main.locator('summary', { hasText: en.table.columns }).first()
    await menu.focus()
    await session.page.keyboard.press('Enter')
    await session.page.keyboard.press('Tab')
    await session.page.keyboard.press('Escape')
    expect(await main.locator('details[open]').count()).toBe(0)
    expect(await menu.evaluate((element) => element === document.activeElement)).toBe(true)
    expect(await drawer.count()).toBe(1)
    await session.page.keyboard.press('Escape')
    await expect.poll(() => drawer.count()).toBe(0)
    await session.settle()
  })

  it('keep their headings and filters in sight', async () => {
    await session.go(`${generated}/operators?rank=0&tab=kernels&view=all`)
    await session.reload() // menus and the line of filters are closed
    const main = session.page.getByRole('main')
    await main.getByRole('button', { name: en.table.filter, exact: true }).first().click()
    const box = main.locator('.scroll').first()
    await box.evaluate((element) => (element.scrollTop = 200))
    const top = async (part: string) => (await box.locator(part).first().boundingBox())!
    const [outer, head, filters] = [(await box.boundingBox())!, await top('th'), await top('.filters th')]
    expect(head.y).toBeCloseTo(outer.y, -1)
    expect(filters.y).toBeCloseTo(head.y + head.height, 0)
    await session.picture('table-scrolled')
    await main.getByRole('button', { name: en.table.filter, exact: true }).first().click()
  })

  it('have columns of any width, which stay', async () => {
    await session.go(`${generated}/operators?rank=0&tab=kernels&view=all`)
    const head = () => session.page.getByRole('main').locator('th').first()
    const width = async () => (await head().boundingBox())!.width
    const before = await width()
    const edge = (await head().locator('.edge').boundingBox())!
    await session.page.mouse.move(edge.x + 3, edge.y + 8)
    await session.page.mouse.down()
    await session.page.mouse.move(edge.x + 103, edge.y + 8, { steps: 4 })
    await session.page.mouse.up()
    await expect.poll(width).toBeCloseTo(before + 100, -1)
    await session.picture('table-width')
    await session.reload()
    expect(await width()).toBeCloseTo(before + 100, -1)
    await head().getByRole('button').focus()
    await session.page.keyboard.press('Alt+ArrowLeft')
    await expect.poll(width).toBeCloseTo(before + 84, -1)
    await head().locator('.edge').dblclick()
    await expect.poll(width).toBeCloseTo(before, -1)
  })

  it('show modules as a tree, which search goes through whole', async () => {
    await session.go(`${generated}/operators?rank=0`)
    await session.page.getByRole('tab', { name: en.operators.tab.modules, exact: true }).click()
    await session.settle()
    expect(session.page.url()).toContain('tab=modules')
    const main = session.page.getByRole('main')
    const lines = main.locator('tr.line')
    const root = lines.first()
    const mark = root.getByRole('button', { name: en.table.expand })
    expect(await mark.getAttribute('aria-expanded')).toBe('true')
    const open = await lines.count()
    await session.picture('operators-modules')
    await mark.click()
    expect(await lines.count()).toBeLessThan(open)
    await root.click()
    expect(await lines.count()).toBe(open)
    // A module deep inside, closed or not.
    await main.getByRole('searchbox', { name: en.table.search, exact: true }).fill('LayerNorm')
    expect(await lines.first().innerText()).toMatch(/\/.*LayerNorm/)
    await lines.first().click()
    expect(await session.page.locator('.drawer').innerText()).toMatch(/LayerNorm/)
    await session.page.keyboard.press('Escape')
  })

  it('say how modules are recorded where there are none', async () => {
    await session.go(`${runPath('example')}/operators?tab=modules`)
    expect(await session.page.getByRole('main').innerText()).toContain('with_stack=True')
  })
})

describe('the timeline', () => {
  it('zooms by keys, and its link reopens the same view', async () => {
    await session.go(`${generated}/timeline`)
    const canvas = session.page.locator('main canvas').first()
    const box = (await canvas.boundingBox())!
    await session.page.mouse.move(box.x + box.width / 2, box.y + box.height / 2)
    await canvas.focus()
    const before = session.page.url()
    await session.page.keyboard.press('w')
    await session.page.keyboard.press('w')
    await expect.poll(() => session.page.url()).not.toBe(before)
    await session.settle()
    await session.page.waitForTimeout(500) // the address follows when the view rests
    const zoomed = session.page.url()
    const part = () => session.page.locator('.minimap .window').boundingBox()
    const shown = await part()
    await session.picture('timeline-zoomed')
    await session.reload()
    await session.page.waitForTimeout(500)
    expect(session.page.url()).toBe(zoomed)
    expect(await part()).toEqual(shown)
    expect(shown?.width).toBeLessThan(box.width * 0.8)
  })

  it('finds names and shows a slice', async () => {
    await session.go(`${generated}/timeline`)
    const search = session.page.getByRole('searchbox', { name: en.timeline.search })
    await search.fill('nccl')
    await session.settle()
    await search.press('Enter')
    await session.page.locator('aside').getByText(/nccl/).first().waitFor()
    await expect.poll(() => session.page.url()).toMatch(/slice=\d+/)
    await session.picture('timeline-slice')
  })

  it('saves a rank as a trace', async () => {
    const link = `${inject('base')}api/v1/runs/${runId('generated')}/trace?position=1&scope_levels=3`
    const reply = await session.page.request.get(link)
    expect(reply.status()).toBe(200)
    expect(Array.isArray(JSON.parse(await reply.text()))).toBe(true)
  })
})

describe('the list of keys', () => {
  const dialog = () => session.page.getByRole('dialog', { name: en.keys.title })
  const view = () => /from=-?\d+&to=\d+/.exec(session.address())?.[0]

  it('closes with Esc, and keys do not go through it', async () => {
    await session.go(`${generated}/timeline?rank=0&from=10000000&to=20000000&marks=15000000`)
    const before = view()
    await session.page.locator('main canvas').last().focus()
    await session.page.keyboard.press('?')
    await dialog().waitFor()
    for (const key of ['w', '0', '?', 'p']) await session.page.keyboard.press(key)
    expect(await dialog().evaluate((one) => one.contains(document.activeElement))).toBe(true)
    await session.page.keyboard.press('Escape')
    await expect.poll(() => dialog().count()).toBe(0)
    await session.page.waitForTimeout(500) // what keys change would be in the address by then
    expect(view()).toBe(before)
    expect(session.address()).toContain('marks=15000000')
  })

  it('opens on every page, by its key and by the bar, and does not stay over the next one', async () => {
    await session.go(`${generated}/overview`)
    await session.page.keyboard.press('?')
    await dialog().waitFor()
    await session.page.keyboard.press('Escape')
    await expect.poll(() => dialog().count()).toBe(0)
    await session.page.getByRole('banner').getByRole('button', { name: en.keys.title }).click()
    await dialog().waitFor()
    await session.picture('keys-overview')
    await session.go(`${generated}/memory`)
    expect(await dialog().count()).toBe(0)
    await session.go('/')
    await session.page.getByRole('searchbox', { name: en.runs.search }).fill('')
    await session.page.keyboard.press('?')
    expect(await dialog().count()).toBe(0) // a letter that is typed
    await session.page.getByRole('searchbox', { name: en.runs.search }).fill('')
  })
})

describe('keys of the timeline', () => {
  it('0, Fit and the map of the whole run show the same', async () => {
    await session.go(`${generated}/timeline?rank=0&from=10000000&to=20000000`)
    const view = () => /from=(-?\d+)&to=(\d+)/.exec(session.address())?.[0]
    await session.page.locator('main canvas').last().focus()
    await session.page.keyboard.press('0')
    await expect.poll(view).not.toBe('from=10000000&to=20000000')
    const whole = view()
    const width = async (part: string) => (await session.page.locator(`.minimap ${part}`).boundingBox())!.width
    expect(Math.abs((await width('.window')) - (await width('.map')))).toBeLessThan(2)
    await session.page.keyboard.press('w')
    await expect.poll(view).not.toBe(whole)
    await session.page.getByRole('button', { name: en.timeline.fit, exact: true }).click()
    await expect.poll(view).toBe(whole)
  })

  const aside = () => session.page.locator('aside')
  const address = () => session.address()

  it('reach slices, lanes, pins and marks without a pointer', async () => {
    await session.go(`${generated}/overview`)
    await session.page.mouse.move(5, 5)
    await session.go(`${generated}/timeline?rank=0`)
    await session.page.locator('main canvas').last().focus()
    await session.page.keyboard.press('Enter')
    await aside().waitFor()
    await session.settle()
    const first = await aside().innerText()
    await session.page.keyboard.press('Shift+ArrowDown')
    await session.page.waitForTimeout(300)
    await session.page.keyboard.press('Shift+ArrowDown')
    await expect.poll(() => aside().innerText()).not.toBe(first)
    const view = /from=([-\d]+)/.exec(address())?.[1]
    await session.page.keyboard.press('Enter')
    await expect.poll(() => /from=([-\d]+)/.exec(address())?.[1]).not.toBe(view)
    await session.page.keyboard.press('m')
    await expect.poll(address).toMatch(/marks=\d+/)
    await session.page.keyboard.press('p')
    await expect.poll(address).toMatch(/pin=t\d+/)
    await session.page.keyboard.press('p')
    await expect.poll(address).not.toMatch(/pin=/)
    await session.page.keyboard.press('Shift+C')
    await expect.poll(address).toMatch(/closed=g/)
    await session.page.keyboard.press('Shift+C')
    await session.page.keyboard.press('?')
    const help = await session.page.locator('dialog').innerText()
    for (const what of ['mark', 'pin', 'collapse', 'enter', 'lane'] as const) expect(help).toContain(en.timeline.keyHelp[what])
    await session.picture('timeline-keys')
    await session.page.keyboard.press('Escape')
  })

  it('reach the operator types of the overview', async () => {
    await session.go(`${generated}/overview`)
    await session.page.locator('tr[tabindex="0"]').first().focus()
    await session.page.keyboard.press('Enter')
    await session.page.waitForURL(/operators/)
    await session.settle()
  })
})

describe('charts by keys', () => {
  const press = async (...keys: string[]) => {
    for (const key of keys) await session.page.keyboard.press(key)
  }

  it('go from step to step and choose one', async () => {
    const name = en.part.fp_bp
    await session.go(`${generated}/steps?rank=0`)
    await chart(name).focus()
    expect(await told(name)).toBe('')
    await press('ArrowRight')
    const first = await told(name)
    expect(first).toMatch(/^\d+, .*[mµ]s$/)
    await press('ArrowRight', 'ArrowRight')
    const third = await told(name)
    expect(third).not.toBe(first)
    await press('Enter')
    await session.page.waitForURL(new RegExp(`step=${third.split(',')[0]}(&|$)`))
    await session.settle()
    expect(await told(name)).toBe(third) // still there after the chart was drawn anew
    await session.picture('chart-keys-steps')
    await press('Home')
    expect(await told(name)).toBe(first)
    await press('Escape')
    expect(await told(name)).toBe('')
    // From the chosen one on.
    await press('ArrowLeft', 'ArrowRight')
    expect(await told(name)).toBe(third)
    await session.page.keyboard.press('Tab')
    expect(await told(name)).toBe('')
  })

  it('tell what is shown when the legend hides a part', async () => {
    const name = en.communication.wait
    await session.go(`${generated}/communication`)
    const box = (await chart(name).boundingBox())!
    await chart(name).focus()
    await press('Home')
    const whole = await told(name)
    expect(whole).toContain(en.communication.moving)
    await session.page.mouse.click(box.x + 30, box.y + 7) // the first name of the legend
    await chart(name).focus()
    await press('Home')
    const first = await told(name)
    expect(first).not.toContain(en.communication.moving)
    expect(first).toContain(en.communication.waiting)
    await press('ArrowRight')
    expect(await told(name)).toMatch(/^1,/)
    await session.picture('chart-keys-legend')
    // Drawn anew, in other colours, it hides the same.
    const theme = session.page.getByRole('button', { name: en.bar.theme })
    await theme.click()
    await chart(name).focus()
    await press('Home')
    expect(await told(name)).not.toContain(en.communication.moving)
    await theme.click()
    await session.reload()
  })

  it('tell operators, and open them', async () => {
    await session.go(`${generated}/operators?rank=0`)
    await chart(en.operators.top).focus()
    await press('ArrowDown')
    expect(await told(en.operators.top)).toMatch(/%\)$/)
    await session.picture('chart-keys-operators')
    await session.go(`${generated}/overview`)
    await chart(en.overview.operators).focus()
    await press('ArrowRight')
    expect(await told(en.overview.operators)).toMatch(/%\)$/)
    await press('Enter')
    await session.page.waitForURL(/operators/)
    await session.settle()
  })

  it('go over cells, points and curves', async () => {
    await session.go(`${generated}/ranks`)
    await chart(en.ranks.heat).focus()
    await press('ArrowRight', 'ArrowRight', 'ArrowDown')
    expect(await told(en.ranks.heat)).toMatch(/1.*[mµ]s/)
    await session.picture('chart-keys-cells')
    await press('Enter')
    await session.page.waitForURL(/steps\?(?=.*rank=1)(?=.*step=)/)
    await session.go(`${generated}/memory?rank=0`)
    await chart(en.memory.curve).focus()
    await press('End', 'ArrowLeft')
    expect(await told(en.memory.curve)).toMatch(/GiB|MiB/)
    await press('Enter')
    await session.settle()
    await session.picture('chart-keys-memory')
    await session.go(`${generated}/calculation?rank=0`)
    for (const name of [en.calculation.roofline, en.calculation.flow]) {
      await chart(name).focus()
      await press('ArrowRight')
      expect(await told(name), name).not.toBe('')
      await session.picture(`chart-keys-${name === en.calculation.flow ? 'flow' : 'roofline'}`)
    }
  })
})

describe('the clipboard', () => {
  const copy = () => session.page.getByRole('main').getByRole('button', { name: en.state.copy, exact: true }).first()

  it('is filled where the browser has none for the page', async () => {
    await session.go(`${generated}/operators`)
    await session.page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined, configurable: true }))
    await copy().click()
    await session.page.getByRole('button', { name: en.state.copied }).waitFor()
    const search = session.page.getByRole('main').getByRole('searchbox', { name: en.table.search, exact: true }).first()
    await search.focus()
    await session.page.keyboard.press('Control+V')
    expect(await search.inputValue()).toContain('total_ns')
    await search.fill('')
  })

  it('says when it was not', async () => {
    await session.page.evaluate(() => (document.execCommand = () => false))
    await copy().click()
    await session.page.getByRole('button', { name: en.state.notCopied }).waitFor()
    await session.reload()
  })
})

describe('SQL', () => {
  it('answers, and explains what is wrong', async () => {
    await session.go(`${generated}/sql`)
    const editor = session.page.getByRole('textbox', { name: 'SQL' })
    await editor.fill('select name, count(*) as n from kernels group by 1 order by 2 desc')
    const run = session.page.getByRole('button', { name: en.sql.run, exact: true })
    await run.click()
    await session.page.locator('main table tbody tr').first().waitFor()
    await session.settle()
    await editor.fill('select nothing from kernels')
    await run.click()
    await session.page.getByRole('alert').getByText(/nothing/).waitFor()
    await session.settle()
    session.problems.length = 0 // the answer 400 is what was wanted
  })
})
