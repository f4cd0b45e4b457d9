// Everything somebody made of a page is in its address: a link reopens it, and what is as at first is not in it.
import { describe, expect, inject, it } from 'vitest'

import en from '../../web/src/locale/en'
import { runId, runPath, withSession } from './support/hooks'
import type { Session } from './support/session'

const generated = runPath('generated')

let session: Session
withSession((made) => (session = made))

const address = () => session.address()
const expectAddress = (pattern: RegExp) => expect.poll(address).toMatch(pattern)
const main = () => session.page.getByRole('main')
const drawer = () => session.page.locator('.drawer')
// The rows of statements, one after the other.
const query = (...statements: string[]) =>
  session.page.evaluate(async ([path, ...all]) => {
    const rows: (string | number)[][] = []
    for (const sql of all) {
      const reply = await fetch(path!, { method: 'POST', body: JSON.stringify({ sql }) })
      rows.push(...((await reply.json()) as { rows: (string | number)[][] }).rows)
    }
    return rows
  }, [`${inject('base')}api/v1/runs/${runId('generated')}/sql`, ...statements])

it('the list of runs', async () => {
  await session.go('/')
  const rows = session.page.locator('tbody tr')
  await session.page.getByRole('searchbox', { name: en.runs.search }).fill('gener')
  await session.page.getByRole('button', { name: en.runs.name }).click()
  await expectAddress(/\?(?=.*find=gener)(?=.*sort=name)/)
  await session.reload()
  expect(await rows.count()).toBe(1)
  expect(await session.page.getByRole('button', { name: en.runs.name }).innerText()).toContain('↑')
  await session.page.getByRole('searchbox', { name: en.runs.search }).fill('')
  await session.page.getByRole('button', { name: en.runs.age }).click()
  await expectAddress(/#\/$/)
})

describe('a table', () => {
  const head = (name: string) => main().locator('th', { hasText: name })

  it('its search, order, opened rows and drawer', async () => {
    await session.go(`${generated}/operators?rank=0&tab=host`)
    await session.page.getByRole('tab', { name: en.operators.tab.host, exact: true }).waitFor()
    await head('count').getByRole('button').click()
    await expectAddress(/sort\.host_operator_types=-count/)
    await main().locator('tr.line').first().getByRole('button', { name: en.table.expand }).click()
    await expectAddress(/open\.host_operator_types=\w+/)
    const member = main().locator('tr.line').nth(1)
    const name = await member.locator('td').first().innerText()
    await member.click()
    await drawer().waitFor()
    await expectAddress(/row=host_operator_types\.\w+/)
    await session.settle()
    const title = await drawer().getByRole('heading').first().innerText()
    expect(title).toContain(name.slice(0, 8))
    await session.picture('address-operators')
    await session.reload()
    expect(await drawer().getByRole('heading').first().innerText()).toBe(title)
    expect(await main().locator('tr.line').nth(1).locator('td').first().innerText()).toBe(name)
    expect(await head('count').getAttribute('aria-sort')).toBe('descending')
    await session.page.keyboard.press('Escape')
    await expect.poll(address).not.toMatch(/row=/)
    // As it was at first, it is in no address.
    await main().getByRole('searchbox', { name: en.table.search, exact: true }).fill('zzz')
    await expectAddress(/find\.host_operator_types=zzz/)
    await main().getByRole('searchbox', { name: en.table.search, exact: true }).fill('')
    await expect.poll(address).not.toMatch(/find\./)
  })

  it('details of a row on other pages', async () => {
    for (const page of ['operators?tab=device', 'operators?rank=0&tab=modules']) {
      await session.go(`${generated}/${page}`)
      await main().locator('tr.line').last().click()
      await expectAddress(/row=\w+\.\w+/)
      await session.settle()
      const text = await drawer().innerText()
      await session.reload()
      expect(await drawer().innerText(), page).toBe(text)
    }
  })
})

it('the zoomed part of the memory curve', async () => {
  await session.go(`${generated}/memory?rank=0`)
  const asking = session.page.waitForRequest(/memory_curve.*&from=\d+/)
  await session.go(`${generated}/memory?rank=0&zoom=40000000_80000000`)
  await asking
  await session.settle()
  await session.picture('address-memory')
  expect(address()).toMatch(/zoom=\d+_\d+/)
})

it('the form and the axes of a chart of SQL', async () => {
  const sql = encodeURIComponent('select name, count(*) as n, sum(dur) as time from kernels group by 1 order by 2 desc')
  await session.go(`${generated}/sql?sql=${sql}&as=chart&form=line&y=time`)
  await session.settle()
  expect(await main().getByRole('button', { name: en.sql.line, exact: true }).getAttribute('aria-pressed')).toBe('true')
  const up = main().locator('select').last()
  expect(await up.locator('option:checked').innerText()).toBe('time')
  await up.selectOption('n')
  await expectAddress(/y=n(&|$)/)
})

describe('the timeline', () => {
  const aside = () => session.page.locator('aside')
  const open = async (query: string) => {
    await session.go(`${generated}/overview`)
    await session.go(`${generated}/timeline?${query}`)
  }

  it('a computed segment', async () => {
    await open('rank=0')
    const canvas = session.page.locator('main canvas').last()
    const box = (await canvas.boundingBox())!
    await session.page.mouse.click(box.x + box.width * 0.4, box.y + 75) // the first lane of the first device: its steps
    await expectAddress(/segment=\d+_0_\d+_\d+_1_\d+_/)
    const text = await aside().innerText()
    await session.reload()
    await expect.poll(() => aside().innerText()).toBe(text)
    await session.picture('address-segment')
    await session.page.keyboard.press('Escape')
    await expect.poll(address).not.toMatch(/segment=/)
  })

  // What of the run is on screen, in pixels of the map above.
  const part = () => session.page.locator('.minimap .window').boundingBox()
  // The address follows a view when it rests.
  const view = () => /from=-?\d+&to=\d+/.exec(address())?.[0] ?? ''
  const rest = (before = '') => expect.poll(view).not.toBe(before)
  const filter = () => session.page.getByRole('searchbox', { name: en.timeline.filter }).inputValue()

  it('another link to it, Back and Forward', async () => {
    await open('from=0&to=100000000')
    await rest()
    const first = await part()
    await session.go(`${generated}/timeline?rank=1&from=50000000&to=60000000&lanes=stream&range=52000000_54000000&marks=53000000`)
    await expect.poll(filter).toBe('stream')
    await aside().getByText(en.timeline.selection).waitFor()
    await rest()
    await session.settle()
    await session.picture('address-timeline-link')
    const second = await part()
    expect(second!.width).toBeLessThan(first!.width)
    await session.page.goBack()
    await expect.poll(part).toEqual(first)
    expect(await filter()).toBe('')
    expect(await aside().count()).toBe(0)
    expect(address()).toMatch(/from=0&to=100000000/)
    await rest()
    await session.settle()
    await session.picture('address-timeline-back')
    await session.page.goForward()
    await expect.poll(part).toEqual(second)
    expect(await filter()).toBe('stream')
    await aside().getByText(en.timeline.selection).waitFor()
    await expectAddress(/range=52000000_54000000/)
  })

  it('links to slices from other places, and Back', async () => {
    const slices = await query('select id, name from kernels where rank = 0 order by ts limit 1', 'select id, name from kernels where rank = 0 order by ts desc limit 1')
    const title = () => aside().getByRole('heading').first().innerText()
    await open(`rank=0&slice=${slices[0]?.[0]}`)
    await expect.poll(title).toBe(slices[0]?.[1])
    await expectAddress(/from=/)
    const first = await part()
    await session.go(`${generated}/timeline?rank=0&slice=${slices[1]?.[0]}`)
    await expect.poll(part).not.toEqual(first)
    await expect.poll(title).toBe(slices[1]?.[1])
    await expectAddress(/from=/)
    await session.page.goBack()
    await expect.poll(part).toEqual(first)
    await expect.poll(title).toBe(slices[0]?.[1])
    // By its name in the rail: as it is at first.
    await session.page.getByRole('navigation').first().getByRole('link', { name: en.page.timeline }).click()
    await expect.poll(() => aside().count()).toBe(0)
    expect((await part())!.width).toBeGreaterThan(first!.width)
  })

  it('slices that were chosen one after the other, and Back', async () => {
    const slice = () => /slice=(\d+)/.exec(address())?.[1] ?? ''
    await open('rank=0')
    await rest()
    const whole = view()
    await session.page.locator('main canvas').last().focus()
    await session.page.keyboard.press('Enter') // a step, which has no slice
    await expectAddress(/segment=/)
    await session.page.keyboard.press('Shift+ArrowDown')
    await expect.poll(slice).not.toBe('')
    const first = slice()
    await session.settle()
    await session.page.keyboard.press('f')
    await rest(whole)
    const fitted = view()
    await session.page.keyboard.press('ArrowRight')
    await expect.poll(slice).not.toBe(first)
    await session.settle()
    await session.page.keyboard.press('d') // moves on in the second slice's place of the history
    await rest(view())
    await session.page.goBack()
    await expect.poll(slice).toBe(first)
    expect(view()).toBe(fitted)
    await session.settle()
    await session.page.goBack()
    await expectAddress(/segment=/)
    expect(view()).toBe(whole)
    await session.page.goBack()
    await expect.poll(() => aside().count()).toBe(0)
    expect(view()).toBe(whole)
    await session.page.goForward()
    await session.page.goForward()
    await expect.poll(slice).toBe(first)
  })

  it('a step of the strip, and Back', async () => {
    await open('rank=0')
    await rest()
    const whole = await part()
    const before = view()
    await session.page.getByRole('listbox').getByRole('option').nth(3).click()
    await expect.poll(async () => (await part())!.width).toBeLessThan(whole!.width)
    await rest(before)
    const step = await part()
    await session.page.goBack()
    await expect.poll(part).toEqual(whole)
    await session.page.goForward()
    await expect.poll(part).toEqual(step)
    // A link with a step of another rank.
    await session.go(`${generated}/timeline?rank=2&step=6`)
    await expect.poll(async () => (await part())!.x).toBeGreaterThan(step!.x)
    expect((await part())!.width).toBeLessThan(whole!.width)
  })

  it('how a selection is shown', async () => {
    await open('range=0_50000000')
    await aside().getByRole('button', { name: en.timeline.count, exact: true }).click()
    await expectAddress(/sort=count/)
    await aside().getByRole('tab', { name: en.timeline.byLane }).click()
    await expectAddress(/by=lanes/)
    await session.reload()
    expect(await aside().getByRole('tab', { name: en.timeline.byLane }).getAttribute('aria-selected')).toBe('true')
  })
})

describe('from the history of an operator', () => {
  const chosenStep = async () => {
    const aside = session.page.locator('aside')
    await aside.locator('dt', { hasText: /^Step$/ }).waitFor()
    return aside.locator('dt', { hasText: /^Step$/ }).locator('xpath=following-sibling::dd[1]').innerText()
  }

  it('a step leads to the first call in it', async () => {
    const steps = (await query('select distinct step from kernels where rank = 1 and step is not null order by 1')).flat()
    const step = steps[steps.length - 2]
    await session.go(`${generated}/operators?rank=1&tab=kernels&view=all`)
    await main().locator('tr.line').first().click()
    await drawer().waitFor()
    await session.settle()
    // A click in the chart, at the last step but one.
    const box = (await drawer().getByRole('application', { name: en.operators.history }).boundingBox())!
    const left = 64
    const width = box.width - left - 12
    await session.page.mouse.click(box.x + left + (width * (steps.length - 1.5)) / steps.length, box.y + 60)
    await expectAddress(new RegExp(`step=${step}`))
    await session.settle()
    await session.picture('operators-history')
    await drawer().getByRole('status').getByRole('link', { name: en.overview.evidence }).click()
    await session.page.waitForURL(/timeline/)
    await session.settle()
    expect(await chosenStep()).toBe(String(step))
    await session.picture('operators-history-timeline')
  })

  it('a name and a step lead into that step', async () => {
    const step = 5
    await session.go(`${generated}/overview`)
    await session.go(`${generated}/timeline?rank=0&step=${step}&q=aten::`)
    await expectAddress(/slice=\d+/)
    expect(await chosenStep()).toBe(String(step))
  })
})
