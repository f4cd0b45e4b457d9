import { expect, test } from 'vitest'

import { makeRuler, timeText } from './ruler'

const texts = (from: number, to: number) => makeRuler({ from, to }, 1000).marks.map((mark) => mark.text)

test('digits follow the distance of the marks', () => {
  expect(texts(0, 300e6)).toEqual(['0', '50 ms', '100 ms', '150 ms', '200 ms', '250 ms', '300 ms'])
  expect(texts(255e6, 255.05e6)).toEqual(['255.00 ms', '255.01 ms', '255.02 ms', '255.03 ms', '255.04 ms', '255.05 ms'])
  expect(texts(0.9e6, 1.1e6)).toEqual(['900 µs', '950 µs', '1.00 ms', '1.05 ms', '1.10 ms'])
})

test('too many digits become a base and what comes on top of it', () => {
  const { base, marks } = makeRuler({ from: 1800e9, to: 1800e9 + 50_000 }, 1000)
  expect(base).toBe('1800.000 s')
  expect(marks.map((mark) => mark.text)).toEqual(['+0', '+10 µs', '+20 µs', '+30 µs', '+40 µs', '+50 µs'])
})

test('no two marks read the same, at any zoom and place', () => {
  for (const at of [0, 1, 12_345, 255e6, 1800e9 + 123_456_789]) {
    for (let span = 20; span < 1e13; span *= 3.7) {
      const found = texts(at, at + span)
      expect(found.length).toBeGreaterThan(1)
      expect(new Set(found).size, `${at} ${span}: ${found}`).toBe(found.length)
      for (const text of found) expect(text.length).toBeLessThan(16)
    }
  }
})

test('times before the run began', () => {
  expect(timeText(-20e6, 10e6)).toBe('-20 ms')
})
