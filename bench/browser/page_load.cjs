// What the benchmarks of pages share: starting the server, visiting a page in a fresh profile, memory.
const { spawn } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const root = path.resolve(__dirname, '../..')
const { chromium } = require(`${root}/web/node_modules/playwright-core`)

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const elapsed = (began) => Number(process.hrtime.bigint() - began) / 1e6
const browse = () => chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-dev-shm-usage'] })

async function serve(folder) {
  const began = process.hrtime.bigint()
  const child = spawn(`${root}/build/stepscope`, ['serve', folder, '--port', '0', '--no-token'], { stdio: ['ignore', 'pipe', 'inherit'] })
  const link = await new Promise((resolve) => {
    let said = ''
    child.stdout.on('data', (data) => {
      said += data
      const found = /Web address: (\S+)/.exec(said)
      if (found) resolve(found[1])
    })
  })
  await fetch(`${link}api/v1/runs`)
  return { child, link, ms: elapsed(began) }
}

async function runsOf(link) {
  for (;;) {
    const { runs } = await (await fetch(`${link}api/v1/runs`)).json()
    if (runs.length && runs.every((run) => run.state === 'ready')) return runs
    await pause(100)
  }
}

// MB of a process and those it started.
function resident(pid) {
  const children = fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
  const own = Number(/VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024
  return (children ? children.split(' ') : []).reduce((sum, child) => sum + resident(child), own)
}

// From the start of the navigation to the frame in which `isThere` (evaluated in the page) is true, by the page's own
// clock; nothing is cached. A new window first loads pages of the browser's own, which would be measured too.
async function visit(browser, address, isThere, argument) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, bypassCSP: true })
  const page = await context.newPage()
  const session = await context.newCDPSession(page)
  await session.send('Network.enable')
  let bytes = 0, requests = 0
  session.on('Network.loadingFinished', (event) => { bytes += event.encodedDataLength; ++requests })
  await page.addInitScript(`{
    const look = () => {
      if ((${isThere})(${JSON.stringify(argument)})) globalThis.seenAtMs = performance.now()
      else requestAnimationFrame(look)
    }
    requestAnimationFrame(look)
  }`)
  await page.waitForTimeout(1000)
  await page.goto(address)
  const seen = await page.waitForFunction(() => globalThis.seenAtMs)
  const ms = await seen.jsonValue()
  await page.waitForTimeout(300)
  await context.close()
  return { ms, bytes, requests }
}

module.exports = { root, median, pause, elapsed, browse, serve, runsOf, resident, visit }
