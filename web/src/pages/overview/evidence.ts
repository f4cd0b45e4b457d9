// Units of the numbers that a finding rests on, by the names that the server gives them; a test compares them with
// the rules.
const units: Record<string, string[]> = {
  share: ['above_mean', 'below_mean', 'cost', 'coverage', 'cpu_busy', 'eligible', 'empty_queue_share', 'low_precision', 'mfu', 'queue_share', 'share', 'share_of_steps', 'used'],
  ns: ['ai_cpu', 'allocator', 'exposed', 'host', 'idle', 'input_wait', 'interval', 'longest', 'lost', 'mean', 'mean_kernel', 'median', 'difference', 'stall', 'other', 'others', 'outside', 'own', 'pageable', 'receive', 'softmax', 'wait'],
  bytes: ['allocated', 'bytes_per_step', 'device', 'peak', 'reserved'],
  bytes_per_second: ['bandwidth', 'mean_of_kind'],
  count: ['compiled', 'count', 'kernels', 'operations', 'waits'],
}
const ofName = new Map(Object.entries(units).flatMap(([unit, names]) => names.map((name) => [name, unit] as const)))
// Where a rule means something else by a name.
const ofRule: Record<string, Record<string, string>> = { contended_bandwidth: { lost: 'share' } }

export function evidenceUnit(rule: string, name: string): string {
  return ofRule[rule]?.[name] ?? ofName.get(name) ?? ''
}
