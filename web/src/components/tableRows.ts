// Rows of a table as the user wants them: searched, sorted, written to a file.
import type { Cell, ColumnInfo } from '../api'
import { recordOf } from '../records'

export interface SortKey {
  column: number
  falling: boolean
}

export const isNumber = (column: ColumnInfo): boolean => column.kind === 'integer' || column.kind === 'float'

// Whole numbers beyond 2^53 come as text: a longer one is larger.
function compare(a: Exclude<Cell, null>, b: Exclude<Cell, null>, kind: ColumnInfo['kind']): number {
  if (kind !== 'text' && typeof a === 'string' && typeof b === 'string') {
    const negative = a.startsWith('-')
    if (negative !== b.startsWith('-')) return negative ? -1 : 1
    const order = a.length - b.length || (a < b ? -1 : a > b ? 1 : 0)
    return negative ? -order : order
  }
  const x = kind === 'text' ? String(a) : Number(a)
  const y = kind === 'text' ? String(b) : Number(b)
  return x < y ? -1 : x > y ? 1 : 0
}

// By the first key, equal ones by the next. Nothing comes last in either direction.
export function sortRows(rows: Cell[][], columns: ColumnInfo[], keys: SortKey[]): Cell[][] {
  if (!keys.length) return rows
  return [...rows].sort((a, b) => {
    for (const { column, falling } of keys) {
      const x = a[column] ?? null
      const y = b[column] ?? null
      if (x === null && y === null) continue
      if (x === null || y === null) return x === null ? 1 : -1
      const order = compare(x, y, columns[column]?.kind ?? 'text')
      if (order !== 0) return falling ? -order : order
    }
    return 0
  })
}

// A click on a heading: first the order that is usual for its kind, then the other, then none. With
// `further` the column is added to the ones already chosen.
export function nextSort(keys: SortKey[], column: number, isText: boolean, further: boolean): SortKey[] {
  const others = further ? keys.filter((key) => key.column !== column) : []
  const now = keys.find((key) => key.column === column)
  if (!now) return [...others, { column, falling: !isText }]
  return now.falling === !isText ? [...others, { column, falling: isText }] : others
}

// The order as a text for the address: columns by name, '-' before one that falls; '-' alone is no order at all.
export function sortText(keys: SortKey[], columns: ColumnInfo[]): string {
  return keys.map(({ column, falling }) => `${falling ? '-' : ''}${encodeURIComponent(columns[column]?.name ?? '')}`).join(',') || '-'
}

// Null where no column of it is here.
export function readSort(text: string, columns: ColumnInfo[]): SortKey[] | null {
  if (text === '-') return []
  const keys = text.split(',').flatMap((part) => {
    const column = columns.findIndex((one) => encodeURIComponent(one.name) === part.replace(/^-/, ''))
    return column < 0 ? [] : [{ column, falling: part.startsWith('-') }]
  })
  return keys.length ? keys : null
}

// A short name of a row that follows from its values, so that a link finds it again. Equal rows have the same.
const rowNames = new WeakMap<Cell[], string>()
export function rowName(row: Cell[]): string {
  let name = rowNames.get(row)
  if (name === undefined) {
    let hash = 0x811c9dc5 // FNV-1a
    for (const letter of JSON.stringify(row)) hash = Math.imul(hash ^ letter.codePointAt(0)!, 0x01000193)
    rowNames.set(row, (name = (hash >>> 0).toString(36)))
  }
  return name
}

const lettersInOrder = (text: string, letters: string): boolean => {
  let at = 0
  for (const letter of text) if (letter === letters[at]) at += 1
  return at === letters.length
}

const expressionIn = (search: string): string | undefined => /^\/(.+)\/$/.exec(search.trim())?.[1]

function readExpression(text: string): RegExp | null {
  try {
    return new RegExp(text, 'i')
  } catch {
    return null
  }
}

// An /expression/ that is none: it finds nothing, nor does it hide anything.
export function isWrongSearch(search: string): boolean {
  const expression = expressionIn(search)
  return expression !== undefined && readExpression(expression) === null
}

// /regular expression/, else all words somewhere in the texts. Where nothing has the words, rows that
// have their letters in this order.
export function searchRows(rows: Cell[][], columns: ColumnInfo[], search: string): Cell[][] {
  const wanted = search.trim()
  if (!wanted) return rows
  const texts = columns.map((column, i) => (column.kind === 'text' ? i : -1)).filter((i) => i >= 0)
  const textOf = (row: Cell[]) => texts.map((i) => String(row[i] ?? '')).join('\n')
  const pattern = expressionIn(wanted)
  if (pattern !== undefined) {
    const expression = readExpression(pattern)
    return expression ? rows.filter((row) => texts.some((i) => expression.test(String(row[i] ?? '')))) : rows
  }
  const words = wanted.toLowerCase().split(/\s+/)
  const hits = rows.filter((row) => {
    const text = textOf(row).toLowerCase()
    return words.every((word) => text.includes(word))
  })
  if (hits.length || wanted.length < 3) return hits
  const letters = words.join('')
  return rows.filter((row) => texts.some((i) => lettersInOrder(String(row[i] ?? '').toLowerCase(), letters)))
}

const quoted = (cell: Cell | undefined): string => {
  const text = cell === null || cell === undefined ? '' : String(cell)
  return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text
}

export function toCsv(columns: ColumnInfo[], rows: Cell[][]): string {
  const lines = rows.map((row) => columns.map((_, i) => quoted(row[i])).join(','))
  return [columns.map((column) => quoted(column.name)).join(','), ...lines].join('\r\n') + '\r\n'
}

export function toJson(columns: ColumnInfo[], rows: Cell[][]): string {
  return JSON.stringify(rows.map((row) => recordOf(columns, row)), null, 1)
}

// Tabs between cells: what spreadsheets take from the clipboard.
export function toClipboard(columns: ColumnInfo[], rows: Cell[][]): string {
  const clean = (cell: Cell | undefined) => (cell === null || cell === undefined ? '' : String(cell).replace(/[\t\n\r]+/g, ' '))
  return [columns.map((column) => column.name).join('\t'), ...rows.map((row) => columns.map((_, i) => clean(row[i])).join('\t'))].join('\n')
}

export function saveFile(name: string, type: string, content: string | Blob): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([content], { type }))
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}
