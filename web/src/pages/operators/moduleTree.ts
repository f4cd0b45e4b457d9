// The rows of the table of modules as a tree: which rows lie below a row, and which are open at first.
import type { Cell, ResultTable } from '../../api'

export interface ModuleTree {
  roots: Cell[][] // in these rows a module has its own name only
  children: Map<Cell[], Cell[][]>
  whole: Map<Cell[], Cell[]> // as the table has it
  open: Cell[][] // from the outside in, as long as few rows show
}

const rowsAtFirst = 24

export function moduleTree(table: ResultTable): ModuleTree {
  const at = (name: string) => table.columns.findIndex((column) => column.name === name)
  const [rank, window, module] = [at('rank'), at('window'), at('module')]
  const tree: ModuleTree = { roots: [], children: new Map(), whole: new Map(), open: [] }
  const byPath = new Map<string, Cell[]>()
  for (const row of table.rows) {
    const path = String(row[module])
    const cut = path.lastIndexOf('/')
    const key = (of: string) => `${row[rank]} ${row[window]} ${of}`
    const own = row.map((cell, i) => (i === module ? path.slice(cut + 1) : cell))
    byPath.set(key(path), own)
    tree.whole.set(own, row)
    const around = cut < 0 ? undefined : byPath.get(key(path.slice(0, cut))) // comes before what is in it
    if (!around) tree.roots.push(own)
    else if (!tree.children.get(around)?.push(own)) tree.children.set(around, [own])
  }
  let level = tree.roots
  for (let shown = level.length; level.length > 0;) {
    const inner = level.flatMap((row) => tree.children.get(row) ?? [])
    shown += inner.length
    if (shown > rowsAtFirst) break
    tree.open.push(...level)
    level = inner
  }
  return tree
}
