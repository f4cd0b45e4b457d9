// The tree of scopes as a sankey diagram below one of them.
import type { Cell } from '../../api'

type Row = Record<string, Cell>

export interface Flow {
  nodes: { name: string; label: string }[]
  links: { source: string; target: string; value: number }[]
}

const lastPart = (path: string) => path.split('/').pop() ?? path

// `levels` below the root; of each scope the largest, the rest as one.
export function flowOf(rows: Row[], root: string, levels: number, most: number, other: string): Flow {
  const below = new Map<string, { target: string; value: number }[]>()
  for (const row of rows) {
    const value = Number(row.flops)
    if (!(value > 0)) continue
    const list = below.get(String(row.source)) ?? []
    const same = list.find((one) => one.target === row.target)
    if (same) same.value += value
    else list.push({ target: String(row.target), value })
    below.set(String(row.source), list)
  }
  const labels = new Map<string, string>([[root, lastPart(root)]])
  const links: Flow['links'] = []
  const walk = (scope: string, level: number) => {
    if (level >= levels) return
    const children = [...(below.get(scope) ?? [])].sort((a, b) => b.value - a.value)
    for (const child of children.slice(0, most)) {
      if (labels.has(child.target)) continue
      labels.set(child.target, lastPart(child.target))
      links.push({ source: scope, target: child.target, value: child.value })
      walk(child.target, level + 1)
    }
    const rest = children.slice(most)
    if (!rest.length) return
    const name = `${scope}/…`
    labels.set(name, `${rest.length} ${other}`)
    links.push({ source: scope, target: name, value: rest.reduce((sum, child) => sum + child.value, 0) })
  }
  walk(root, 0)
  return { nodes: [...labels].map(([name, label]) => ({ name, label })), links }
}

// The scopes from the top down to this one, for the way back.
export function wayTo(rows: Row[], scope: string): string[] {
  const parents = new Map(rows.map((row) => [String(row.target), String(row.source)]))
  const way = [scope]
  for (let at = parents.get(scope); at !== undefined && !way.includes(at); at = parents.get(at)) way.unshift(at)
  return way
}
