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

test('a number at the end stays whole, or nothing is written', () => {
  const names = ['ProfilerStep#1', 'ProfilerStep#10', 'ProfilerStep#20', 'ProfilerStep#120']
  for (const room of [30, 36, 42, 48, 60, 80]) {
    for (const name of names) {
      const short = fitter.fit(name, room)
      expect(short.length * 6).toBeLessThanOrEqual(room)
      if (short) expect(short.endsWith(name.slice(12)), `${room}: ${short}`).toBe(true)
    }
  }
  expect(fitter.fit('ProfilerStep#10', 36)).toBe('Pr…#10')
  expect(fitter.fit('ProfilerStep#10', 30)).toBe('')
})

test('no room, no text', () => {
  expect(fitter.fit('gemm', 12)).toBe('')
  expect(fitter.fit('gemm', 0)).toBe('')
})
