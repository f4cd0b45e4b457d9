// Once for all files: the runs, and one server that shows them.
import { mkdirSync, rmSync } from 'node:fs'
import type { GlobalSetupContext } from 'vitest/node'

import { makeRuns } from './makeRuns'
import { runsFolder, screenshots, work } from './paths'
import { Program, type Run } from './program'

declare module 'vitest' {
  export interface ProvidedContext {
    link: string
    base: string
    token: string
    runs: Run[]
  }
}

export default async function setup({ provide }: GlobalSetupContext): Promise<() => Promise<void>> {
  rmSync(screenshots, { recursive: true, force: true })
  mkdirSync(screenshots, { recursive: true })
  makeRuns()
  const program = await Program.start(runsFolder, ['--workspace', `${work}/workspace`])
  provide('link', program.link)
  provide('base', program.base)
  provide('token', program.token)
  provide('runs', await program.settledRuns())
  return () => program.stop()
}
