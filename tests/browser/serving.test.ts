// The pages as they are served in other ways: below a path, in another page's frame, over TLS, without a token.
import { execFileSync } from 'node:child_process'
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'

import en from '../../web/src/locale/en'
import { withBrowser } from './support/hooks'
import { runsFolder, work } from './support/paths'
import { Program } from './support/program'
import { Session } from './support/session'

let browser: Browser
withBrowser((made) => (browser = made))

async function openRun(session: Session): Promise<void> {
  await session.page.getByRole('link', { name: 'generated' }).click()
  await session.page.waitForURL(/overview/)
  await session.settle()
  await session.page.getByRole('heading').first().waitFor()
  session.expectNoProblems()
}

describe('access', () => {
  it('takes the token out of the address, and wants it', async () => {
    const session = await Session.open(browser, inject('link'))
    expect(session.page.url()).not.toContain('token')
    session.expectNoProblems()
    await session.close()
    const stranger = await browser.newContext()
    expect((await stranger.request.get(`${inject('base')}api/v1/runs`)).status()).toBe(401)
    await stranger.close()
  })
})

describe('below a path, through a proxy', () => {
  let program: Program
  let proxy: Server
  let address = ''
  beforeAll(async () => {
    program = await Program.start(runsFolder, ['--url-path-prefix', '/user/me/proxy/8080', '--workspace', `${work}/workspace-proxy`])
    // As Jupyter's proxy: one origin for the notebook's page and for what it shows in a frame.
    const target = new URL(program.base)
    proxy = createServer((from, to) => {
      if (from.url === '/lab') {
        to.setHeader('Content-Type', 'text/html')
        to.end(`<!doctype html><title>lab</title><iframe src="/user/me/proxy/8080/?token=${program.token}" width="1300" height="800"></iframe>`)
        return
      }
      if (from.url === '/favicon.ico') {
        to.writeHead(204).end()
        return
      }
      const passed = request({ host: target.hostname, port: target.port, path: from.url, method: from.method, headers: from.headers }, (reply) => {
        to.writeHead(reply.statusCode ?? 500, reply.headers)
        reply.pipe(to)
      })
      from.pipe(passed)
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  })
  afterAll(async () => {
    proxy.close()
    await program.stop()
  })

  it('serves every file below it', async () => {
    const session = await Session.open(browser, program.link)
    await openRun(session)
    await session.close()
  })

  it('shows a run in a frame of the same site', async () => {
    const session = await Session.open(browser, `${address}/lab`)
    const frame = session.page.frameLocator('iframe')
    await frame.getByRole('link', { name: 'generated' }).click()
    await frame.getByRole('navigation').getByRole('link', { name: en.page.operators, exact: true }).click()
    await frame.locator('main table tbody tr').first().waitFor()
    await session.settle()
    session.expectNoProblems()
    await session.picture('in-a-frame')
    await session.close()
  })

  it('is shown in no frame of another site', async () => {
    const session = await Session.open(browser, inject('link'))
    await session.page.goto('about:blank')
    await session.page.setContent(`<iframe src="${program.link}"></iframe>`)
    await expect.poll(() => session.page.frames().map((frame) => frame.url()).join(), { timeout: 10_000 }).toMatch(/chrome-error:/)
    await session.close()
  })
})

// As in a frame of another site, where the browser refuses even to be asked.
describe('A browser that keeps nothing', () => {
  it('shows the pages, and remembers choices while they are open', async () => {
    const session = await Session.open(browser, inject('link'))
    await session.page.addInitScript(() => Object.defineProperty(window, 'localStorage', { get: () => { throw new DOMException('denied', 'SecurityError') } }))
    await session.reload()
    await openRun(session)
    await session.page.getByRole('button', { name: en.bar.theme }).click()
    expect(await session.page.locator('html').getAttribute('data-theme')).toBe('dark')
    session.expectNoProblems()
    await session.close()
  })
})

describe('TLS', () => {
  it('serves the pages over https', async () => {
    const [key, certificate] = [`${work}/key.pem`, `${work}/cert.pem`]
    execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost', '-keyout', key, '-out', certificate], { stdio: 'pipe' })
    const program = await Program.start(runsFolder, ['--cert', certificate, '--key', key])
    try {
      expect(program.link).toMatch(/^https:/)
      const session = await Session.open(browser, program.link, { ignoreHTTPSErrors: true })
      await openRun(session)
      await session.close()
    } finally {
      await program.stop()
    }
  })
})
