// A real training, if a small one: ranks that count steps and watch a folder.
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'

import { python } from './paths'

const loop = `
import pathlib, time
import stepscope
monitor = stepscope.DynamicProfilerMonitor("cfg", "runs/recorded", poll_interval=1)
end = time.monotonic() + 300
while time.monotonic() < end:
    with stepscope.record_function("forward"):
        time.sleep(0.02)
    monitor.step()
`

export class Training {
  private readonly ranks: ChildProcess[] = []
  readonly watched: string
  readonly runs: string

  constructor(private readonly folder: string) {
    rmSync(folder, { recursive: true, force: true })
    this.watched = `${folder}/cfg`
    this.runs = `${folder}/runs`
    mkdirSync(this.runs, { recursive: true })
    mkdirSync(`${folder}/runtime`, { mode: 0o700 })
  }

  // Until every rank has told of some steps, and how fast it is.
  async start(ranks: number): Promise<void> {
    for (let rank = 0; rank < ranks; ++rank) {
      const env = { ...process.env, RANK: String(rank), WORLD_SIZE: String(ranks), XDG_RUNTIME_DIR: `${this.folder}/runtime` }
      this.ranks.push(spawn(python, ['-c', loop], { cwd: this.folder, env, stdio: 'ignore' }))
    }
    for (let i = 0; i < 600; ++i) {
      const told = this.told()
      if (told.length === ranks && told.every((one) => one.step > 5 && one.steps_per_second > 0)) return
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    throw new Error(`the ranks do not train: ${JSON.stringify(this.told())}`)
  }

  async stop(): Promise<void> {
    for (const rank of this.ranks.splice(0)) {
      if (rank.exitCode !== null || rank.signalCode !== null) continue
      const over = new Promise((resolve) => rank.once('exit', resolve))
      rank.kill('SIGKILL')
      await over
    }
  }

  private told(): { step: number; steps_per_second: number }[] {
    const folder = `${this.watched}/.stepscope`
    if (!existsSync(folder)) return []
    const files = readdirSync(folder).filter((name) => /^rank_.*\.json$/.test(name))
    return files.map((name) => JSON.parse(readFileSync(`${folder}/${name}`, 'utf8')))
  }
}
