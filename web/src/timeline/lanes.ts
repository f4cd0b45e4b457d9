// Which lanes there are, in what order, and how high they are. Pure: the same input gives the same lanes.
import type { Series, Track } from '../api'

export const slicePixels = 16
export const laneGap = 6
export const groupPixels = 24
export const curvePixels = 40
const fewRows = 16
const manyRanks = 4
const manyCurves = 6

export type Section = 'device' | 'ai_cpu' | 'communication' | 'host' | 'python' | 'overlap' | 'other' | 'counter' | 'memory' | 'queue'
export const sections: Section[] = ['device', 'ai_cpu', 'communication', 'host', 'python', 'overlap', 'other', 'memory', 'queue', 'counter']

export interface Lane {
  kind: 'rank' | 'group' | 'track' | 'curve'
  id: string
  label: string
  hint: string
  section?: Section
  track?: Track
  series?: Series[] // of a curve: the first is filled, others are lines
  strip: number[] // tracks that a closed group shows as one row
  indent: number
  rows: number // of slices shown
  hidden: number // rows that are not shown
  closed: boolean
  pinned: boolean
  busy: number | null // share of the whole
  y: number // within the pinned lanes or within the others
  height: number
}

export interface LaneOptions {
  rank: number | null
  filter: string
  hide: Set<string> // sections
  levels: number | null // of scopes; null: all
  states: Map<string, 'open' | 'closed'> // by id, where the user decided
  pinned: Set<string>
  busy: number[] // by track, ns
  length: number // of the run
  whole: number // ns that shares are of
  stepHint: (device: number) => string
  names: (section: Section, detail: string) => string
  rankName: (rank: number, window: number) => string
}

export interface Layout {
  lanes: Lane[]
  pinnedHeight: number
  height: number // of the others
  ofTrack: Map<number, Lane> // the lane, or the closed group it is in
}

const sectionOfKind: Record<string, Section> = {
  step: 'device', scope: 'device', stream: 'device', device: 'device', ai_cpu: 'ai_cpu', communication: 'communication', host: 'host', host_cpu: 'host',
  python: 'python', merged_computation: 'overlap', pure_communication: 'overlap', merged_communication: 'overlap', free: 'overlap',
}
const orderOfKind: Record<string, number> = {
  step: 0, scope: 1, device: 2, merged_computation: 0, merged_communication: 1, pure_communication: 2, free: 3,
}

// The operations of a group, then its planes: so their ids are, and so their names where they have no ids.
const byPlane = (a: Track, b: Track): number =>
  a.pid.localeCompare(b.pid) || (Number(a.tid) || 0) - (Number(b.tid) || 0) || a.thread.localeCompare(b.thread, 'en', { numeric: true })

const sectionOf = (track: Track): Section => sectionOfKind[track.kind] ?? 'other'

export function laneLabel(track: Track): string {
  if (track.kind === 'device' && track.stream !== undefined) return `Stream #${track.stream}`
  return track.thread || track.process || track.kind
}

// Words that must all be in the text.
export function matches(filter: string, text: string): boolean {
  const lower = text.toLowerCase()
  return filter.toLowerCase().split(/\s+/).every((word) => lower.includes(word))
}

// What a closed rank shows in one row: computation and the communication beside it; without them its streams, or
// its threads.
function rankStrip(tracks: Track[]): number[] {
  const of = (...kinds: string[]) => tracks.filter((track) => kinds.includes(track.kind)).map((track) => track.track).slice(0, 16)
  return [of('merged_computation', 'pure_communication'), of('device', 'communication'), of('host')].find((some) => some.length) ?? []
}

interface Member {
  track?: Track
  series?: Series[]
  id: string
  label: string
  hint: string
}

export function makeLanes(tracks: Track[], series: Series[], options: LaneOptions): Layout {
  const lanes: Lane[] = []
  const ofTrack = new Map<number, Lane>()
  let y = 0
  const add = (lane: Omit<Lane, 'y' | 'height'>, height: number): Lane => {
    const placed = { ...lane, y, height }
    lanes.push(placed)
    y += height
    return placed
  }
  const blank = { hint: '', strip: [], indent: 0, rows: 0, hidden: 0, closed: false, pinned: false, busy: null }
  const isClosed = (id: string, usually: boolean) => (options.states.get(id) ?? (usually ? 'closed' : 'open')) === 'closed'

  const addMember = (member: Member, section: Section, indent: number, pinned: boolean) => {
    const { track, id, label, hint } = member
    if (!track) {
      add({ ...blank, kind: 'curve', id, label, hint, section, series: member.series, indent, pinned }, curvePixels)
      return
    }
    const state = options.states.get(id)
    // Slices that overlap on a device get rows of their own, and are shown; stacks of calls are long.
    const usual = section === 'device' || section === 'communication' ? Math.min(track.depth, 24) : Math.min(track.depth, fewRows)
    const rows = Math.max(1, state === 'open' ? track.depth : state === 'closed' ? 1 : usual)
    const busy_ns = track.busy_ns ?? options.busy[track.track]
    const lane = add({
      ...blank, kind: 'track', id, label, hint, section, track, indent, pinned, rows, hidden: Math.max(0, track.depth - rows),
      closed: state === 'closed', busy: busy_ns === undefined ? null : busy_ns / options.whole,
    }, rows * slicePixels + laneGap)
    ofTrack.set(track.track, lane)
  }

  const wanted = tracks.filter((track) => {
    if (track.slices === 0 || track.kind === 'counter') return false
    if (options.rank !== null && track.rank !== options.rank) return false
    if (options.hide.has(sectionOf(track))) return false
    if (track.kind === 'scope' && options.levels !== null && (track.level ?? 0) > options.levels) return false
    return !options.filter || matches(options.filter, `${track.process} ${laneLabel(track)} ${track.kind} ${options.names(sectionOf(track), '')}`)
  })
  const curves = series.filter((one) => {
    // Samples of another clock lie outside of the run.
    if (one.samples === 0 || one.last < 0 || one.first > options.length || options.hide.has(one.kind)) return false
    if (options.rank !== null && one.rank !== options.rank) return false
    return !options.filter || matches(options.filter, `${one.group} ${one.name} ${one.kind} ${options.names(one.kind, '')}`)
  })

  // Members of each rank's groups, in the order of the seed.
  const ofPosition = new Map<number, { rank: number; tracks: Track[]; curves: Series[] }>()
  const at = (one: { position: number; rank: number }) => {
    let found = ofPosition.get(one.position)
    if (!found) ofPosition.set(one.position, (found = { rank: one.rank, tracks: [], curves: [] }))
    return found
  }
  for (const track of wanted) at(track).tracks.push(track)
  for (const one of curves) at(one).curves.push(one)
  const positions = [...ofPosition.keys()].sort((a, b) => a - b)
  interface Group { section: Section; detail: string; members: Member[] }
  const groupsOf = (position: number): Map<string, Group> => {
    const groups = new Map<string, Group>()
    const group = (key: string, section: Section, detail: string): Group => {
      let found = groups.get(key)
      if (!found) groups.set(key, (found = { section, detail, members: [] }))
      return found
    }
    const byOrder = (a: Track, b: Track) =>
      (orderOfKind[a.kind] ?? 5) - (orderOfKind[b.kind] ?? 5) || (a.level ?? 0) - (b.level ?? 0) || (a.device ?? 0) - (b.device ?? 0) ||
      (a.stream ?? 0) - (b.stream ?? 0) || (a.kind === 'communication' && b.kind === a.kind ? byPlane(a, b) : 0) || b.slices - a.slices
    const own = (ofPosition.get(position)?.tracks ?? []).sort(byOrder)
    // Processes of the source with one lane each do not get a group each.
    const others = new Map<string, number>()
    for (const track of own) if (sectionOf(track) === 'other') others.set(track.process, (others.get(track.process) ?? 0) + 1)
    for (const track of own) {
      const section = sectionOf(track)
      const named = section === 'other' && (others.get(track.process) ?? 0) > 1
      const detail = section === 'device' ? String(track.device ?? 0) : named ? track.process : ''
      group(section === 'device' || named ? `${section} ${detail}` : section, section, detail).members.push({
        track, id: `t${track.track}`, label: laneLabel(track),
        hint: [track.process, track.thread, track.kind === 'step' ? options.stepHint(track.device ?? 0) : track.kind].filter(Boolean).join(' · '),
      })
    }
    const pools = new Map<string, Series[]>()
    for (const one of ofPosition.get(position)?.curves ?? []) {
      if (one.kind !== 'memory') {
        group(one.kind, one.kind, '').members.push({ series: [one], id: `c${one.series}`, label: one.name, hint: [one.group, one.name].filter(Boolean).join(' · ') })
        continue
      }
      const pool = pools.get(one.group)
      if (pool) pool.push(one)
      else pools.set(one.group, [one])
    }
    for (const [name, pool] of pools)
      group('memory', 'memory', '').members.push({ series: pool, id: `c${pool[0]?.series}`, label: name, hint: pool.map((one) => one.name).join(' · ') })
    return groups
  }
  const bySection = (a: [string, Group], b: [string, Group]) =>
    sections.indexOf(a[1].section) - sections.indexOf(b[1].section) || a[0].localeCompare(b[0], undefined, { numeric: true })

  const all = positions.map((position) => ({ position, groups: [...groupsOf(position)].sort(bySection) }))
  const windows = new Map<number, number>()
  const rankNames = new Map<number, string>()
  for (const position of positions) {
    const rank = ofPosition.get(position)?.rank ?? 0
    const window = windows.get(rank) ?? 0
    windows.set(rank, window + 1)
    rankNames.set(position, options.rankName(rank, window))
  }

  for (const { position, groups } of all) {
    for (const [, group] of groups) {
      for (const member of group.members) {
        if (options.pinned.has(member.id))
          addMember(positions.length > 1 ? { ...member, label: `${rankNames.get(position)} · ${member.label}` } : member, group.section, 0, true)
      }
    }
  }
  const pinnedHeight = y
  y = 0
  for (const { position, groups } of all) {
    const rankId = `r${position}`
    let indent = 0
    if (positions.length > 1) {
      const closed = isClosed(rankId, positions.length > manyRanks && position !== positions[0])
      const strip = rankStrip(groups.flatMap(([, group]) => group.members.flatMap((member) => member.track ?? [])))
      const lane = add({ ...blank, kind: 'rank', id: rankId, label: rankNames.get(position) ?? '', closed, strip: closed ? strip : [] }, groupPixels)
      if (closed) {
        for (const [, group] of groups) for (const member of group.members) if (member.track) ofTrack.set(member.track.track, ofTrack.get(member.track.track) ?? lane)
        continue
      }
      indent = 1
    }
    for (const [key, group] of groups) {
      const members = group.members.filter((member) => !options.pinned.has(member.id))
      if (!members.length) continue
      const id = `g${position} ${key}`
      const closed = isClosed(id, (group.section === 'counter' && members.length > manyCurves) || members.every((member) => member.track?.kind === 'analysis'))
      const lane = add({
        ...blank, kind: 'group', id, label: options.names(group.section, group.detail), section: group.section, indent, closed,
        strip: closed ? members.flatMap((member) => (member.track ? [member.track.track] : [])).slice(0, 16) : [],
      }, groupPixels)
      for (const member of members) {
        if (closed && member.track) ofTrack.set(member.track.track, lane)
        else if (!closed) addMember(member, group.section, indent + 1, false)
      }
    }
  }
  return { lanes, pinnedHeight, height: y, ofTrack }
}

// What a click on a lane's head makes of it; null: as it was at first.
export function nextState(lane: Lane, state: 'open' | 'closed' | undefined): 'open' | 'closed' | null {
  if (lane.kind === 'rank' || lane.kind === 'group') return lane.closed ? 'open' : 'closed'
  const depth = lane.track?.depth ?? 1
  if (depth <= 1) return null
  if (state === 'closed') return null
  if (state === 'open' || lane.hidden === 0) return 'closed'
  return 'open'
}
