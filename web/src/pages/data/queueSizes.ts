// How full a queue is, over the steps. Loaders note the size when a batch is put in and when the training takes one:
// the latter says whether it had to wait.
import type { Cell } from '../../api'

type Row = Record<string, Cell>

export interface QueueSizes {
  name: string
  points: [number, number][] // step (or batch, where no batch belongs to a step), size
}

const known = (cell: Cell | undefined) => cell !== null && cell !== undefined

export function queueSizes(batches: Row[]): { queues: QueueSizes[]; along: 'step' | 'batch' } {
  const sized = batches.filter((row) => known(row.size))
  const names = [...new Set(sized.map((row) => String(row.stage)))]
  const along = sized.some((row) => known(row.step)) ? 'step' : 'batch'
  const queues = names.map((name) => {
    const own = sized.filter((row) => row.stage === name)
    const taken = own.filter((row) => known(row.fetch_ns))
    const points = (taken.length ? taken : own).filter((row) => known(row[along])).map((row): [number, number] => [Number(row[along]), Number(row.size)])
    return { name, points: points.sort((a, b) => a[0] - b[0]) }
  })
  return { queues: queues.filter((queue) => queue.points.length > 0), along }
}
