// What is on screen, from the server: tiles of slices and of curves, and names. Memory depends on the pixels, not
// on the trace.
import { api } from '../api'
import { Names } from './names'
import { TileCache } from './tiles'
import { readCurves, readView, type CurveData, type CurveRow, type ViewData, type ViewRow } from './viewData'
import { levelOf, tilePixels, type View } from './viewport'

export interface SlicePart {
  data: ViewData
  rows: ViewRow[]
}
export interface CurvePart {
  data: CurveData
  row: CurveRow
}

// Items that are kept: 33 bytes each, about 50 and 13 MB.
const mostSlices = 1_500_000
const mostSamples = 400_000

export class TimelineStore {
  readonly slices: TileCache<SlicePart>
  readonly curves: TileCache<CurvePart>
  readonly names: Names

  constructor(run: string, changed: () => void, failed: (error: Error) => void) {
    const pixels = () => Math.min(4096, tilePixels * Math.max(1, Math.round(devicePixelRatio || 1)))
    this.names = new Names((ids) => api.names(run, ids), changed, failed)
    this.slices = new TileCache<SlicePart>({
      load: async (from, to, ids, signal) => {
        const data = readView(await api.view(run, from, to, pixels(), ids, signal))
        const parts = new Map<number, SlicePart>()
        for (const id of ids) parts.set(id, { data, rows: [] })
        for (const row of data.rows) parts.get(row.track)?.rows.push(row)
        return { items: data.starts.length + data.rows.length, parts }
      },
    }, mostSlices, changed, failed)
    this.curves = new TileCache<CurvePart>({
      load: async (from, to, ids, signal) => {
        const data = readCurves(await api.curves(run, from, to, pixels(), ids, signal))
        const parts = new Map<number, CurvePart>()
        for (const row of data.rows) parts.set(row.series, { data, row })
        return { items: data.times.length + data.rows.length, parts }
      },
    }, mostSamples, changed, failed)
  }

  level(view: View, width: number): number { return levelOf(view.to - view.from, width) }

  stop(): void {
    this.slices.stop()
    this.curves.stop()
    this.names.stop()
  }
}
