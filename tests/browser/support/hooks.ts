// What most files of tests begin with: a browser, a page in it that must stay quiet, the runs by their names.
import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, inject } from 'vitest'

import { launch, Session } from './session'

export const runId = (name: string) => inject('runs').find((run) => run.name === name)?.id
export const runPath = (name: string) => `/run/${runId(name)}`

export function withBrowser(take: (browser: Browser) => void): void {
  let browser: Browser | undefined
  beforeAll(async () => {
    browser = await launch()
    take(browser)
  })
  afterAll(() => browser?.close()) // without one, the failure to launch it is what counts
}

// One page for all tests of the file or block; each of them ends without problems.
export function withSession(take: (session: Session) => void): void {
  let browser: Browser
  let session: Session | undefined
  withBrowser((made) => (browser = made))
  beforeAll(async () => {
    session = await Session.open(browser, inject('link'))
    take(session)
  })
  afterEach(() => session?.expectNoProblems())
}
