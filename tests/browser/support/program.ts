// `stepscope serve`, or another way to show runs, as a child, and its API.
import { type ChildProcess, spawn } from 'node:child_process'

import { program } from './paths'

export interface Run {
  id: string
  name: string
  state: string
  reason: string
}

export class Program {
  private constructor(
    private readonly child: ChildProcess,
    readonly link: string, // with the token
    readonly base: string, // http://127.0.0.1:1234/prefix/
    readonly token: string,
  ) {}

  static async start(folder: string, options: string[] = [], command = 'serve'): Promise<Program> {
    const child = spawn(program, [command, folder, '--port', '0', ...options], { stdio: ['ignore', 'pipe', 'pipe'] })
    let said = ''
    const link = await new Promise<string>((resolve, reject) => {
      const listen = (data: Buffer) => {
        said += data.toString()
        const found = /Web address: (\S+)/.exec(said)
        if (found?.[1]) resolve(found[1])
      }
      child.stdout?.on('data', listen)
      child.stderr?.on('data', listen)
      child.on('error', reject)
      child.on('exit', () => reject(new Error(`stepscope ended: ${said}`)))
    })
    const address = new URL(link)
    const token = address.searchParams.get('token') ?? ''
    address.search = ''
    return new Program(child, link, address.href, token)
  }

  async api(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(`${this.base}api/v1/${path}`, { ...init, headers: { 'X-Stepscope-Token': this.token, ...init.headers } })
  }

  async runs(): Promise<Run[]> {
    return ((await (await this.api('runs')).json()) as { runs: Run[] }).runs
  }

  // All runs, once every one is imported or has failed.
  async settledRuns(seconds = 200): Promise<Run[]> {
    for (let i = 0; i < seconds * 10; ++i) {
      const runs = await this.runs()
      if (runs.length && runs.every((run) => run.state === 'ready' || run.state === 'failed')) return runs
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    throw new Error(`runs are not imported after ${seconds} s: ${JSON.stringify(await this.runs())}`)
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return
    const over = new Promise((resolve) => this.child.once('exit', resolve))
    this.child.kill('SIGTERM')
    const late = setTimeout(() => this.child.kill('SIGKILL'), 5000)
    await over
    clearTimeout(late)
  }
}
