// A chosen segment of a lane that was computed, or several of them too short to tell apart. It has no row of its own that
// could be asked for again: what is shown of it is in the address.
export interface ChosenSegment {
  track: number
  depth: number
  start: number
  end: number
  count: number
  colour: number
  name: string
}

const mostName = 200 // characters

export function segmentText(segment: ChosenSegment): string {
  const { track, depth, start, end, count, colour, name } = segment
  return [...[track, depth, start, end, count, colour].map(Math.round), name.slice(0, mostName)].join('_')
}

export function readSegment(text: unknown): ChosenSegment | null {
  if (typeof text !== 'string') return null
  const parts = text.split('_')
  const [track, depth, start, end, count, colour] = parts.slice(0, 6).map(Number) as [number, number, number, number, number, number]
  if (parts.length < 7 || ![track, depth, start, end, count, colour].every(Number.isFinite) || end < start) return null
  return { track, depth, start, end, count, colour, name: parts.slice(6).join('_') }
}
