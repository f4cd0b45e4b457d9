// How soon the pages are there: start of the server, each page until its data is visible, bytes over the
// wire, memory with many runs.
//
//   node bench/browser/pages.cjs [RUNS]      (default 24; from the folder of the repository, after ./run --no-serve)
//
// Every page in a fresh browser profile, from navigation until nothing is busy and no request is open; median of 3.
const { execFileSync, spawn } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const root = path.resolve(__dirname, '../..')
const { chromium } = require(`${root}/web/node_modules/playwright-core`)

const pages = ['overview', 'steps', 'operators', 'calculation', 'data', 'timeline', 'memory', 'cpu', 'communication', 'ranks', 'sql', 'quality']
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]

async function start(folder) {
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
  return { child, link, ms: Number(process.hrtime.bigint() - began) / 1e6 }
}
function resident(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024
}

async function visit(browser, address) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, bypassCSP: true })
  const page = await context.newPage()
  const session = await context.newCDPSession(page)
  await session.send('Network.enable')
  let bytes = 0, requests = 0
  session.on('Network.loadingFinished', (event) => { bytes += event.encodedDataLength; ++requests })
  const began = Date.now()
  await page.goto(address)
  await page.waitForFunction(() => document.querySelector('main')?.querySelector('table, canvas, [role="img"], textarea, .state') && !document.querySelector('[aria-busy="true"]'), null, { polling: 'raf' })
  const ms = Date.now() - began
  await page.waitForTimeout(300)
  await context.close()
  return { ms, bytes, requests }
}

async function main() {
  const count = Number(process.argv[2] ?? 24)
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'stepscope-pages-'))
  try {
    for (let i = 0; i < count; ++i) execFileSync(`${root}/build/stepscope-generate`, ['--output', `${folder}/run${i}`, '--ranks', '2', '--steps', '8', '--layers', '4', '--seed', String(i)])
    let server = await start(folder)
    for (;;) {
      const { runs } = await (await fetch(`${server.link}api/v1/runs`)).json()
      if (runs.every((run) => run.state === 'ready')) break
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
    server.child.kill()
    const starts = []
    for (let i = 0; i < 3; ++i) {
      server = await start(folder)
      starts.push(server.ms)
      if (i < 2) server.child.kill()
    }
    console.log(`start until the first answer, ${count} runs: ${median(starts).toFixed(0)} ms`)
    let runs = []
    while (!runs.length || runs.some((run) => run.state !== 'ready')) ({ runs } = await (await fetch(`${server.link}api/v1/runs`)).json())
    const id = runs[0].id
    const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-dev-shm-usage'] })
    await visit(browser, `${server.link}#/run/${id}/overview`) // analyses are computed once
    for (const page of ['', ...pages]) {
      const tries = []
      for (let i = 0; i < 3; ++i) tries.push(await visit(browser, `${server.link}#/${page ? `run/${id}/${page}` : ''}`))
      const times = tries.map((one) => one.ms)
      console.log(`${(page || 'run list').padEnd(14)} ${String(median(times)).padStart(5)} ms (${Math.min(...times)}-${Math.max(...times)})  ${(tries[0].bytes / 1e6).toFixed(2)} MB  ${tries[0].requests} requests`)
    }
    for (const run of runs) await fetch(`${server.link}api/v1/runs/${run.id}/analyses/findings`)
    console.log(`resident memory after all ${count} runs were looked at: ${resident(server.child.pid).toFixed(0)} MB`)
    await browser.close()
    server.child.kill()
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}
main()
