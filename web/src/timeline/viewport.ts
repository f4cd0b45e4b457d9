// The arithmetic of the view: what part of the run is on screen, and which tiles show it.

export interface View {
  from: number // ns after the run's start
  to: number
}

export const shortestView = 20 // ns

// A view of the wanted span, kept within a little more than the run.
export function clampView(from: number, to: number, length: number): View {
  const span = Math.min(Math.max(to - from, shortestView), length * 1.1)
  const middle = (from + to) / 2
  const left = Math.max(-0.05 * length, Math.min(middle - span / 2, 1.05 * length - span))
  return { from: left, to: left + span }
}

// Larger or smaller by a factor, with the time at `share` of the width (0 to 1) staying where it is.
export function zoomed(view: View, factor: number, share: number): View {
  const time = view.from + share * (view.to - view.from)
  return { from: time - (time - view.from) * factor, to: time + (view.to - time) * factor }
}

// 1, 2 or 5 times a power of ten: the distance between ruler marks, at most `most` of them.
export function niceStep(span: number, most: number): number {
  const rough = span / Math.max(1, most)
  const power = 10 ** Math.floor(Math.log10(rough))
  for (const factor of [1, 2, 5]) if (power * factor >= rough) return power * factor
  return power * 10
}

// Tiles: the run cut into pieces of 2^level ns, as level 0 begins at 0. A level's tiles are 512 to 1,024
// pixels wide when it is the view's own.
export const tilePixels = 1024

export interface TileAddress {
  level: number
  index: number
}

export const tileFrom = (tile: TileAddress): number => tile.index * 2 ** tile.level
export const tileTo = (tile: TileAddress): number => (tile.index + 1) * 2 ** tile.level
export const tileKey = (tile: TileAddress): string => `${tile.level}/${tile.index}`

export function levelOf(span: number, width: number): number {
  return Math.max(0, Math.ceil(Math.log2((span / Math.max(1, width)) * (tilePixels / 2))))
}

// Tiles of the level that touch the view, within the run.
export function tilesOf(view: View, level: number, length: number): TileAddress[] {
  const size = 2 ** level
  const first = Math.floor(Math.max(0, view.from) / size)
  const last = Math.floor(Math.max(0, Math.min(view.to, length) - 1) / size)
  const tiles: TileAddress[] = []
  for (let index = first; index <= last && tiles.length < 64; ++index) tiles.push({ level, index })
  return tiles
}

export const parentOf = (tile: TileAddress): TileAddress => ({ level: tile.level + 1, index: Math.floor(tile.index / 2) })
export const childrenOf = (tile: TileAddress): TileAddress[] =>
  tile.level === 0 ? [] : [{ level: tile.level - 1, index: tile.index * 2 }, { level: tile.level - 1, index: tile.index * 2 + 1 }]
