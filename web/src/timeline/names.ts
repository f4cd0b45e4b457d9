// Texts of name ids, fetched in batches when they are first drawn. The oldest go when there are too many. A server
// that does not answer is asked again after a while, not in every frame.
const most = 50_000
const batch = 400
const pauseMs = 3000

export class Names {
  private readonly known = new Map<number, string>()
  private readonly missing = new Set<number>()
  private fetching = false
  private timer: ReturnType<typeof setTimeout> | undefined

  constructor(
    private readonly fetchNames: (ids: number[]) => Promise<string[]>, private readonly changed: () => void,
    private readonly failed: (error: Error) => void,
  ) {}

  // The name, or "" until it is here.
  get(id: number): string {
    const name = this.known.get(id)
    if (name !== undefined) return name
    this.missing.add(id)
    if (!this.fetching) {
      this.fetching = true
      this.timer = setTimeout(() => void this.fetch(), 10)
    }
    return ''
  }

  private async fetch(): Promise<void> {
    const ids = [...this.missing].slice(0, batch)
    try {
      const texts = await this.fetchNames(ids)
      ids.forEach((id, i) => {
        this.known.set(id, texts[i] ?? '')
        this.missing.delete(id)
      })
      for (const id of this.known.keys()) {
        if (this.known.size <= most) break
        this.known.delete(id)
      }
    } catch (error) {
      this.missing.clear()
      this.failed(error as Error)
      this.timer = setTimeout(() => this.goOn(), pauseMs)
      return
    }
    this.goOn()
  }

  private goOn(): void {
    this.fetching = false
    this.changed()
  }

  stop(): void { clearTimeout(this.timer) }
}
