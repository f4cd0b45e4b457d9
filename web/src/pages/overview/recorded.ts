// How long was recorded: of the run, as the timeline shows it, or of a rank. Time between windows counts: the timeline
// has it too.
import type { RunInfo } from '../../api'

export function recordedNs(info: RunInfo | null, rank: number | null): number {
  const own = (info?.ranks ?? []).filter((one) => (rank === null || one.rank === rank) && one.slices > 0)
  if (!own.length) return 0
  const ends = own.map((one) => BigInt(one.last_ns))
  const starts = own.map((one) => BigInt(one.first_ns))
  const last = ends.reduce((most, one) => (one > most ? one : most))
  const first = starts.reduce((least, one) => (one < least ? one : least))
  return Number(last - first)
}
