// What could be meant at the cursor of a query: tables after FROM and JOIN, columns of a table after its dot, columns
// of the tables that the query names, then words of SQL and functions.
export interface SchemaTable {
  name: string
  columns: string[]
}

export interface Suggestion {
  text: string
  kind: 'table' | 'column' | 'word'
  of?: string
}

const words = ['select', 'from', 'where', 'group by', 'order by', 'limit', 'join', 'left join', 'using', 'on', 'as', 'and', 'or', 'not', 'in', 'is null', 'is not null', 'between', 'like', 'ilike', 'distinct', 'having', 'with', 'union all', 'case', 'when', 'then', 'else', 'end', 'desc', 'asc', 'count(*)', 'sum(', 'avg(', 'min(', 'max(', 'median(', 'quantile_cont(', 'round(', 'coalesce(', 'regexp_matches(', 'json_extract(', 'over (partition by']

export interface Place {
  start: number // where the word at the cursor begins
  word: string
  table: string // before the dot, '' without one
}

export function placeAt(sql: string, cursor: number): Place {
  const before = sql.slice(0, cursor)
  const match = /(?:([A-Za-z_][\w]*)\.)?([A-Za-z_][\w]*|)$/.exec(before)
  const word = match?.[2] ?? ''
  return { start: cursor - word.length, word, table: match?.[1] ?? '' }
}

// Tables of the query with their aliases.
function named(sql: string, tables: SchemaTable[]): Map<string, SchemaTable> {
  const found = new Map<string, SchemaTable>()
  const next = 'where|group|order|limit|join|left|inner|on|using|having|union'
  for (const match of sql.matchAll(new RegExp(`\\b(?:from|join)\\s+([\\w."]+)(?:\\s+(?:as\\s+)?(?!(?:${next})\\b)([A-Za-z_]\\w*))?`, 'gi'))) {
    const table = tables.find((one) => one.name.toLowerCase() === match[1]?.toLowerCase())
    if (!table) continue
    found.set(table.name.toLowerCase(), table)
    if (match[2]) found.set(match[2].toLowerCase(), table)
  }
  return found
}

export function suggest(sql: string, cursor: number, tables: SchemaTable[], most = 12): Suggestion[] {
  const place = placeAt(sql, cursor)
  const here = named(sql, tables)
  const lower = place.word.toLowerCase()
  const fits = (text: string) => text.toLowerCase().startsWith(lower) && text.toLowerCase() !== lower
  if (place.table) {
    const table = here.get(place.table.toLowerCase()) ?? tables.find((one) => one.name === place.table)
    return (table?.columns ?? []).filter((column) => lower === '' || fits(column)).slice(0, most).map((text) => ({ text, kind: 'column', of: table?.name }))
  }
  const afterFrom = /\b(from|join)\s+[\w."]*$/i.test(sql.slice(0, cursor))
  if (afterFrom) return tables.filter((table) => lower === '' || fits(table.name)).slice(0, most).map((table) => ({ text: table.name, kind: 'table' }))
  if (lower === '') return []
  const columns: Suggestion[] = []
  for (const table of new Set(here.values())) for (const column of table.columns) if (fits(column) && !columns.some((one) => one.text === column)) columns.push({ text: column, kind: 'column', of: table.name })
  const rest: Suggestion[] = [...tables.filter((table) => fits(table.name)).map((table): Suggestion => ({ text: table.name, kind: 'table' })), ...words.filter(fits).map((text): Suggestion => ({ text, kind: 'word' }))]
  return [...columns, ...rest].slice(0, most)
}
