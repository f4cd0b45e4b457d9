// Every page of a run: it opens, shows something or says why not, fits the window, and is quiet.
import { expect, inject, it } from 'vitest'

import en from '../../../web/src/locale/en'
import { withSession } from './hooks'
import { widthCut } from './looks'
import type { Session } from './session'
import { findTextProblems } from './textChecks'

export const pages = Object.keys(en.page).filter((page) => page !== 'runs')

export function checkPages(name: string): void {
  const runs = inject('runs')
  const run = runs.find((one) => one.name === name)
  let session: Session
  withSession((made) => (session = made))

  it('is imported', () => expect(run, `${name} among ${runs.map((one) => one.name)}`).toMatchObject({ state: 'ready' }))

  it.each(pages)('%s', async (page) => {
    await session.go(`/run/${run?.id}/${page}`)
    await session.picture(`${name}-${page}`)
    const main = session.page.locator('main')
    expect(await session.page.locator('nav [aria-current="page"]').count()).toBe(1)
    expect(await session.page.getByRole('alert').allInnerTexts()).toEqual([])
    expect(await main.locator('table, canvas, [role="application"], [role="img"], .card, .state, textarea').count()).toBeGreaterThan(0)
    expect(findTextProblems(await main.innerText())).toEqual([])
    expect(await session.page.evaluate(widthCut)).toBeLessThanOrEqual(0)
  })
}
