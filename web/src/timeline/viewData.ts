// The binary answer of timeline/view as typed arrays, without a copy (docs/api.md has the layout).

export interface ViewRow {
  track: number
  depth: number
  first: number // items [first, last)
  last: number
}

export interface ViewData {
  rows: ViewRow[]
  starts: Float64Array
  ends: Float64Array
  slices: Float64Array
  names: Uint32Array
  counts: Uint32Array
  colours: Uint8Array
}

const magic = 0x31565353 // "SSV1"

export function readView(buffer: ArrayBuffer): ViewData {
  const head = new Uint32Array(buffer, 0, 4)
  if (head[0] !== magic) throw new Error('not a timeline view')
  const rowCount = head[1] ?? 0
  const items = head[2] ?? 0
  let at = 16
  const take = (bytes: number) => {
    const from = at
    at += bytes
    at += (8 - (at % 8)) % 8
    return from
  }
  const places = new Uint32Array(buffer, take(rowCount * 12), rowCount * 3)
  const data: ViewData = {
    rows: [],
    starts: new Float64Array(buffer, take(items * 8), items),
    ends: new Float64Array(buffer, take(items * 8), items),
    slices: new Float64Array(buffer, take(items * 8), items),
    names: new Uint32Array(buffer, take(items * 4), items),
    counts: new Uint32Array(buffer, take(items * 4), items),
    colours: new Uint8Array(buffer, take(items), items),
  }
  let first = 0
  for (let row = 0; row < rowCount; ++row) {
    const length = places[row * 3 + 2] ?? 0
    data.rows.push({ track: places[row * 3] ?? 0, depth: places[row * 3 + 1] ?? 0, first, last: first + length })
    first += length
  }
  return data
}

// First item of the row that ends after `time`: items of a row are sorted and do not overlap.
export function firstAfter(data: ViewData, row: ViewRow, time: number): number {
  let low = row.first
  let high = row.last
  while (low < high) {
    const middle = (low + high) >> 1
    if ((data.ends[middle] ?? 0) <= time) low = middle + 1
    else high = middle
  }
  return low
}
