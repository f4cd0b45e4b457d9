// The binary answers of timeline/view and timeline/curves as typed arrays, without a copy (docs/api.md has
// the layout).

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
  slices: Float64Array // -1: a segment that was computed
  names: Uint32Array
  counts: Uint32Array
  colours: Uint8Array
}

export interface CurveRow {
  series: number
  first: number
  last: number
}

export interface CurveData {
  rows: CurveRow[]
  times: Float64Array
  lows: Float64Array
  highs: Float64Array
  lasts: Float64Array
}

const viewMagic = 0x31565353 // "SSV1"
const curveMagic = 0x31435353 // "SSC1"

// Takes arrays one behind the other, each on a multiple of eight bytes.
class Arrays {
  private at = 16
  readonly rowCount: number
  readonly items: number

  constructor(private readonly buffer: ArrayBuffer, magic: number) {
    const head = new Uint32Array(buffer, 0, 4)
    if (head[0] !== magic) throw new Error('not a timeline view')
    this.rowCount = head[1] ?? 0
    this.items = head[2] ?? 0
  }

  private take(bytes: number): number {
    const from = this.at
    this.at += bytes + ((8 - (bytes % 8)) % 8)
    return from
  }
  uint32(count: number): Uint32Array { return new Uint32Array(this.buffer, this.take(count * 4), count) }
  float64(count: number): Float64Array { return new Float64Array(this.buffer, this.take(count * 8), count) }
  uint8(count: number): Uint8Array { return new Uint8Array(this.buffer, this.take(count), count) }
}

export function readView(buffer: ArrayBuffer): ViewData {
  const arrays = new Arrays(buffer, viewMagic)
  const places = arrays.uint32(arrays.rowCount * 3)
  const data: ViewData = {
    rows: [],
    starts: arrays.float64(arrays.items),
    ends: arrays.float64(arrays.items),
    slices: arrays.float64(arrays.items),
    names: arrays.uint32(arrays.items),
    counts: arrays.uint32(arrays.items),
    colours: arrays.uint8(arrays.items),
  }
  let first = 0
  for (let row = 0; row < arrays.rowCount; ++row) {
    const length = places[row * 3 + 2] ?? 0
    data.rows.push({ track: places[row * 3] ?? 0, depth: places[row * 3 + 1] ?? 0, first, last: first + length })
    first += length
  }
  return data
}

export function readCurves(buffer: ArrayBuffer): CurveData {
  const arrays = new Arrays(buffer, curveMagic)
  const places = arrays.uint32(arrays.rowCount * 2)
  const data: CurveData = {
    rows: [],
    times: arrays.float64(arrays.items),
    lows: arrays.float64(arrays.items),
    highs: arrays.float64(arrays.items),
    lasts: arrays.float64(arrays.items),
  }
  let first = 0
  for (let row = 0; row < arrays.rowCount; ++row) {
    const length = places[row * 2 + 1] ?? 0
    data.rows.push({ series: places[row * 2] ?? 0, first, last: first + length })
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

// Last sample at or before `time`; row.first - 1 when there is none.
export function sampleAt(data: CurveData, row: CurveRow, time: number): number {
  let low = row.first
  let high = row.last
  while (low < high) {
    const middle = (low + high) >> 1
    if ((data.times[middle] ?? 0) <= time) low = middle + 1
    else high = middle
  }
  return low - 1
}
