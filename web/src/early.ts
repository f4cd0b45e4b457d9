// Answers that were asked for before the page that wants them was there: its first requests are known by its name.
export const apiRoot = new URL('./api/v1/', document.baseURI).href

// By page: tables with the values that the page asks for of every run. Where it asks for the run's first rank by its
// number, which is not known here yet, this is rank=first. One that it does not ask for is a request for nothing;
// tests/browser/early.test.ts finds it.
const tablesOf: Record<string, string[]> = {
  overview: [
    'step_budget?limit=100000', 'steps?limit=100000', 'step_trace?limit=100000', 'findings?limit=20000', 'operator_types?limit=100000', 'pipeline?limit=20000',
    'timeline?limit=20000', 'device_time?limit=20000', 'memory?limit=20000', 'cpu?limit=20000', 'device_use?limit=20000',
  ],
  steps: ['step_trace?rank=first&limit=100000', 'step_trace?limit=20000', 'step_reduces?rank=first&limit=100000'],
  operators: ['operator_types?limit=100000'],
  calculation: ['flops_summary?rank=first&limit=20000', 'flops?rank=first&sort=-time_ns&limit=20000'],
  data: ['pipeline?rank=first&limit=20000', 'pipeline_batches?rank=first&limit=100000', 'pipeline_steps?rank=first&limit=100000'],
  memory: ['memory?rank=first&limit=20000', 'memory_curve?rank=first&limit=100000', 'step_trace?rank=first&limit=20000'],
  cpu: ['cpu_samples?rank=first&limit=100000', 'cpu?rank=first&limit=20000'],
  communication: ['communication_steps?limit=100000', 'late_ranks?limit=20000'],
  ranks: ['step_budget?limit=100000', 'rank_comparison?limit=100000', 'rank_comparison?limit=20000'],
}
const tablesOfAll = ['step_budget?rank=first&limit=5000'] // the strip of steps

const answers = new Map<string, Promise<unknown>>()

function ask(path: string): Promise<unknown> {
  const answer = fetch(apiRoot + path, { credentials: 'same-origin' }).then((response) => (response.ok ? response.json() : undefined), () => undefined)
  answers.set(path, answer)
  return answer
}

// What the page of this address (its part behind #) will ask for. Where something is chosen, its tables are left to the page.
export function askEarly(address: string): void {
  void ask('runs')
  const [, run, page, choice] = /^#\/run\/([0-9a-f]{16})\/([a-z]+)(\?.+)?$/.exec(address) ?? []
  if (!run || !page) return
  const info = ask(`runs/${run}`) as Promise<{ ranks: { rank: number }[] } | undefined>
  const tables = choice ? [] : [...(tablesOf[page] ?? []), ...tablesOfAll]
  for (const table of tables) void ask(`runs/${run}/analyses/${table}`)
  // Before the page, which waits for the same answer, asks by number.
  void info.then((known) => {
    if (!known) return
    const rank = known.ranks[0]?.rank ?? 0
    for (const [path, answer] of [...answers]) {
      answers.delete(path)
      answers.set(path.replace('rank=first', `rank=${rank}`), answer)
    }
  })
  setTimeout(() => answers.clear(), 5000) // a page that comes later wants to know how it is then
}

// The answer to a request, once; undefined where it was not asked for, or failed: ask as usual then.
export function earlyAnswer(path: string): Promise<unknown> | undefined {
  const answer = answers.get(path)
  answers.delete(path)
  return answer
}
