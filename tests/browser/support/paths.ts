// Where things are: the program under test, the runs that are made for it, the pictures it leaves.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../../', import.meta.url))
const build = process.env.STEPSCOPE_BINARY_DIR ?? `${root}build`
export const program = `${build}/stepscope`
export const generator = `${build}/stepscope-generate`
export const python = `${root}.venv/bin/python`
export const work = `${build}/browser`
export const runsFolder = `${work}/runs`
export const screenshots = `${build}/screenshots`

const beside = `${root}../shared/data`
const sharedData = process.env.STEPSCOPE_SHARED_DATA || (existsSync(beside) ? beside : '')
// Real recordings, by the name they get in the folder that is served.
export const sharedRuns: Record<string, string> = {
  'h200.pt.trace.json.gz': 'h200/gpt2.pt.trace.json.gz',
  ascend: 'ascend/msinsight/text/level1',
  mindinsight: 'mindinsight/tests/utils',
  mindspore_cpu: 'mindspore_cpu/e_runtime_graph',
  tensorboard: 'kineto/kineto_tb/samples',
}
export function sharedPath(name: string): string | null {
  const path = `${sharedData}/${sharedRuns[name]}`
  return sharedData && existsSync(path) ? path : null
}
