// How high the bars of the strip are. A first step that compiles may be fifty times as long as the others: bars beyond
// three times the median are drawn to the top and marked, so that the others can be told apart.
const beyond = 3

export function stripTop(lengths: number[]): number {
  const sorted = [...lengths].sort((a, b) => a - b)
  const median = sorted[Math.floor(sorted.length / 2)] ?? 0
  const longest = sorted[sorted.length - 1] ?? 0
  return Math.max(1, median > 0 ? Math.min(longest, beyond * median) : longest)
}
