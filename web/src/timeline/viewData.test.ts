import { expect, test } from 'vitest'

import { firstAfter, readCurves, readView, sampleAt } from './viewData'

// As the server writes it: head, rows, then arrays, each on a multiple of eight bytes.
function sample(): ArrayBuffer {
  const buffer = new ArrayBuffer(16 + 24 + 3 * 8 * 3 + 16 + 16 + 8)
  new Uint32Array(buffer, 0, 4).set([0x31565353, 2, 3, 0])
  new Uint32Array(buffer, 16, 6).set([5, 0, 2, 5, 1, 1])
  new Float64Array(buffer, 40, 3).set([10, 30, 12])
  new Float64Array(buffer, 64, 3).set([20, 40, 15])
  new Float64Array(buffer, 88, 3).set([100, 101, 102])
  new Uint32Array(buffer, 112, 3).set([7, 8, 9])
  new Uint32Array(buffer, 128, 3).set([1, 4, 1])
  new Uint8Array(buffer, 144, 3).set([1, 2, 3])
  return buffer
}

test('a view is read without a copy', () => {
  const data = readView(sample())
  expect(data.rows).toEqual([{ track: 5, depth: 0, first: 0, last: 2 }, { track: 5, depth: 1, first: 2, last: 3 }])
  expect([...data.starts]).toEqual([10, 30, 12])
  expect([...data.counts]).toEqual([1, 4, 1])
  expect([...data.colours]).toEqual([1, 2, 3])
})

test('items of a row are found by time', () => {
  const data = readView(sample())
  const row = data.rows[0]!
  expect(firstAfter(data, row, 0)).toBe(0)
  expect(firstAfter(data, row, 20)).toBe(1)
  expect(firstAfter(data, row, 40)).toBe(2)
})

test('anything else is refused', () => {
  expect(() => readView(new ArrayBuffer(16))).toThrow()
})

test('curves are read, and a value holds until the next sample', () => {
  const buffer = new ArrayBuffer(16 + 16 + 4 * 24)
  new Uint32Array(buffer, 0, 4).set([0x31435353, 2, 3, 0])
  new Uint32Array(buffer, 16, 4).set([7, 2, 9, 1])
  new Float64Array(buffer, 32, 3).set([10, 20, 5])
  new Float64Array(buffer, 104, 3).set([1, 2, 3])
  const data = readCurves(buffer)
  expect(data.rows).toEqual([{ series: 7, first: 0, last: 2 }, { series: 9, first: 2, last: 3 }])
  const row = data.rows[0]!
  expect(sampleAt(data, row, 5)).toBe(-1)
  expect(sampleAt(data, row, 10)).toBe(0)
  expect(data.lasts[sampleAt(data, row, 19)]).toBe(1)
  expect(data.lasts[sampleAt(data, row, 1e9)]).toBe(2)
})
