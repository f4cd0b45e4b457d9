// The pictures of the README: made anew by every run of the tests, and put in their place where that is asked for
// (CONTRIBUTING.md).
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

import { runPath, withSession } from './support/hooks'
import { root, screenshots } from './support/paths'
import type { Session } from './support/session'

const places: Record<string, string> = {
  overview: `${runPath('generated')}/overview`,
  timeline: `${runPath('generated')}/timeline`,
}
const folder = process.env.STEPSCOPE_WRITE_PICTURES ? `${root}docs/images` : `${screenshots}/readme`

let session: Session
withSession((made) => (session = made))

it('has a place for every picture', () => {
  const named = [...readFileSync(`${root}README.md`, 'utf8').matchAll(/\(docs\/images\/(\w+)\.png\)/g)].map((match) => match[1])
  expect(named.sort()).toEqual(Object.keys(places).sort())
})

it.each(Object.entries(places))('%s', async (name, place) => {
  await session.go(place)
  await session.page.mouse.move(0, 0)
  await session.settle()
  await session.page.screenshot({ path: `${folder}/${name}.png` })
})
