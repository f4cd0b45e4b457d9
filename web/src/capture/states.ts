// Words and colours of what ranks do about a request.
const good = ['finished']
const bad = ['missed', 'gone']
const warn = ['superseded']

export function stateTone(state: string): string {
  return good.includes(state) ? 'good' : bad.includes(state) ? 'bad' : warn.includes(state) ? 'warn' : ''
}

const known = ['watching', 'armed', 'recording', 'started', 'finished', 'missed', 'not chosen', 'ended', 'gone', 'not seen yet', 'matched', 'superseded']

// What a newer training may say stays as it is.
export function stateWord(state: string, t: (key: string) => string): string {
  return known.includes(state) ? t(`capture.states.${state.replaceAll(' ', '_')}`) : state
}

// "3 finished, 1 missed", most first.
export function stateCounts(states: string[], t: (key: string) => string): string {
  const counts = new Map<string, number>()
  for (const state of states) counts.set(state, (counts.get(state) ?? 0) + 1)
  return [...counts].sort((a, b) => b[1] - a[1]).map(([state, n]) => `${n} ${stateWord(state, t)}`).join(', ')
}
