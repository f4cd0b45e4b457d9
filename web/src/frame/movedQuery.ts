// What an address still means when its run is part of another one: numbers of slices, lanes, rows and moments are those of
// the store that they were read from, and would name something else.
import type { LocationQuery } from 'vue-router'

const kept = new Set([
  'rank', 'step', 'first', 'last', // of the job
  'view', 'tab', 'table', 'sort', 'by', 'as', 'form', 'chart', 'measure', 'find', // how something is shown
  'scope', 'stage', 'link', 'pool', 'q', 'lanes', 'hide', 'levels', 'sql', 'x', // names, and what somebody typed
])
const keptOfTables = /^(find|filter|sort|columns)\./

export function movedQuery(query: LocationQuery): LocationQuery {
  return Object.fromEntries(Object.entries(query).filter(([name]) => kept.has(name) || keptOfTables.test(name)))
}
