// Which columns the tables of operators show at first, and which rows lie below a type.
import type { Cell, ColumnInfo, ResultTable } from '../../api'
import type { OperatorTab } from './operatorTabs'
import { tabOf } from './operatorTabs'

export const views = ['all', 'type', 'shape'] as const
export type View = (typeof views)[number]

// The table that a view of a tab is made from, and the column with the category.
export function tableOf(tab: OperatorTab, view: View): { name: string; category: string } {
  if (view === 'type') return { name: 'operator_types', category: 'category' }
  if (tab === 'kernels') return view === 'all' ? { name: 'kernels', category: 'type' } : { name: 'kernel_variants', category: '' }
  return { name: view === 'all' ? 'operators' : 'operator_shapes', category: 'category' }
}

const deviceTimes = ['name', 'type', 'rank', 'count', 'total_ns', 'share', 'mean_ns', 'min_ns', 'max_ns', 'p99_ns', 'input_shapes', 'input_types', 'module']
const hostTimes = ['name', 'rank', 'count', 'total_ns', 'self_ns', 'share', 'mean_ns', 'max_ns', 'device_self_ns', 'device_share', 'launches', 'input_shapes', 'module']
export function columnsOf(tab: OperatorTab, view: View): string[] {
  if (view === 'type') {
    const own = ['type', 'rank', 'category', 'operators', 'count', 'total_ns', 'self_ns', 'share', 'mean_ns', 'min_ns', 'max_ns', 'p99_ns']
    return tab === 'host' ? [...own, 'device_self_ns', 'device_share'] : own // only host operators launch device work
  }
  if (tab === 'kernels' && view === 'all') return ['name', 'rank', 'kind', 'op', 'count', 'total_ns', 'share', 'mean_ns', 'min_ns', 'max_ns', 'tensor_cores', 'occupancy', 'blocks_per_sm']
  if (tab === 'kernels') return ['name', 'rank', 'op', 'grid', 'block', 'registers', 'shared_memory_bytes', 'count', 'total_ns', 'mean_ns', 'occupancy']
  if (view === 'shape') return ['name', 'rank', 'input_shapes', 'input_types', 'count', 'total_ns', 'self_ns', 'mean_ns', 'min_ns', 'max_ns', 'device_self_ns']
  return tab === 'host' ? hostTimes : deviceTimes
}

// Shares of what a tab shows of a rank; the server's are of a category or class, of which a tab may have several.
export function shareInTab(columns: ColumnInfo[], rows: Cell[][]): (rows: Cell[][]) => Cell[][] {
  const [share, rank, window] = ['share', 'rank', 'window'].map((name) => at(columns, name)) as [number, number, number]
  const time = at(columns, 'self_ns') >= 0 ? at(columns, 'self_ns') : at(columns, 'total_ns')
  if (share < 0 || time < 0) return (some) => some
  const key = (row: Cell[]) => `${row[rank]} ${row[window]}`
  const totals = new Map<string, number>()
  for (const row of rows) totals.set(key(row), (totals.get(key(row)) ?? 0) + Number(row[time] ?? 0))
  return (some) => some.map((row) => row.map((cell, i) => (i === share ? Number(row[time] ?? 0) / (totals.get(key(row)) || 1) : cell)))
}

const at = (columns: ColumnInfo[], name: string) => columns.findIndex((column) => column.name === name)

export function rowsOf(table: ResultTable, tab: OperatorTab, categoryColumn: string): Cell[][] {
  const column = at(table.columns, categoryColumn)
  return column < 0 ? table.rows : table.rows.filter((row) => tabOf(String(row[column])) === tab)
}

// Operators (or kernels) of a type as rows of the table of types: the name stands where the type was.
export function operatorsOfType(types: ColumnInfo[], typeRow: Cell[], members: ResultTable, isKernels: boolean): Cell[][] {
  const of = (name: string) => typeRow[at(types, name)] ?? null
  const index = (name: string) => at(members.columns, name)
  const category = index(isKernels ? 'type' : 'category')
  const type = index(isKernels ? 'kind' : 'type')
  const rank = index('rank')
  const source = types.map((column) => (column.name === 'type' ? index('name') : column.name === 'category' ? category : column.name === 'self_ns' && isKernels ? index('total_ns') : index(column.name)))
  return members.rows
    .filter((row) => row[rank] === of('rank') && row[category] === of('category') && row[type] === of('type'))
    .map((row) => source.map((i) => (i < 0 ? null : row[i] ?? null)))
}
