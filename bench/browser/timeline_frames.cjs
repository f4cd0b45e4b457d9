// How smoothly the timeline moves: ten seconds of panning and zooming in headless Chromium with software
// rendering, over a generated trace.
//
//   node bench/browser/timeline_frames.cjs [--size-mb 2800] [--folder /tmp/stepscope-frames] [--repeat 3] [--profile]
//   node bench/browser/timeline_frames.cjs --path FILE    a trace or store instead of a generated one
//
// Prints the times between frames, the JavaScript heap, and how long first paint and viewport requests took.
// The trace is generated and imported once and kept in the folder.
const { spawn, spawnSync } = require('node:child_process')
const { existsSync, mkdirSync } = require('node:fs')
const { createRequire } = require('node:module')
const { join, resolve } = require('node:path')

const root = resolve(__dirname, '../..')
const { chromium } = createRequire(join(root, 'web/package.json'))('playwright-core')

function option(name, missing) {
  const at = process.argv.indexOf(`--${name}`)
  return at < 0 ? missing : process.argv[at + 1]
}
const sizeMb = Number(option('size-mb', 2800))
const folder = option('folder', '/tmp/stepscope-frames')
const repeat = Number(option('repeat', 1))
const profile = process.argv.includes('--profile')

function must(program, args) {
  const done = spawnSync(program, args, { stdio: ['ignore', 'ignore', 'inherit'] })
  if (done.status !== 0) throw new Error(`${program} ${args.join(' ')} failed`)
}

async function serve(path) {
  const server = spawn(join(root, 'build/stepscope'), ['open', path, '--port', '0', '--no-token', '--no-browser'])
  let text = ''
  for await (const piece of server.stdout) {
    text += piece
    const link = text.match(/http:\/\/[^\s]+/)
    if (link) return { server, base: link[0].replace(/\/$/, '') }
  }
  throw new Error(`the server said: ${text}`)
}

async function readyRun(base) {
  for (let i = 0; i < 600; ++i) {
    const [run] = (await (await fetch(`${base}/api/v1/runs`)).json()).runs
    if (run?.state === 'ready') return run
    await new Promise((done) => setTimeout(done, 500))
  }
  throw new Error('the run does not become ready')
}

const at = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]
const rising = (values) => [...values].sort((a, b) => a - b)

async function move(page) {
  const hold = async (key, ms) => {
    await page.keyboard.down(key)
    await page.waitForTimeout(ms)
    await page.keyboard.up(key)
  }
  await page.mouse.move(800, 420)
  await hold('w', 1500)
  await hold('d', 1000)
  await hold('w', 1000)
  await hold('a', 1000)
  await page.mouse.down()
  for (let x = 800; x > 300; x -= 10) await page.mouse.move(x, 420)
  await page.mouse.up()
  await page.keyboard.down('Control')
  for (let i = 0; i < 20; ++i) {
    await page.mouse.wheel(0, i < 10 ? -60 : 60)
    await page.waitForTimeout(50)
  }
  await page.keyboard.up('Control')
  await hold('w', 1000)
  await hold('d', 1000)
  await hold('s', 2000)
  await hold('a', 1000)
}

async function measure(browser, base, run) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
  const problems = []
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
  const views = []
  let dropped = 0
  page.on('requestfinished', (request) => {
    const { responseEnd, requestStart } = request.timing()
    if (/timeline\/view/.test(request.url())) views.push(responseEnd - requestStart)
  })
  page.on('requestfailed', (request) => (dropped += /timeline\/view/.test(request.url()) ? 1 : 0))
  const began = Date.now()
  await page.goto(`${base}/#/run/${run.id}/timeline`)
  await page.waitForResponse(/timeline\/view/)
  const firstView = Date.now() - began
  await page.waitForLoadState('networkidle')
  await page.waitForTimeout(500)
  const heap = () => page.evaluate(() => { globalThis.gc?.(); return performance.memory.usedJSHeapSize })
  const devtools = await page.context().newCDPSession(page)
  const before = await heap()
  // Processor time: it hardly depends on what else the machine does, which frames do.
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' })
  const busy = async () => (await devtools.send('Performance.getMetrics')).metrics.find((one) => one.name === 'TaskDuration').value
  const busyBefore = await busy()
  if (profile) {
    await devtools.send('Profiler.enable')
    await devtools.send('Profiler.start')
  }
  await page.evaluate(() => {
    globalThis.betweenFrames = []
    let last = performance.now()
    const tick = (now) => {
      globalThis.betweenFrames.push(now - last)
      last = now
      requestAnimationFrame(tick)
    }
    requestAnimationFrame(tick)
  })
  const moved = Date.now()
  await move(page)
  const seconds = (Date.now() - moved) / 1000
  const busySeconds = (await busy()) - busyBefore
  const frames = rising((await page.evaluate(() => globalThis.betweenFrames)).slice(2))
  if (profile) printProfile((await devtools.send('Profiler.stop')).profile)
  const after = await heap()
  const requests = rising(views)
  console.log(`first slices ${firstView} ms after the page was asked for`)
  console.log(`${frames.length} frames in ${seconds.toFixed(1)} s: median ${at(frames, 0.5).toFixed(1)} ms, p95 ${at(frames, 0.95).toFixed(1)}, p99 ${at(frames, 0.99).toFixed(1)}, longest ${at(frames, 1).toFixed(1)}`)
  console.log(`${((busySeconds * 1000) / frames.length).toFixed(1)} ms of processor time a frame in the page's main thread`)
  console.log(`heap ${(before / 1e6).toFixed(1)} MB before, ${(after / 1e6).toFixed(1)} MB after`)
  console.log(`${requests.length} viewports, median ${at(requests, 0.5)?.toFixed(1)} ms, p99 ${at(requests, 0.99)?.toFixed(1)} ms; ${dropped} dropped`)
  for (const problem of problems) console.log(`problem: ${problem}`)
  await page.close()
}

async function main() {
  const generated = join(folder, `${sizeMb}.json`)
  const path = option('path', generated)
  mkdirSync(folder, { recursive: true })
  if (path === generated && !existsSync(path)) must(join(root, 'build/stepscope-generate'), ['--output', generated, '--size-mb', String(sizeMb), '--steps', '20', '--seed', '3'])
  const { server, base } = await serve(path)
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--enable-precise-memory-info', '--js-flags=--expose-gc'] })
  try {
    const run = await readyRun(base)
    console.log(`${run.name}: ${(run.input_bytes / 1e6).toFixed(0)} MB`)
    for (let round = 0; round < repeat; ++round) await measure(browser, base, run)
  } finally {
    await browser.close()
    server.kill()
  }
}

function printProfile(profile) {
  const nodes = new Map(profile.nodes.map((node) => [node.id, node.callFrame]))
  const self = new Map()
  profile.samples.forEach((id, i) => {
    const { functionName, url, lineNumber } = nodes.get(id)
    const name = `${functionName} ${url.split('/').pop()}:${lineNumber}`
    self.set(name, (self.get(name) ?? 0) + profile.timeDeltas[i])
  })
  for (const [name, us] of [...self].sort((a, b) => b[1] - a[1]).slice(0, 20)) console.log(`${(us / 1000).toFixed(0).padStart(6)} ms ${name}`)
}

main().catch((error) => {
  console.error(error)
  process.exitCode = 1
})
