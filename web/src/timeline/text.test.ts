import { expect, test } from 'vitest'

import { TextFitter } from './text'

const fitter = new TextFitter((text) => text.length * 6)

test('what fits is left alone', () => {
  expect(fitter.fit('gemm', 24)).toBe('gemm')
  expect(fitter.fit('gemm', 500)).toBe('gemm')
})

test('the middle of a long name goes, and it fits', () => {
  for (const room of [18, 30, 61, 120]) {
    const short = fitter.fit('void cutlass::Kernel2<gemm_128x256_tn>', room)
    expect(short.length * 6).toBeLessThanOrEqual(room)
    expect(short).toContain('…')
    expect(short.startsWith('v')).toBe(true)
  }
  expect(fitter.fit('void cutlass::Kernel2<gemm_128x256_tn>', 120).endsWith('_tn>')).toBe(true)
})

test('no room, no text', () => {
  expect(fitter.fit('gemm', 12)).toBe('')
  expect(fitter.fit('gemm', 0)).toBe('')
})
