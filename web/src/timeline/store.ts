// Slices for what is on screen: fetched a little wider than seen, kept until the view leaves them. Memory
// depends on the pixels, not on the trace.
import { api } from '../api'
import { readView, type ViewData, type ViewRow } from './viewData'

interface Piece {
  from: number
  to: number
  data: ViewData
  rows: Map<number, ViewRow[]> // by track
}

export class TimelineStore {
  private piece: Piece | null = null
  private tracks = ''
  private asked: AbortController | null = null
  private askedFor = ''
  private readonly names = new Map<number, string>()
  private readonly missing = new Set<number>()
  private fetchingNames = false

  constructor(private readonly run: string, private readonly changed: () => void, private readonly failed: (error: Error) => void) {}

  // Asks for slices when those at hand do not cover the view well enough. Cheap to call every frame.
  want(from: number, to: number, width: number, tracks: number[], longest: number): void {
    const key = tracks.join(',')
    const span = to - from
    const piece = this.piece
    const sharp = piece && this.tracks === key && piece.from <= Math.max(0, from) && piece.to >= Math.min(longest, to) &&
      piece.to - piece.from < 4.5 * span
    if (sharp) return
    const left = Math.max(0, Math.floor(from - span / 2))
    const right = Math.ceil(to + span / 2)
    const request = `${left}-${right}-${key}`
    if (this.askedFor === request) return
    this.asked?.abort()
    const mine = new AbortController()
    this.asked = mine
    this.askedFor = request
    const pixels = Math.min(16384, Math.round(((right - left) / span) * width))
    api.view(this.run, left, right, pixels, tracks, mine.signal).then((buffer) => {
      const data = readView(buffer)
      const rows = new Map<number, ViewRow[]>()
      for (const row of data.rows) {
        const of = rows.get(row.track)
        if (of) of.push(row)
        else rows.set(row.track, [row])
      }
      this.piece = { from: left, to: right, data, rows }
      this.tracks = key
      this.changed()
    }).catch((error: Error) => {
      if (!mine.signal.aborted) this.failed(error)
    }).finally(() => {
      if (this.asked === mine) this.askedFor = ''
    })
  }

  get data(): ViewData | null {
    return this.piece?.data ?? null
  }

  rowsOf(track: number): ViewRow[] {
    return this.piece?.rows.get(track) ?? []
  }

  // The name, or "" until it is here.
  name(id: number): string {
    const known = this.names.get(id)
    if (known !== undefined) return known
    this.missing.add(id)
    if (!this.fetchingNames) {
      this.fetchingNames = true
      setTimeout(() => void this.fetchNames(), 10)
    }
    return ''
  }

  private async fetchNames(): Promise<void> {
    const ids = [...this.missing].slice(0, 400)
    try {
      const texts = await api.names(this.run, ids)
      ids.forEach((id, i) => {
        this.names.set(id, texts[i] ?? '')
        this.missing.delete(id)
      })
    } catch (error) {
      this.missing.clear()
      this.failed(error as Error)
    }
    this.fetchingNames = false
    this.changed()
  }
}
