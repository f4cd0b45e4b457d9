import vue from '@vitejs/plugin-vue'
import { defineConfig, type Plugin } from 'vite'

// ECharts is a file of its own that only pages with charts load, Chinese one for those who read it; a page is a file, and
// all that they share another.
function fileOf(module: string): string | undefined {
  if (/src\/(start|early|pageFiles)|vite\/preload-helper/.test(module)) return 'start'
  if (/node_modules\/@?vue/.test(module)) return 'vue'
  if (/locale\/(chinese|(\w+\.)?zh)\.ts/.test(module)) return 'chinese'
  if (/node_modules|components\/echarts|src\/(pages|timeline|capture)\//.test(module)) return undefined
  return 'shared'
}

// start.ts is no part of the others: it runs while those are on their way.
function startFirst(): Plugin {
  return {
    name: 'start-first',
    transformIndexHtml: (_, { bundle = {} }) =>
      Object.values(bundle).filter((file) => file.name === 'start').map((file) => ({ tag: 'script', attrs: { type: 'module', async: true, src: `./${file.fileName}` }, injectTo: 'head-prepend' })),
  }
}

// Relative links, so that the pages work below any path.
export default defineConfig({
  base: './',
  plugins: [vue({ features: { optionsAPI: false } }), startFirst()],
  build: {
    target: 'es2022',
    cssCodeSplit: false, // 28 kB in all: a request less for each page
    chunkSizeWarningLimit: 700,
    rollupOptions: {
      input: ['index.html', 'src/start.ts'],
      output: { manualChunks: fileOf },
    },
  },
  server: { proxy: { '/api': process.env.STEPSCOPE_SERVER ?? 'http://127.0.0.1:8080' } },
})
