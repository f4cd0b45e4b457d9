// The folder of runs that the tests look at: generated ones, the example's recording, a sample from a GPU,
// one that cannot be read, and real ones where they are.
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'

import { generator, python, root, runsFolder, sharedPath, sharedRuns } from './paths'

// One operator and nothing else: most panels have to say why they are empty.
export const tinyTrace = JSON.stringify({
  traceEvents: [{ ph: 'X', cat: 'cpu_op', name: 'aten::add', pid: 1, tid: 1, ts: 10, dur: 5 }],
})

export function makeRuns(): string[] {
  rmSync(runsFolder, { recursive: true, force: true })
  mkdirSync(runsFolder, { recursive: true })
  const run = (command: string, ...options: string[]) => execFileSync(command, options, { stdio: 'pipe', timeout: 600_000 })
  run(generator, '--output', `${runsFolder}/generated`, '--ranks', '4', '--steps', '8', '--layers', '4', '--straggler', '2:1.5', '--seed', '7')
  run(python, `${root}examples/train_numpy.py`, '--output', `${runsFolder}/example`, '--steps', '12', '--slow-rank', '2')
  cpSync(`${root}tests/data/gpu_training`, `${runsFolder}/gpu_training`, { recursive: true })
  writeFileSync(`${runsFolder}/tiny.json`, tinyTrace)
  writeFileSync(`${runsFolder}/broken.json`, '{"traceEvents": [')
  const names = ['generated', 'example', 'gpu_training', 'tiny.json', 'broken.json']
  for (const name of Object.keys(sharedRuns)) {
    const path = sharedPath(name)
    if (!path || !existsSync(path)) continue
    cpSync(path, `${runsFolder}/${name}`, { recursive: true, filter: (file) => !file.endsWith('.stepscope') })
    names.push(name)
  }
  return names
}
