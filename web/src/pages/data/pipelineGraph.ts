// The data pipeline as a drawing: operators from left (where data is read) to right (training), a queue
// behind each of them.
import type { Cell } from '../../api'

type Row = Record<string, Cell>

export interface Stage {
  row: Row
  name: string
  consumer: string | null // the operator that takes from its queue; null: the training
  column: number // 0 is the leftmost
  line: number
}

function childrenOf(row: Row): number[] {
  try {
    const list = JSON.parse(String(row.children ?? '[]')) as unknown
    return Array.isArray(list) ? list.map(Number) : []
  } catch {
    return []
  }
}

// Depth from the training's end; a broken tree (loops, unknown parents) still has every operator once.
export function layOut(rows: Row[]): Stage[] {
  const operators = rows.filter((row) => row.op_id !== null && row.op_id !== undefined)
  const others = rows.filter((row) => row.op_id === null || row.op_id === undefined)
  const byId = new Map(operators.map((row) => [Number(row.op_id), row]))
  const depth = new Map<number, number>()
  const lineOf = new Map<number, number>()
  let lines = 0
  const walk = (id: number, level: number, line: number) => {
    const row = byId.get(id)
    if (!row || depth.has(id)) return
    depth.set(id, level)
    lineOf.set(id, line)
    childrenOf(row).forEach((child, i) => {
      if (i > 0) lines += 1
      walk(child, level + 1, i === 0 ? line : lines)
    })
  }
  for (const row of operators) if (row.parent_id === null || !byId.has(Number(row.parent_id))) walk(Number(row.op_id), 0, lines)
  for (const row of operators) {
    if (depth.has(Number(row.op_id))) continue
    lines += 1
    walk(Number(row.op_id), 0, lines)
  }
  const deepest = Math.max(0, ...depth.values())
  const out: Stage[] = operators.map((row) => {
    const id = Number(row.op_id)
    const parent = row.parent_id === null ? undefined : byId.get(Number(row.parent_id))
    return { row, name: String(row.stage), consumer: parent ? String(parent.stage) : null, column: deepest - (depth.get(id) ?? 0), line: lineOf.get(id) ?? 0 }
  })
  // Stages without a tree (a loader, queues of the device) follow one another before the training.
  others.forEach((row, i) => out.push({ row, name: String(row.stage), consumer: i + 1 < others.length ? String(others[i + 1]?.stage) : null, column: (operators.length ? deepest + 1 : 0) + i, line: 0 }))
  for (const stage of out) if (stage.consumer === null && others[0] && !others.includes(stage.row)) stage.consumer = String(others[0].stage)
  return out
}
