// Samples of a counter over time.
export interface SamplePoint {
  at: number // ns
  step: number | null
  value: number
}

// What was counted since the sample before, for each second. The first sample has none before it, and tells nothing.
export function perSecond(points: SamplePoint[]): SamplePoint[] {
  return points.flatMap((point, i) => {
    const span = point.at - (points[i - 1]?.at ?? point.at)
    return span > 0 ? [{ ...point, value: (point.value * 1e9) / span }] : []
  })
}
