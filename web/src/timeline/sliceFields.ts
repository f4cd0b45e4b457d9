// What the typed tables say about a slice, with the meaning of each value; times and sizes by their names.
import type { SliceDetails } from '../api'
import { bytes, exactDuration } from '../format'
import { columnDoc, columnTitle } from '../locale/serverTexts'

export interface SliceField {
  title: string
  doc: string
  value: string
  exact?: string
}

export const typedParts = ['kernel', 'op', 'communication'] as const
export type TypedPart = (typeof typedParts)[number]

// Said elsewhere in the panel, or numbers of rows that tell nobody anything.
const elsewhere = new Set([
  'id', 'rank', 'track', 'ts', 'dur', 'name', 'cat', 'step', 'correlation', 'flags', 'depth', 'parent', 'external_id', 'stack', 'launch', 'of', 'queue_delay',
])
const isRowNumber = (part: TypedPart, name: string) => part === 'kernel' && name === 'op'
export const isShown = (part: TypedPart, name: string): boolean => !elsewhere.has(name) && !isRowNumber(part, name)

function shown(name: string, value: string | number): Pick<SliceField, 'value' | 'exact'> {
  if (/wait|transit/.test(name)) return { value: exactDuration(Number(value)), exact: `${value} ns` }
  if (/bytes|shared_memory/.test(name)) return { value: bytes(Number(value)), exact: `${value} B` }
  if (name === 'occupancy') return { value: `${value} %` }
  return { value: name === 'bandwidth' ? `${value} GB/s` : String(value) }
}

export function typedFields(details: SliceDetails, part: TypedPart): SliceField[] {
  return Object.entries(details[part] ?? {}).flatMap(([name, value]) => {
    if (value === null || value === '' || !isShown(part, name)) return []
    return [{ title: columnTitle(name), doc: columnDoc(details.docs[part]?.[name] ?? ''), ...shown(name, value) }]
  })
}
