import { expect, test } from 'vitest'

import { itemsOf, nextItem } from './chartItems'

const item = { trigger: 'item' }
const axis = { trigger: 'axis' }
const places = (option: Parameters<typeof itemsOf>[0]) => itemsOf(option).map(({ x, y, name }) => [x, y, name])

test('a line over categories: its places, without gaps; of several lines the longest counts', () => {
  const option = { tooltip: axis, xAxis: { type: 'category', data: ['5', '6', '7'] }, yAxis: { type: 'value' }, series: [{ type: 'line', data: [1] }, { type: 'line', name: 'two', data: [10, null, 30] }] }
  expect(places(option)).toEqual([[0, 10, '5'], [2, 30, '7']])
  expect(itemsOf(option)[1]).toMatchObject({ series: 1, index: 2, seriesName: 'two', data: 30 })
})

test('bars that lie, and a line over values', () => {
  expect(places({ tooltip: axis, xAxis: { type: 'value' }, yAxis: { type: 'category', data: ['a', 'b'] }, series: [{ type: 'bar', data: [7, 8] }] })).toEqual([[7, 0, 'a'], [8, 1, 'b']])
  expect(places({ tooltip: axis, xAxis: { type: 'value' }, yAxis: [{ type: 'value' }], series: [{ type: 'line', data: [[100, 1], [200, 2]] }] })).toEqual([[100, 1, ''], [200, 2, '']])
})

test('points of a line over values go from left to right, however they come', () => {
  expect(places({ tooltip: axis, xAxis: { type: 'value' }, yAxis: { type: 'value' }, series: [{ type: 'line', data: [[200, 2], [100, 1], [300, 3]] }] })).toEqual([[100, 1, ''], [200, 2, ''], [300, 3, '']])
})

test('what the legend switches off is left out', () => {
  const option = { tooltip: axis, xAxis: { type: 'category', data: ['0', '1'] }, yAxis: {}, series: [{ type: 'bar', name: 'moving', data: [90, 80] }, { type: 'bar', name: 'waiting', data: [1, 2] }] }
  expect(itemsOf(option, new Set(['moving'])).map((one) => [one.seriesName, one.y])).toEqual([['waiting', 1], ['waiting', 2]])
  expect(itemsOf(option, new Set(['moving', 'waiting']))).toEqual([])
  expect(itemsOf({ tooltip: item, series: [{ type: 'pie', data: [{ name: 'b', value: 1 }, { name: 'a', value: 2 }] }] }, new Set(['b'])).map((one) => one.name)).toEqual(['a'])
})

test('slices of a ring keep their order, points go from left to right, lines between them are left out', () => {
  expect(itemsOf({ tooltip: item, series: [{ type: 'pie', data: [{ name: 'b', value: 1 }, { name: 'a', value: 2 }] }] }).map((one) => one.name)).toEqual(['b', 'a'])
  const roofline = { tooltip: item, xAxis: { type: 'log' }, yAxis: { type: 'log' }, series: [{ type: 'line', data: [[0, 0]] }, { type: 'scatter', data: [{ value: [5, 1], row: 1 }, { value: [2, 1] }] }, { type: 'scatter', data: [{ value: [3, 1] }] }] }
  expect(itemsOf(roofline).map((one) => [one.series, one.index])).toEqual([[1, 1], [2, 0], [1, 0]])
})

test('keys go along a list, and stay in it', () => {
  const option = { tooltip: axis, xAxis: { type: 'category', data: ['a', 'b', 'c'] }, yAxis: {}, series: [{ type: 'bar', data: [1, 2, 3] }] }
  const items = itemsOf(option)
  const go = (at: number, key: string) => nextItem(items, at, key, option)
  expect([go(-1, 'ArrowRight'), go(-1, 'ArrowLeft'), go(0, 'ArrowRight'), go(2, 'ArrowRight'), go(1, 'ArrowUp'), go(0, 'End'), go(2, 'Home'), go(0, 'x')]).toEqual([0, 2, 1, 2, 0, 2, 0, null])
  expect(nextItem([], -1, 'ArrowRight', option)).toBeNull()
})

test('keys go over cells in their direction, past places without one', () => {
  const option = { tooltip: item, xAxis: { type: 'category' }, yAxis: { type: 'category' }, series: { type: 'heatmap', data: [{ value: [0, 0, 9] }, { value: [2, 0, 9] }, { value: [0, 1, 9] }] } }
  const items = itemsOf(option)
  const go = (at: number, key: string) => nextItem(items, at, key, option)
  expect([go(0, 'ArrowRight'), go(0, 'ArrowDown'), go(1, 'ArrowDown'), go(2, 'ArrowUp'), go(1, 'ArrowLeft')]).toEqual([1, 2, 1, 0, 0])
})
