// A page is a file of its own, loaded when it is wanted.
export const pageFiles = {
  runs: () => import('./pages/Runs.vue'),
  overview: () => import('./pages/Overview.vue'),
  steps: () => import('./pages/Steps.vue'),
  operators: () => import('./pages/Operators.vue'),
  calculation: () => import('./pages/Calculation.vue'),
  data: () => import('./pages/Data.vue'),
  timeline: () => import('./pages/Timeline.vue'),
  memory: () => import('./pages/Memory.vue'),
  cpu: () => import('./pages/Cpu.vue'),
  communication: () => import('./pages/Communication.vue'),
  ranks: () => import('./pages/Ranks.vue'),
  sql: () => import('./pages/Sql.vue'),
  quality: () => import('./pages/Quality.vue'),
}
