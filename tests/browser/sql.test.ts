// The SQL page: numbers are numbers however large, rows lead only where they belong, all rows go into a file.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

import en from '../../web/src/locale/en'
import { runPath, withSession } from './support/hooks'
import type { Session } from './support/session'

const generated = runPath('generated')

let session: Session
withSession((made) => (session = made))

const cells = (column: number) => session.page.locator(`main .line td:nth-child(${column})`)
async function ask(sql: string) {
  await session.go(`${generated}/sql`)
  const editor = session.page.getByRole('textbox', { name: 'SQL' })
  await editor.fill(sql)
  await Promise.all([session.page.waitForResponse(/\/sql$/), editor.press('Control+Enter')])
  await session.settle()
}

describe('SQL', () => {
  it('sums are numbers: right-aligned, and 9 comes before 10', async () => {
    await ask("select name, sum(n) as total from (values ('a', 9), ('b', 10), ('c', 1000)) t(name, n) group by name order by name")
    expect(await cells(2).first().getAttribute('class')).toContain('number')
    await session.page.locator('main th button').nth(1).click()
    expect((await cells(2).allInnerTexts()).map((text) => Number(text.replace(/\D/g, '')))).toEqual([1000, 10, 9])
  })

  it('ids of slices open the timeline, other ids do not', async () => {
    await ask('select rank as id, device_name from ranks')
    expect(await session.page.getByText(en.sql.jump).count()).toBe(0)
    await cells(1).first().click()
    await session.settle()
    expect(session.page.url()).toContain('/sql')
    await ask('select id, name from slices order by dur desc limit 3')
    await session.page.getByText(en.sql.jump).waitFor()
    const id = (await cells(1).first().innerText()).replace(/\D/g, '')
    await cells(1).first().click()
    await session.page.waitForURL(/\/timeline/)
    expect(session.page.url()).toContain(`slice=${id}`)
    await session.settle()
  })

  it('writes all rows into a file, not only those that were loaded', async () => {
    await ask('select range as n from range(30000)')
    await session.page.getByText(en.sql.allRows).click()
    const [file] = await Promise.all([session.page.waitForEvent('download'), session.page.locator('main details.menu').getByRole('button', { name: en.sql.formats.csv, exact: true }).click()])
    expect(file.suggestedFilename()).toBe('query.csv')
    expect(readFileSync(await file.path(), 'utf8').trim().split(/\r?\n/)).toHaveLength(30_001)
  })
})
