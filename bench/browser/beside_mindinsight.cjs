// The same jobs in MindInsight and in ours, one after the other in one browser: start, pages, bytes, memory.
//
//   python3.9 -m venv VENV && VENV/bin/pip install mindinsight==2.3.1 'pandas<2' 'numpy<2' 'setuptools<70'
//   node bench/browser/beside_mindinsight.cjs VENV FIXTURES [COUNT]
//
// FIXTURES are those of MindInsight's own tests, as shared/data/mindinsight/tests/utils/resource: run_1/normal_run is copied
// COUNT times (default 24), and profiler/, which has data preparation and processors, once. A page counts from
// navigation in a fresh profile until its figures can be read, charts or not; median of 5, the two in turns.
const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')
const { median, pause, elapsed, browse, serve, runsOf, resident, visit } = require('./page_load.cjs')

const says = (texts) => texts.every((text) => document.body?.textContent.includes(text))
const query = (job, rank) => `?dir=./profiler&id=${job}&path=${job}&graphMode=static&mode=static&rankID=${rank}&rankIDList=${encodeURIComponent(`["${rank}"]`)}`
// What each of the two shows of this job: they read different ones of its files.
const pages = [
  { name: 'run list', theirs: ['/summary-manage', 'job_1'], ours: ['', 'job_1'] },
  { name: 'overview', theirs: [`/profiling/single/performance${query('job_00', 1)}`, 'Step Tail', 'MatMul'], ours: ['overview', '205.4 ms', 'UnsortedSegmentSum'] },
  { name: 'step trace', theirs: [`/profiling/single/step-trace${query('job_00', 1)}`, '205.3809ms'], ours: ['steps', '205.4 ms'] },
  { name: 'operators', theirs: [`/profiling/single/operator${query('job_00', 1)}`, 'TransData', '5760'], ours: ['operators', 'UnsortedSegmentSum', '624.5 ms'] },
  { name: 'data preparation', job: 'data', theirs: [`/profiling/single/data-process${query('data', 0)}`, 'Ratio of empty queues', '1/1'], ours: ['data', 'host queue empty', '1 / 1'] },
  { name: 'CPU use', job: 'data', theirs: [`/profiling/single/resource${query('data', 0)}`, 'Average User Usage:15%'], ours: ['cpu', 'waiting for I/O', '80.0 %'] },
]

const freePort = () => new Promise((resolve) => {
  const probe = net.createServer().listen(0, '127.0.0.1', () => {
    const { port } = probe.address()
    probe.close(() => resolve(port))
  })
})

async function startMindInsight(venv, folder, workspace) {
  const port = await freePort()
  const environment = { ...process.env, HOME: workspace, PATH: `${venv}/bin:${process.env.PATH}` }
  const began = process.hrtime.bigint()
  execFileSync(`${venv}/bin/mindinsight`, ['start', '--port', String(port), '--summary-base-dir', folder, '--workspace', workspace], { env: environment, stdio: 'pipe' })
  const ms = elapsed(began)
  const stop = () => execFileSync(`${venv}/bin/mindinsight`, ['stop', '--port', String(port)], { env: environment, stdio: 'pipe' })
  const listening = execFileSync('sh', ['-c', `pgrep -f 'gunicorn.*${port}' | head -1`]).toString().trim()
  return { link: `http://127.0.0.1:${port}/`, ms, stop, pid: listening }
}

async function main() {
  const [venv, fixtures, count = '24'] = process.argv.slice(2)
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'stepscope-beside-'))
  const jobs = path.join(folder, 'jobs'), workspace = path.join(folder, 'workspace')
  fs.mkdirSync(workspace, { recursive: true })
  const copy = (from, job, rank) => {
    const to = path.join(jobs, job, 'profiler')
    execFileSync('sh', ['-c', 'mkdir -p "$2" && cp -r "$1"/. "$2" && chmod -R u+w "$2"', 'sh', path.join(fixtures, from), to])
    // Without it MindInsight lists nothing.
    fs.writeFileSync(`${to}/profiler_info_${rank}.json`, `{"context_mode": "graph", "rank_id": ${rank}}`)
    return to
  }
  for (let i = 0; i < Number(count); ++i) copy('run_1/normal_run/profiler', `job_${String(i).padStart(2, '0')}`, 1)
  const processors = path.join(copy('profiler', 'data', 0), 'minddata_cpu_utilization_0.json')
  // MindInsight's page fails over the key that its own test data have.
  fs.writeFileSync(processors, fs.readFileSync(processors, 'utf8').replace('runable_processes', 'runnable_process'))
  let theirs, server
  try {
    server = await serve(jobs)
    await runsOf(server.link) // imported once, as MindSpore analyses before MindInsight opens
    server.child.kill()
    await pause(500)
    theirs = await startMindInsight(path.resolve(venv), jobs, workspace)
    server = await serve(jobs)
    const runs = await runsOf(server.link)
    const idOf = (job) => runs.find((run) => run.name === job).id
    console.log(`${count} jobs            MindInsight          ours        ratio`)
    console.log(`start             ${theirs.ms.toFixed(0).padStart(7)} ms      ${server.ms.toFixed(0).padStart(7)} ms    ${(theirs.ms / server.ms).toFixed(1)}`)
    const browser = await browse()
    for (const page of pages) {
      const [route, ...texts] = page.theirs
      const [own, ...ownTexts] = page.ours
      const seen = { theirs: [], ours: [] }
      for (let i = 0; i < 6; ++i) { // the first is not counted: both keep what they have read
        const a = await visit(browser, `${theirs.link}#${route}`, says, texts)
        const b = await visit(browser, `${server.link}#/${own ? `run/${idOf(page.job ?? 'job_00')}/${own}` : ''}`, says, ownTexts)
        if (i > 0) { seen.theirs.push(a); seen.ours.push(b) }
      }
      const [a, b] = [seen.theirs, seen.ours].map((list) => ({ ms: median(list.map((one) => one.ms)), mb: median(list.map((one) => one.bytes)) / 1e6 }))
      console.log(`${page.name.padEnd(16)}  ${a.ms.toFixed(0).padStart(7)} ms ${a.mb.toFixed(2)} MB ${b.ms.toFixed(0).padStart(6)} ms ${b.mb.toFixed(2)} MB ${(a.ms / b.ms).toFixed(1)}`)
    }
    for (const run of runs) await fetch(`${server.link}api/v1/runs/${run.id}/analyses/findings`)
    console.log(`resident memory   ${resident(theirs.pid).toFixed(0).padStart(7)} MB      ${resident(server.child.pid).toFixed(0).padStart(7)} MB    ${(resident(theirs.pid) / resident(server.child.pid)).toFixed(1)}`)
    await browser.close()
  } finally {
    if (theirs) theirs.stop()
    if (server) server.child.kill()
    fs.rmSync(folder, { recursive: true, force: true })
  }
}
main()
