// A page in a browser of its own, watched: errors of the console, answers that failed and requests that
// leave the server are problems, and a test ends by expecting none.
import { type Browser, type BrowserContext, chromium, type Page, type Request } from 'playwright-core'
import { expect } from 'vitest'

import { screenshots } from './paths'

export type Theme = 'light' | 'dark'
export type Language = 'en' | 'zh'
export interface SessionOptions {
  theme?: Theme
  language?: Language
  width?: number
  height?: number
  ignoreHTTPSErrors?: boolean
}

export function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env.STEPSCOPE_CHROMIUM ?? '/usr/bin/chromium',
    // Containers have neither a user namespace for the sandbox nor much shared memory.
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  })
}

export class Session {
  readonly problems: string[] = []
  private readonly pending = new Set<Request>()

  private constructor(readonly page: Page, readonly context: BrowserContext, readonly link: string) {
    const origin = new URL(link).origin
    page.on('console', (message) => message.type() === 'error' && this.problems.push(`console: ${message.text()}`))
    page.on('pageerror', (error) => this.problems.push(`page error: ${error.message}`))
    page.on('request', (request) => {
      // What a page had asked for when it was left is not answered any more.
      if (request.isNavigationRequest() && request.frame() === page.mainFrame()) this.pending.clear()
      const url = request.url()
      // The browser's own, which it may ask for and never tell the end of.
      if (!url.endsWith('/icon.svg')) this.pending.add(request)
      if (!url.startsWith(origin) && !/^(data|blob):/.test(url)) this.problems.push(`leaves the server: ${url}`)
    })
    page.on('requestfinished', (request) => this.pending.delete(request))
    page.on('requestfailed', (request) => this.pending.delete(request))
    page.on('response', (reply) => {
      if (reply.status() >= 400) this.problems.push(`${reply.status()}: ${reply.url()}`)
      // An answer that the page does not read never ends.
      if (reply.request().method() !== 'GET') this.pending.delete(reply.request())
    })
  }

  static async open(browser: Browser, link: string, options: SessionOptions = {}): Promise<Session> {
    const context = await browser.newContext({
      viewport: { width: options.width ?? 1440, height: options.height ?? 900 },
      colorScheme: options.theme ?? 'light',
      locale: options.language === 'zh' ? 'zh-CN' : 'en-GB',
      reducedMotion: 'reduce',
      acceptDownloads: true,
      ignoreHTTPSErrors: options.ignoreHTTPSErrors ?? false,
    })
    const session = new Session(await context.newPage(), context, link)
    await session.page.goto(link)
    await session.settle()
    return session
  }

  // To another place of the pages, as a link inside of them does.
  async go(hash: string): Promise<void> {
    await this.page.evaluate((target) => (location.hash = target), hash)
    await this.settle()
  }

  async reload(): Promise<void> {
    await this.page.reload()
    await this.settle()
  }

  // Until nothing loads: no panel is busy, no request is under way, and that for a while.
  async settle(seconds = 90): Promise<void> {
    const end = Date.now() + seconds * 1000
    let quiet = 0
    while (Date.now() < end) {
      await this.page.waitForTimeout(40)
      const busy = this.pending.size > 0 || (await this.page.locator('[aria-busy="true"]').count()) > 0
      quiet = busy ? 0 : quiet + 1
      if (quiet >= 3) return
    }
    const open = [...this.pending].map((request) => `${request.method()} ${request.url()}`)
    throw new Error(`still loading after ${seconds} s: ${this.page.url()} ${open}`)
  }

  async picture(name: string): Promise<void> {
    await this.page.screenshot({ path: `${screenshots}/${name}.png` })
  }

  // As somebody reads it.
  address(): string {
    return decodeURIComponent(this.page.url())
  }

  expectNoProblems(): void {
    expect(this.problems.splice(0), this.page.url()).toEqual([])
  }

  close(): Promise<void> {
    return this.context.close()
  }
}
