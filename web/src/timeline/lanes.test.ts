import { expect, test } from 'vitest'

import type { Series, Track } from '../api'
import { makeLanes, matches, nextState, type LaneOptions } from './lanes'

let number = 0
const track = (kind: string, more: Partial<Track> = {}): Track =>
  ({ track: number++, position: 0, rank: 0, process: 'python', thread: kind, kind, pid: '', tid: '', slices: 5, depth: 1, ...more })
const series = (kind: Series['kind'], name: string, more: Partial<Series> = {}): Series =>
  ({ series: number++, position: 0, rank: 0, kind, group: 'CUDA 0', name, unit: '', samples: 3, low: 0, high: 9, first: 0, last: 50, ...more })
const options = (more: Partial<LaneOptions> = {}): LaneOptions => ({
  rank: null, filter: '', hide: new Set(), levels: null, states: new Map(), pinned: new Set(), busy: [], length: 100, whole: 100, stepHint: (device) => (device === -1 ? 'marks' : 'work'),
  names: (section, detail) => `${section} ${detail}`.trim(), rankName: (rank) => `Rank ${rank}`, ...more,
})
const labels = (tracks: Track[], curves: Series[], more: Partial<LaneOptions> = {}) =>
  makeLanes(tracks, curves, options(more)).lanes.map((lane) => `${lane.kind}:${lane.label}`)

const sample = () => [
  track('host'), track('free', { thread: 'Free' }), track('pure_communication', { thread: 'Pure' }), track('merged_computation', { thread: 'Computation' }),
  track('device', { device: 0, stream: 20 }), track('device', { device: 0, stream: 7 }), track('step', { device: 0, thread: 'Steps' }),
  track('scope', { device: 0, thread: 'Scope Name 2', level: 2 }), track('scope', { device: 0, thread: 'Scope Name 1', level: 1 }), track('python'),
  track('communication', { thread: 'Plane 0' }), track('ai_cpu', { thread: 'AI CPU' }), track('counter'), track('host', { slices: 0, thread: 'idle' }),
]

test('lanes come in the order of the seed', () => {
  expect(labels(sample(), [series('counter', 'power'), series('memory', 'allocated'), series('memory', 'reserved')])).toEqual([
    'group:device 0', 'track:Steps', 'track:Scope Name 1', 'track:Scope Name 2', 'track:Stream #7', 'track:Stream #20', 'group:ai_cpu', 'track:AI CPU',
    'group:communication', 'track:Plane 0', 'group:host', 'track:host', 'group:python', 'track:python', 'group:overlap', 'track:Computation', 'track:Pure',
    'track:Free', 'group:memory', 'curve:CUDA 0', 'group:counter', 'curve:power',
  ])
})

test('lanes lie below each other without gaps', () => {
  const { lanes, height } = makeLanes(sample(), [], options())
  let y = 0
  for (const lane of lanes) {
    expect(lane.y).toBe(y)
    y += lane.height
  }
  expect(height).toBe(y)
})

test('scope levels, sections and words choose lanes', () => {
  expect(labels(sample(), [], { levels: 1 })).not.toContain('track:Scope Name 2')
  expect(labels(sample(), [], { hide: new Set(['overlap']) }).join()).not.toContain('overlap')
  expect(labels(sample(), [], { filter: 'stream 20' })).toEqual(['group:device 0', 'track:Stream #20'])
  expect(matches('b A', 'xa yb')).toBe(true)
  expect(matches('b c', 'xa yb')).toBe(false)
})

test('shares are of the whole, without the marks before and after', () => {
  const stream = track('device', { device: 0, stream: 7 })
  const busy: number[] = []
  busy[stream.track] = 40
  const lanes = (whole: number) => makeLanes([stream], [], options({ busy, whole })).lanes
  expect(lanes(100)[1]?.busy).toBe(0.4)
  expect(lanes(50)[1]?.busy).toBe(0.8)
})

test('a lane of steps says whose they are', () => {
  const hint = (device: number) => makeLanes([track('step', { device })], [], options()).lanes[1]?.hint
  expect(hint(0)).toContain('work')
  expect(hint(-1)).toContain('marks')
})

test('a closed group stands for its tracks', () => {
  const tracks = sample()
  const layout = makeLanes(tracks, [], options({ states: new Map([['g0 device 0', 'closed']]) }))
  const group = layout.lanes[0]!
  expect(group.closed).toBe(true)
  expect(group.strip.length).toBe(5)
  expect(layout.ofTrack.get(tracks[4]!.track)).toBe(group)
})

test('pinned lanes leave their group', () => {
  const tracks = sample()
  const layout = makeLanes(tracks, [], options({ pinned: new Set([`t${tracks[0]!.track}`]) }))
  expect(layout.lanes[0]).toMatchObject({ label: 'host', pinned: true, y: 0 })
  expect(layout.pinnedHeight).toBe(layout.lanes[0]!.height)
  expect(layout.lanes.filter((lane) => lane.label === 'host').length).toBe(1)
})

test('of many ranks the first is open', () => {
  const tracks = Array.from({ length: 8 }, (_, rank) => track('device', { device: 0, stream: 1, rank, position: rank }))
  const layout = makeLanes(tracks, [], options())
  expect(layout.lanes.filter((lane) => lane.kind === 'rank').map((lane) => lane.closed)).toEqual([false, true, true, true, true, true, true, true])
  expect(layout.lanes.find((lane) => lane.label === 'Rank 3')!.strip).toEqual([tracks[3]!.track])
  expect([...layout.ofTrack.keys()].sort((x, y) => x - y)).toEqual(tracks.map((one) => one.track)) // closed ones too
  const computed = track('merged_computation', { rank: 3, position: 3 })
  expect(makeLanes([...tracks, computed], [], options()).lanes.find((lane) => lane.label === 'Rank 3')!.strip).toEqual([computed.track])
  expect(labels(tracks, [], { rank: 3 })).toEqual(['group:device 0', 'track:Stream #1'])
})

test('overlapping slices of a device are all shown, long stacks in part', () => {
  const { lanes } = makeLanes([track('device', { device: 0, stream: 1, depth: 20 }), track('python', { depth: 40 })], [], options())
  expect(lanes.find((lane) => lane.section === 'device' && lane.track)).toMatchObject({ rows: 20, hidden: 0 })
  const python = lanes.find((lane) => lane.section === 'python' && lane.track)!
  expect(python.rows + python.hidden).toBe(40)
  expect(nextState(python, undefined)).toBe('open')
  expect(nextState(python, 'open')).toBe('closed')
  expect(nextState(python, 'closed')).toBe(null)
})

test('curves outside of the run have no lane', () => {
  expect(labels([], [series('queue', 'late', { first: 500, last: 900 }), series('queue', 'early', { first: -90, last: -5 })])).toEqual([])
})

test('the operations of a group come before its planes, planes by their numbers', () => {
  const names = (more: Partial<Track>[]) => makeLanes(more.map((one) => track('communication', one)), [], options()).lanes.filter((lane) => lane.kind === 'track').map((lane) => lane.label)
  expect(names([{ thread: 'Plane 1', pid: '9', tid: '2', slices: 50 }, { thread: 'Plane 0', pid: '9', tid: '1', slices: 20 }, { thread: 'Group 0 Communication', pid: '9', tid: '0', slices: 4 }])).toEqual(['Group 0 Communication', 'Plane 0', 'Plane 1'])
  expect(names([{ thread: 'Group 0 Plane 10' }, { thread: 'Group 0 Plane 2' }, { thread: 'Group 0 Communication' }])).toEqual(['Group 0 Communication', 'Group 0 Plane 2', 'Group 0 Plane 10'])
})
