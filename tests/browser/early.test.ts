// What is asked for before the page is there (web/src/early.ts) is what the page asks for, and is asked for once.
import type { Browser } from 'playwright-core'
import { expect, inject, it } from 'vitest'

import { runId, withBrowser } from './support/hooks'
import { Session } from './support/session'

let browser: Browser
withBrowser((made) => (browser = made))

// The paths below the API that are asked for, but the list of runs, which is looked at again and again.
async function asked(session: Session, act: () => Promise<void>): Promise<string[]> {
  const paths: string[] = []
  const note = (request: { url: () => string }) => {
    const [, path] = /\/api\/v1\/(.+)$/.exec(request.url()) ?? []
    if (path && path !== 'runs' && path !== 'control') paths.push(path)
  }
  session.page.on('request', note)
  await act()
  session.page.off('request', note)
  return paths.sort()
}

// early.ts forgets answers after five seconds, and a page that is slower on a busy machine would ask again.
function keepAnswers(): void {
  const set = window.setTimeout.bind(window) as (act: TimerHandler, ms?: number) => number
  window.setTimeout = ((act: TimerHandler, ms?: number) => set(act, ms === 5000 ? 600_000 : ms)) as typeof window.setTimeout
}

for (const name of ['generated', 'example', 'gpu_training', 'tiny.json']) {
  for (const page of ['overview', 'steps', 'operators', 'calculation', 'data', 'memory', 'cpu', 'communication', 'ranks', 'sql']) {
    it(`the page ${page} of ${name}`, async () => {
      const session = await Session.open(browser, inject('link'))
      await session.page.addInitScript(keepAnswers)
      const run = runId(name)
      const byThePage = await asked(session, () => session.go(`/run/${run}/${page}`))
      const early = await asked(session, () => session.reload())
      // Before the ranks are known the first one is asked for by that word, and never again by its number.
      const info = await session.page.evaluate(async (path) => (await fetch(path)).json(), `api/v1/runs/${run}`) as { ranks: { rank: number }[] }
      const numbered = early.map((path) => path.replace('rank=first', `rank=${info.ranks[0]?.rank}`)).sort()
      expect(numbered).toEqual(byThePage)
      expect(early).toContain(`runs/${run}`)
      session.expectNoProblems()
      await session.close()
    })
  }
}
