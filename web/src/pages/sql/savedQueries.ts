// Queries that the user kept, in this browser, for all runs.
import { keep, kept } from '../../kept'

export interface SavedQuery {
  name: string
  sql: string
}

const place = 'queries'

// What somebody else wrote there, or an older version, is not an error.
export function readQueries(): SavedQuery[] {
  try {
    const list = JSON.parse(kept(place) ?? '[]') as unknown
    if (!Array.isArray(list)) return []
    return list.filter((one): one is SavedQuery => typeof one?.name === 'string' && typeof one?.sql === 'string').slice(0, 200)
  } catch {
    return []
  }
}

export function saveQueries(list: SavedQuery[]): void {
  keep(place, JSON.stringify(list))
}

// A name that is taken gets the new text.
export function withQuery(list: SavedQuery[], name: string, sql: string): SavedQuery[] {
  return [{ name, sql }, ...list.filter((one) => one.name !== name)]
}
