// Queries that the user kept, in this browser, for all runs.
export interface SavedQuery {
  name: string
  sql: string
}

const place = 'stepscope.queries'

// What somebody else wrote there, or an older version, is not an error.
export function readQueries(storage: Pick<Storage, 'getItem'>): SavedQuery[] {
  try {
    const list = JSON.parse(storage.getItem(place) ?? '[]') as unknown
    if (!Array.isArray(list)) return []
    return list.filter((one): one is SavedQuery => typeof one?.name === 'string' && typeof one?.sql === 'string').slice(0, 200)
  } catch {
    return []
  }
}

export function saveQueries(storage: Pick<Storage, 'setItem'>, list: SavedQuery[]): void {
  storage.setItem(place, JSON.stringify(list))
}

// A name that is taken gets the new text.
export function withQuery(list: SavedQuery[], name: string, sql: string): SavedQuery[] {
  return [{ name, sql }, ...list.filter((one) => one.name !== name)]
}
