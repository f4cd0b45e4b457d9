import { createRouter, createWebHashHistory } from 'vue-router'

// Everything a page shows is in its address: a link reopens the same view. The part behind # never
// reaches the server, so the pages work below any path prefix.
export const pages = [
  'overview', 'steps', 'operators', 'calculation', 'data', 'timeline', 'memory', 'cpu',
  'communication', 'ranks', 'sql', 'quality',
] as const
export type PageName = (typeof pages)[number]

export const router = createRouter({
  history: createWebHashHistory(),
  routes: [
    { path: '/', name: 'runs', component: () => import('./pages/Runs.vue') },
    {
      path: '/run/:run',
      component: () => import('./frame/RunFrame.vue'),
      children: [
        { path: '', redirect: (to) => ({ name: 'overview', params: to.params }) },
        { path: 'overview', name: 'overview', component: () => import('./pages/Overview.vue') },
        { path: 'steps', name: 'steps', component: () => import('./pages/Steps.vue') },
        { path: 'operators', name: 'operators', component: () => import('./pages/Operators.vue') },
        { path: 'calculation', name: 'calculation', component: () => import('./pages/Calculation.vue') },
        { path: 'data', name: 'data', component: () => import('./pages/Data.vue') },
        { path: 'timeline', name: 'timeline', component: () => import('./pages/Timeline.vue') },
        { path: 'memory', name: 'memory', component: () => import('./pages/Memory.vue') },
        { path: 'cpu', name: 'cpu', component: () => import('./pages/Cpu.vue') },
        { path: 'communication', name: 'communication', component: () => import('./pages/Communication.vue') },
        { path: 'ranks', name: 'ranks', component: () => import('./pages/Ranks.vue') },
        { path: 'sql', name: 'sql', component: () => import('./pages/Sql.vue') },
        { path: 'quality', name: 'quality', component: () => import('./pages/Quality.vue') },
      ],
    },
    { path: '/:rest(.*)*', redirect: '/' },
  ],
})

// A page that is on its way: until it is there, the one before leaves the address alone, which would call it off.
let coming: string | null = null
const arrived = (path: string) => {
  if (coming === path) coming = null
}
router.beforeEach((to, from) => {
  coming = to.path === from.path ? null : to.fullPath
})
router.afterEach((to) => arrived(to.fullPath))
router.onError((_, to) => arrived(to.fullPath))
export const leaving = (): boolean => coming !== null
