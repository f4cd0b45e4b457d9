import { createRouter, createWebHashHistory } from 'vue-router'

import RunFrame from './frame/RunFrame.vue'
import { pageFiles } from './pageFiles'

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
    { path: '/', name: 'runs', component: pageFiles.runs },
    {
      path: '/run/:run',
      component: RunFrame,
      children: [
        { path: '', redirect: (to) => ({ name: 'overview', params: to.params }) },
        ...pages.map((page) => ({ path: page, name: page, component: pageFiles[page] })),
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
