// The server's API, version 1 (docs/api.md), with types. Requests never leave the server that sent
// the page.
import { apiRoot as root, earlyAnswer } from './early'
import { t } from './locale'

export class ApiError extends Error {
  constructor(readonly code: string, message: string, readonly remedy: string) {
    super(message)
  }
}

// Told when the server says that a run is part of another one by now: whoever knows which page is open looks it up again.
const changeListeners = new Set<() => void>()
export function whenRunChanged(listener: () => void): () => void {
  changeListeners.add(listener)
  return () => changeListeners.delete(listener)
}

const offline = () => new ApiError('offline', t('state.offline'), t('state.offlineHint'))

async function fetchChecked(path: string, init?: RequestInit): Promise<Response> {
  let response: Response
  try {
    response = await fetch(root + path, { credentials: 'same-origin', ...init })
  } catch (problem) {
    if (init?.signal?.aborted) throw problem
    throw offline()
  }
  if (response.ok) return response
  const body = await response.json().catch(() => null)
  const error = body?.error
  if (response.status === 409 && error?.code === 'changed' && path.startsWith('runs/')) changeListeners.forEach((listener) => listener())
  throw new ApiError(error?.code ?? String(response.status), error?.message ?? response.statusText, error?.remedy ?? '')
}

async function getJson<T>(path: string, signal?: AbortSignal): Promise<T> {
  const early = await earlyAnswer(path)
  return (early ?? (await fetchChecked(path, { signal })).json()) as T
}

export interface RunEntry {
  id: string
  name: string
  path: string
  former_ids: string[] // of its files, when each was a run by itself
  state: 'found' | 'importing' | 'ready' | 'failed'
  reason: string
  done_bytes: number
  total_bytes: number
  input_bytes: number
  store_bytes: number
  modified_ns: string
  ranks: number
  steps: number
  devices: string
  losses: number
  suspects: number
  tags: string[]
}

export interface RunList {
  runs: RunEntry[]
  can_add: boolean // files to the folder; not where a single run is served
}

export interface RankInfo {
  position: number
  rank: number
  window: number
  host: string
  device_kind: string
  device_name: string
  format: string
  first_ns: string
  last_ns: string
  slices: number
  kernels: number
  steps: number
}

export interface RunInfo {
  ranks: RankInfo[]
  first_ns: string
  last_ns: string
  slices: number
  tables: { name: string; doc: string }[]
}

export type Cell = number | string | boolean | null

export interface ColumnInfo {
  name: string
  unit: string
  kind: 'integer' | 'float' | 'bool' | 'text'
  doc: string
}

export interface ResultTable {
  columns: ColumnInfo[]
  rows: Cell[][]
  total: number
  reasons: string[]
}

export interface TableQuery {
  rank?: number
  step?: number
  device?: number
  search?: string
  sort?: string
  offset?: number
  limit?: number
  // of tables that have them (docs/api.md)
  first_step?: number
  last_step?: number
  from?: string
  to?: string
  at?: string
  device_kind?: string
  component?: string
}

export interface Track {
  track: number
  position: number
  rank: number
  process: string
  thread: string
  kind: string
  pid: string
  tid: string
  slices: number
  depth: number
  device?: number
  stream?: number
  level?: number // of a scope
  busy_ns?: number // of a lane that was computed
}

export interface Series {
  series: number
  position: number
  rank: number
  kind: 'counter' | 'memory' | 'queue'
  group: string
  name: string
  unit: string
  samples: number
  low: number
  high: number
  first: number // times of the first and the last sample, ns after the origin
  last: number
}

// A slice where the timeline draws it.
export interface SlicePlace {
  slice: number
  track: number
  depth: number
  start: number
  dur: number
  name: string
}

export interface Arrow {
  kind: string
  from: SlicePlace
  to: SlicePlace
}

export interface SearchHit {
  slice: number
  track: number
  start: number
  dur: number
  name: string
}

export interface SliceDetails {
  slice: Record<string, string | null>
  place: SlicePlace
  self_ns: number
  previous: number | null
  next: number | null
  kernel: Record<string, string | number | null> | null
  op: Record<string, string | number | null> | null
  communication: Record<string, string | number | null> | null
  docs: Partial<Record<'kernel' | 'op' | 'communication', Record<string, string>>> // what the columns of these mean
  parents: SlicePlace[]
  arrows: Arrow[]
  args: unknown
  args_error?: string
}

export interface RangeRow {
  name: string
  count: number
  total_ns: number
  self_ns: number // without the slices inside of them
  max_ns: number
  slice: number // the longest
  colour: number
}

export interface RangeTotals {
  rows: RangeRow[]
  tracks: { track: number; count: number; busy_ns: number }[]
  names: number
  count: number
  total_ns: number
  self_ns: number
}

export interface SqlResult {
  columns: string[]
  kinds: ColumnInfo['kind'][]
  rows: Cell[][]
  more: boolean
  ms: number
}

// A rank of a training that runs; of a request: as that sees it.
export interface ControlRank {
  rank: number
  host: string
  process: number
  state: string
  steps: [number, number] | null
  step: number
  steps_per_second: number
  output: string
  error: string
  run: string // its id, once the recording is in the list
  run_state: RunEntry['state'] | ''
}

export interface ControlRequest {
  id: string
  steps: [number, number]
  level: number
  with_stack: boolean
  asked_ns: string
  over: boolean
  ranks: ControlRank[]
}

export interface ControlState {
  target: string
  places: { name: string; error: string }[]
  ranks: ControlRank[]
  requests: ControlRequest[] // the latest first
}

export interface CaptureWish {
  next?: number
  steps?: [number, number]
  level?: number
  with_stack?: boolean
  ranks?: number[]
  replace?: boolean
}

function queryText(values: object): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined && value !== '' && value !== null) query.set(name, String(value))
  }
  const text = query.toString()
  return text ? `?${text}` : ''
}

// fetch() cannot tell how much was sent.
function uploadFile(file: File, progress: (done: number) => void): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('POST', `${root}runs${queryText({ name: file.name })}`)
    request.upload.onprogress = (event) => progress(event.loaded)
    request.onload = () => {
      const reply = (() => {
        try {
          return JSON.parse(request.responseText)
        } catch {
          return null
        }
      })()
      if (request.status === 200) resolve(String(reply?.id))
      else reject(new ApiError(reply?.error?.code ?? String(request.status), reply?.error?.message ?? request.statusText, reply?.error?.remedy ?? ''))
    }
    request.onerror = () => reject(offline())
    request.send(file)
  })
}

export const sqlFormats = ['csv', 'json', 'jsonl', 'parquet', 'arrow'] as const
export type SqlFormat = (typeof sqlFormats)[number]

export type TableFormat = 'csv' | 'json' | 'parquet'

export const api = {
  runs: (signal?: AbortSignal) => getJson<RunList>('runs', signal),
  importRun: (run: string) => fetchChecked(`runs/${run}/import`, { method: 'POST' }),
  upload: uploadFile,
  setTags: async (run: string, tags: string[]) => {
    await (await fetchChecked(`runs/${run}/tags`, { method: 'PUT', body: JSON.stringify({ tags }) })).text()
  },
  // The training that may be asked for recordings; '' where the server has none.
  controlTarget: () => getJson<{ target: string }>('control').then((reply) => reply.target),
  controlState: () => getJson<ControlState>('control/ranks'),
  capture: async (wish: CaptureWish) =>
    (await fetchChecked('control/capture', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(wish) }))
      .json() as Promise<ControlRequest>,
  run: (run: string) => getJson<RunInfo>(`runs/${run}`),
  analysis: (run: string, table: string, query: TableQuery = {}, signal?: AbortSignal) =>
    getJson<ResultTable>(`runs/${run}/analyses/${table}${queryText(query)}`, signal),
  // The rows that match, as a file.
  analysisFile: (run: string, table: string, format: TableFormat, query: TableQuery = {}) =>
    `${root}runs/${run}/analyses/${table}${queryText({ ...query, format })}`,
  tracks: (run: string) =>
    getJson<{ origin_ns: string; from?: number; to?: number; tracks: Track[] }>(`runs/${run}/timeline/tracks`),
  view: async (run: string, from: number, to: number, width: number, tracks: number[], signal?: AbortSignal) =>
    (await fetchChecked(
      `runs/${run}/timeline/view${queryText({ from: Math.floor(from), to: Math.ceil(to), width, tracks: tracks.join(',') })}`,
      { signal },
    )).arrayBuffer(),
  names: (run: string, ids: number[]) =>
    getJson<{ names: string[] }>(`runs/${run}/timeline/names?ids=${ids.join(',')}`).then((reply) => reply.names),
  lanes: (run: string) => getJson<{ lanes: Track[]; busy: number[] }>(`runs/${run}/timeline/lanes`),
  series: (run: string) => getJson<{ series: Series[] }>(`runs/${run}/timeline/series`).then((reply) => reply.series),
  curves: async (run: string, from: number, to: number, width: number, series: number[], signal?: AbortSignal) =>
    (await fetchChecked(
      `runs/${run}/timeline/curves${queryText({ from: Math.floor(from), to: Math.ceil(to), width, series: series.join(',') })}`,
      { signal },
    )).arrayBuffer(),
  search: (run: string, query: { q: string; from?: number; to?: number; latest?: number; rank?: number | null; limit?: number }, signal?: AbortSignal) =>
    getJson<{ total: number; before: number; hits: SearchHit[] }>(`runs/${run}/timeline/search${queryText({ limit: 2000, ...query })}`, signal),
  range: (run: string, from: number, to: number, rank: number | null, tracks: number[] | null, signal?: AbortSignal) =>
    getJson<RangeTotals>(
      `runs/${run}/timeline/range${queryText({ from: Math.floor(from), to: Math.ceil(to), rank, tracks: tracks?.join(',') })}`, signal),
  slice: (run: string, slice: number, signal?: AbortSignal) => getJson<SliceDetails>(`runs/${run}/slices/${slice}`, signal),
  // One that is called off is told to the server, which would go on with it.
  sql: async (run: string, sql: string, limit = 1000, signal?: AbortSignal) => {
    const name = signal && `${Date.now().toString(36)}${Math.random().toString(36).slice(2)}`
    const stop = () => void fetch(`${root}runs/${run}/sql?name=${name}`, { method: 'DELETE', credentials: 'same-origin' }).then((reply) => reply.text()).catch(() => undefined)
    signal?.addEventListener('abort', stop)
    try {
      return (await (await fetchChecked(`runs/${run}/sql`, { method: 'POST', body: JSON.stringify({ sql, limit, name }), signal })).json()) as SqlResult
    } finally {
      signal?.removeEventListener('abort', stop)
    }
  },
  // All rows of a statement, as a file.
  sqlFile: async (run: string, sql: string, format: SqlFormat, signal?: AbortSignal) =>
    (await fetchChecked(`runs/${run}/sql`, { method: 'POST', body: JSON.stringify({ sql, format }), signal })).blob(),
  schema: (run: string) => getJson<{ tables: { name: string; columns: string[] }[] }>(`runs/${run}/schema`),
  // A rank's timeline; with `scope_levels` as a trace view whose scopes go down to that level.
  traceLink: (run: string, query: { position: number; scope_levels?: number }) => `${root}runs/${run}/trace${queryText(query)}`,
  archiveLink: (run: string, query: { rank?: number | null; from?: number; to?: number } = {}) => `${root}runs/${run}/timeline/archive${queryText(query)}`,
}
