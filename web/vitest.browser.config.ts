// The tests of tests/browser: the pages in a real browser, served by the real program.
import { fileURLToPath } from 'node:url'

import { defineConfig } from 'vitest/config'

const folder = (path: string) => fileURLToPath(new URL(path, import.meta.url))

// Browsers are heavy: two files at a time, one browser each.
export default defineConfig({
  root: folder('../tests/browser'),
  cacheDir: folder('../build/browser/cache'),
  resolve: { alias: { 'playwright-core': folder('node_modules/playwright-core/index.mjs'), vitest: folder('node_modules/vitest/dist/index.js') } },
  test: {
    include: ['*.test.ts'],
    globalSetup: ['support/globalSetup.ts'],
    pool: 'forks',
    maxWorkers: 2,
    minWorkers: 1,
    // What a test waits for comes at once or never; how long never takes is for a machine that others use too.
    expect: { poll: { timeout: 30_000 } },
    testTimeout: 240_000,
    hookTimeout: 240_000,
    // A failure says what the page showed; running it again would hide that it happens.
    retry: 0,
  },
})
