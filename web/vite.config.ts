import vue from '@vitejs/plugin-vue'
import { defineConfig } from 'vite'

// Relative links, so that the pages work below any path. ECharts is a file of its own that only
// pages with charts load; a page is a file, and all that they share another: browsers fetch six at a time.
function fileOf(module: string): string | undefined {
  if (/node_modules\/(@?vue|@intlify)/.test(module)) return 'vue'
  if (/node_modules|components\/echarts|src\/(pages|timeline|capture)\//.test(module)) return undefined
  return 'shared'
}

export default defineConfig({
  base: './',
  plugins: [vue()],
  build: {
    target: 'es2021',
    chunkSizeWarningLimit: 700,
    rollupOptions: {
      output: { manualChunks: fileOf },
    },
  },
  server: { proxy: { '/api': process.env.STEPSCOPE_SERVER ?? 'http://127.0.0.1:8080' } },
})
