import vue from '@vitejs/plugin-vue'
import { defineConfig } from 'vite'

// Relative links, so that the pages work below any path. ECharts is a file of its own that only
// pages with charts load.
export default defineConfig({
  base: './',
  plugins: [vue()],
  build: {
    target: 'es2021',
    chunkSizeWarningLimit: 700,
    rollupOptions: {
      output: { manualChunks: { vue: ['vue', 'vue-router', 'vue-i18n'] } },
    },
  },
  server: { proxy: { '/api': process.env.STEPSCOPE_SERVER ?? 'http://127.0.0.1:8080' } },
})
