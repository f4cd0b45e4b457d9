// How soon the pages are there: start of the server, each page until its data is visible, bytes over the
// wire, memory with many runs.
//
//   node bench/browser/pages.cjs [RUNS]      (default 24; from the folder of the repository, after ./run --no-serve)
//
// Every page in a fresh browser profile, from navigation until nothing is busy; median of 3.
const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { root, median, browse, serve, runsOf, resident, visit } = require('./page_load.cjs')

const pages = ['overview', 'steps', 'operators', 'calculation', 'data', 'timeline', 'memory', 'cpu', 'communication', 'ranks', 'sql', 'quality']
const isThere = () => document.querySelector('main')?.querySelector('table, canvas, [role="img"], textarea, .state') && !document.querySelector('[aria-busy="true"]')

async function main() {
  const count = Number(process.argv[2] ?? 24)
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'stepscope-pages-'))
  try {
    for (let i = 0; i < count; ++i) execFileSync(`${root}/build/stepscope-generate`, ['--output', `${folder}/run${i}`, '--ranks', '2', '--steps', '8', '--layers', '4', '--seed', String(i)])
    let server = await serve(folder)
    await runsOf(server.link)
    server.child.kill()
    const starts = []
    for (let i = 0; i < 3; ++i) {
      server = await serve(folder)
      starts.push(server.ms)
      if (i < 2) server.child.kill()
    }
    console.log(`start until the first answer, ${count} runs: ${median(starts).toFixed(0)} ms`)
    const runs = await runsOf(server.link)
    const id = runs[0].id
    const browser = await browse()
    await visit(browser, `${server.link}#/run/${id}/overview`, isThere) // analyses are computed once
    for (const page of ['', ...pages]) {
      const tries = []
      for (let i = 0; i < 3; ++i) tries.push(await visit(browser, `${server.link}#/${page ? `run/${id}/${page}` : ''}`, isThere))
      const times = tries.map((one) => Math.round(one.ms))
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
