// What the user chose, kept in this browser. Where it refuses (a frame of another site, no room), for this visit only:
// asking for localStorage itself may throw there.
const forThisVisit = new Map<string, string>()

export function kept(name: string): string | null {
  try {
    return forThisVisit.get(name) ?? localStorage.getItem(`stepscope.${name}`)
  } catch {
    return null
  }
}

export function keep(name: string, value: string): void {
  try {
    localStorage.setItem(`stepscope.${name}`, value)
    forThisVisit.delete(name)
  } catch {
    forThisVisit.set(name, value)
  }
}
