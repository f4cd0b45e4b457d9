// Tiles of lanes, fetched for the times in view, a little before they are needed, and dropped when they have not
// been drawn for long. While a tile is missing, larger and smaller ones stand in for it.
import { childrenOf, parentOf, tileFrom, tileKey, tilesOf, tileTo, type TileAddress, type View } from './viewport'

export interface Piece<Part> {
  part: Part
  from: number // to be drawn between these times only
  to: number
}

interface Tile<Part> extends TileAddress {
  parts: Map<number, Part> // by track or series
  items: number
  used: number // frame
}

// How a kind of lane is asked for.
interface Source<Part> {
  load: (from: number, to: number, ids: number[], signal: AbortSignal) => Promise<{ items: number; parts: Map<number, Part> }>
}

const mostInFlight = 4
const mostIds = 300 // in one request
const levelsUp = 12
const mostFailures = 3

export class TileCache<Part> {
  private readonly tiles = new Map<string, Tile<Part>>()
  private readonly flying = new Map<string, { abort: AbortController; ids: Set<number> }>()
  private items = 0
  private frame = 0
  private failures = 0

  constructor(
    private readonly source: Source<Part>, private readonly most: number,
    private readonly changed: () => void, private readonly failed: (error: Error) => void,
  ) {}

  get held(): number { return this.items }
  get waiting(): boolean { return this.flying.size > 0 }

  // What can be drawn now, left to right. Sharp tiles first; a missing one is replaced by the next larger that
  // is here, else by smaller ones.
  pieces(id: number, view: View, level: number, length: number): Piece<Part>[] {
    const found: Piece<Part>[] = []
    for (const tile of tilesOf(view, level, length)) {
      const from = tileFrom(tile)
      const to = tileTo(tile)
      const own = this.part(tile, id)
      if (own !== undefined) {
        found.push({ part: own, from, to })
        continue
      }
      let larger: TileAddress = tile
      let part: Part | undefined
      for (let up = 0; up < levelsUp && part === undefined; ++up) {
        larger = parentOf(larger)
        part = this.part(larger, id)
      }
      if (part !== undefined) {
        found.push({ part, from, to })
        continue
      }
      for (const child of childrenOf(tile)) {
        const smaller = this.part(child, id)
        if (smaller !== undefined) found.push({ part: smaller, from: tileFrom(child), to: tileTo(child) })
      }
    }
    return found
  }

  private part(address: TileAddress, id: number): Part | undefined {
    const tile = this.tiles.get(tileKey(address))
    if (!tile) return undefined
    tile.used = this.frame
    return tile.parts.get(id)
  }

  // Asks for what is missing, nearest first, and drops requests that nobody looks at any more. Cheap to call
  // every frame.
  want(ids: number[], view: View, level: number, length: number): void {
    ++this.frame
    const tiles = tilesOf(view, level, length)
    if (!tiles.length || !ids.length || this.failures > mostFailures) return
    const first = tiles[0]!
    const last = tiles[tiles.length - 1]!
    const around = [{ level, index: last.index + 1 }, { level, index: first.index - 1 }]
      .filter((tile) => tile.index >= 0 && tileFrom(tile) < length)
    const wanted = [...tiles, ...around]
    const keys = new Set(wanted.map(tileKey))
    for (const [key, request] of this.flying) {
      const place = key.slice(0, key.indexOf(' '))
      if (!keys.has(place)) {
        request.abort.abort()
        this.flying.delete(key)
      }
    }
    for (const tile of wanted) {
      const key = tileKey(tile)
      const here = this.tiles.get(key)
      if (here) here.used = this.frame
      const missing: number[] = []
      for (const id of ids) {
        if (here?.parts.has(id) || this.isFlying(key, id)) continue
        missing.push(id)
        if (missing.length === mostIds) break
      }
      if (!missing.length) continue
      if (this.flying.size >= mostInFlight) break
      this.ask(tile, missing)
    }
    this.evict()
  }

  private isFlying(key: string, id: number): boolean {
    for (const [name, request] of this.flying) if (name.startsWith(`${key} `) && request.ids.has(id)) return true
    return false
  }

  private ask(address: TileAddress, ids: number[]): void {
    const abort = new AbortController()
    const key = `${tileKey(address)} ${ids[0]}`
    this.flying.set(key, { abort, ids: new Set(ids) })
    this.source.load(tileFrom(address), tileTo(address), ids, abort.signal).then((reply) => {
      if (abort.signal.aborted) return
      this.failures = 0
      const name = tileKey(address)
      let tile = this.tiles.get(name)
      if (!tile) this.tiles.set(name, (tile = { ...address, parts: new Map(), items: 0, used: this.frame }))
      for (const [id, part] of reply.parts) tile.parts.set(id, part)
      tile.items += reply.items
      this.items += reply.items
    }).catch((error: Error) => {
      if (abort.signal.aborted) return
      // A server that is gone is not asked all the time.
      if (++this.failures === mostFailures + 1) setTimeout(() => { this.failures = 0; this.changed() }, 3000)
      this.failed(error)
    }).finally(() => {
      if (this.flying.get(key)?.abort === abort) this.flying.delete(key)
      if (!abort.signal.aborted) this.changed()
    })
  }

  private evict(): void {
    if (this.items <= this.most) return
    const oldest = [...this.tiles.entries()].sort((a, b) => a[1].used - b[1].used)
    for (const [key, tile] of oldest) {
      if (this.items <= this.most * 0.75 || tile.used === this.frame) break
      this.items -= tile.items
      this.tiles.delete(key)
    }
  }

  stop(): void {
    for (const request of this.flying.values()) request.abort.abort()
    this.flying.clear()
  }
}
