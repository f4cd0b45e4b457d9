// Rows of a table as objects by column name, for pages that know their columns.
import type { Cell, ColumnInfo, ResultTable } from './api'

export function recordOf(columns: ColumnInfo[], row: Cell[]): Record<string, Cell> {
  const record: Record<string, Cell> = {}
  columns.forEach((column, i) => (record[column.name] = row[i] ?? null))
  return record
}

export function records(table: ResultTable): Record<string, Cell>[] {
  return table.rows.map((row) => recordOf(table.columns, row))
}
