// Which lanes there are, in what order, and how high they are.
import type { Track } from '../api'

export const slicePixels = 16
export const laneGap = 6
export const groupPixels = 24

export interface Lane {
  kind: 'group' | 'track'
  id: string
  label: string
  hint: string
  track?: Track
  depth: number // rows of slices shown
  collapsed: boolean
  y: number
  height: number
}

const order: Record<string, number> = { analysis: 0, device: 1, communication: 2, host: 3, python: 4, async: 5, other: 6, counter: 9 }
const fewRows = 6

// Ranks in order, in each the device's lanes first. A track with nothing on it has no lane.
export function makeLanes(tracks: Track[], options: { rank: number | null; filter: string; collapsed: Set<string>; expanded: Set<string>; pinned: Set<number> }): Lane[] {
  const lanes: Lane[] = []
  let y = 0
  const add = (lane: Omit<Lane, 'y' | 'height'>, height: number) => {
    lanes.push({ ...lane, y, height })
    y += height
  }
  const filter = options.filter.toLowerCase()
  const wanted = tracks.filter((track) => {
    if (track.slices === 0 || track.kind === 'counter') return false
    if (options.rank !== null && track.rank !== options.rank) return false
    return !filter || `${track.process} ${track.thread} ${track.kind}`.toLowerCase().includes(filter)
  })
  const byOrder = (a: Track, b: Track) =>
    a.position - b.position || (order[a.kind] ?? 6) - (order[b.kind] ?? 6) || (a.device ?? 0) - (b.device ?? 0) ||
    (a.stream ?? 0) - (b.stream ?? 0) || b.slices - a.slices
  const addTrack = (track: Track) => {
    const id = String(track.track)
    const collapsed = options.collapsed.has(id)
    const depth = collapsed ? 1 : options.expanded.has(id) ? track.depth : Math.min(track.depth, fewRows)
    add({ kind: 'track', id, label: laneLabel(track), hint: `${track.process} · ${track.thread} · ${track.kind}`, track, depth, collapsed }, depth * slicePixels + laneGap)
  }
  const pinned = wanted.filter((track) => options.pinned.has(track.track))
  for (const track of pinned.sort(byOrder)) addTrack(track)
  let position = -1
  for (const track of wanted.filter((one) => !options.pinned.has(one.track)).sort(byOrder)) {
    if (track.position !== position) {
      position = track.position
      const id = `rank ${track.position}`
      add({ kind: 'group', id, label: `Rank ${track.rank}`, hint: track.process, depth: 0, collapsed: options.collapsed.has(id) }, groupPixels)
    }
    if (!options.collapsed.has(`rank ${position}`)) addTrack(track)
  }
  return lanes
}

function laneLabel(track: Track): string {
  if (track.kind === 'device' && track.stream !== undefined) return `Device ${track.device ?? 0} · stream ${track.stream}`
  return track.thread || track.process || track.kind
}
