// A run that grows, is replaced or removed while its page is open; and a server with a single run.
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'

import en from '../../web/src/locale/en'
import { withBrowser } from './support/hooks'
import { tinyTrace } from './support/makeRuns'
import { work } from './support/paths'
import { Program } from './support/program'
import { Session } from './support/session'

let browser: Browser
withBrowser((made) => (browser = made))

// Whole at once: a server that looks at the folder meanwhile would read a part of it.
function put(file: string, text: string): void {
  writeFileSync(`${work}/coming.json`, text)
  renameSync(`${work}/coming.json`, file)
}
// Refusals while a run is read again (503), has become part of another one (409) or is gone (404) are what was wanted;
// anything else that happened at that moment is not.
function expectRefusalsOnly(session: Session, statuses = '409|503'): void {
  const wanted = new RegExp(`^(${statuses}): |status of (${statuses}) `)
  expect(session.problems.splice(0).filter((problem) => !wanted.test(problem))).toEqual([])
}

describe('a run of an open page', () => {
  const folder = `${work}/changing`
  const file = `${folder}/trace.json`
  let program: Program
  let session: Session
  beforeAll(async () => {
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true })
    put(file, tinyTrace)
    program = await Program.start(folder, ['--workspace', `${work}/workspace-changing`])
    const [run] = await program.settledRuns()
    session = await Session.open(browser, program.link)
    await session.go(`/run/${run?.id}/operators?view=all`)
  })
  afterAll(async () => {
    await session.close()
    await program.stop()
  })
  const main = () => session.page.getByRole('main')

  it('is read again when it is replaced', async () => {
    await main().getByText('aten::add').first().waitFor()
    put(file, tinyTrace.replaceAll('aten::add', 'aten::replaced'))
    await main().getByText('aten::replaced').first().waitFor({ timeout: 30_000 })
    expect(await main().getByText('aten::add').count()).toBe(0)
    expectRefusalsOnly(session)
  })

  it('begins the timeline again', async () => {
    await session.go(session.page.url().replace(/.*#/, '').replace(/operators.*/, 'timeline'))
    put(file, JSON.stringify({ traceEvents: [0, 1, 2].map((i) => ({ ph: 'X', cat: 'cpu_op', name: 'aten::third', pid: 1, tid: 1, ts: 10 + 20 * i, dur: 5 })) }))
    await session.page.waitForRequest(/timeline\/tracks/, { timeout: 30_000 })
    await session.settle()
    await session.page.getByRole('searchbox', { name: en.timeline.search }).fill('third')
    await session.page.getByText(/of 3$/).waitFor()
    expectRefusalsOnly(session)
  })

  it('says that it is gone', async () => {
    rmSync(file)
    await session.page.getByRole('alert').getByText(en.runs.gone).waitFor({ timeout: 30_000 })
    await session.picture('run-gone')
    expectRefusalsOnly(session, '404|409|503')
  })
})

describe('a rank that another one comes beside', () => {
  const folder = `${work}/joined`
  const write = (rank: number) => put(`${folder}/rank${rank}.json`, tinyTrace.replaceAll('aten::add', `aten::rank${rank}`))
  let program: Program
  let session: Session
  let alone = ''
  beforeAll(async () => {
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true })
    write(0)
    program = await Program.start(folder, ['--workspace', `${work}/workspace-joined`])
    alone = (await program.settledRuns())[0]?.id ?? ''
    session = await Session.open(browser, program.link)
  })
  afterAll(async () => {
    await session.close()
    await program.stop()
  })

  it('its open page becomes that of both, and so does a link to it', async () => {
    const place = `/run/${alone}/operators?view=all`
    await session.go(`${place}&rank=0&slice=0&range=1_2&pin=t0`) // slices, times and lanes are others in the run of both
    await session.page.getByRole('main').getByText('aten::rank0').first().waitFor()
    write(1)
    await expect.poll(() => session.address(), { timeout: 30_000 }).toMatch(/operators\?view=all&rank=0$/)
    await session.go(session.address().replace(/.*#/, '').replace('&rank=0', ''))
    await session.page.getByRole('main').getByText('aten::rank1').first().waitFor({ timeout: 30_000 })
    const now = session.page.url()
    expect(now).not.toContain(alone)
    expect(now).toContain('view=all')
    expect(await session.page.getByRole('banner').innerText()).toContain('rank*.json')
    await session.settle()
    await session.picture('run-joined')
    await session.go('/')
    expectRefusalsOnly(session)
    await session.go(place)
    await session.reload()
    await expect.poll(() => session.page.url()).toBe(now)
    await session.page.getByRole('main').getByText('aten::rank1').first().waitFor()
    session.expectNoProblems()
  })
})

describe('stepscope open', () => {
  let program: Program
  let session: Session
  beforeAll(async () => {
    const path = `${work}/single.json`
    writeFileSync(path, tinyTrace)
    program = await Program.start(path, ['--no-browser', '--workspace', `${work}/workspace-single`], 'open')
    session = await Session.open(browser, program.link)
  })
  afterAll(async () => {
    await session.close()
    await program.stop()
  })
  afterEach(() => session.expectNoProblems())

  it('offers no place to add files to', async () => {
    await session.go('/')
    await session.page.getByText('single.json').first().waitFor()
    expect(await session.page.getByRole('button', { name: en.runs.add }).count()).toBe(0)
  })
})
