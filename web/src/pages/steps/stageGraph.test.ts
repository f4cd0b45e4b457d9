import { expect, test } from 'vitest'

import { boxTexts, reduceLines, stageBoxes } from './stageGraph'

test('stages touch each other and fill the step', () => {
  const boxes = stageBoxes({ dur_ns: 100, iteration_interval_ns: 10, fp_and_bp_ns: 70, fp_ns: 30, bp_ns: 40, tail_ns: 20 })
  expect(boxes.map((box) => [box.label, box.start, box.length])).toEqual([['part.interval', 0, 10], ['steps.forward', 10, 30], ['steps.backward', 40, 40], ['part.tail', 80, 20]])
  expect(boxes.reduce((sum, box) => sum + box.width, 0)).toBeCloseTo(1)
  expect(stageBoxes({ dur_ns: 100, iteration_interval_ns: 10, fp_and_bp_ns: 70, fp_ns: null, tail_ns: 20 }).map((box) => box.label)).toEqual(['part.interval', 'part.fp_bp', 'part.tail'])
  expect(stageBoxes({ dur_ns: 100, fp_and_bp_ns: null })).toEqual([])
})

test('collectives have a line for each stream and end with the step', () => {
  const lines = reduceLines([
    { stream: 20, name: 'a', offset_ns: 90, dur_ns: 20 }, { stream: 3, name: 'b', offset_ns: 10, dur_ns: 5 }, { stream: 3, name: 'c', offset_ns: 200, dur_ns: 5 },
  ], 100)
  expect(lines.map((line) => line.name)).toEqual(['3', '20'])
  expect(lines[1]?.boxes[0]?.width).toBeCloseTo(0.1)
  expect(lines[1]?.boxes[0]?.length).toBe(20)
  expect(reduceLines([{ stream: null, name: 'a', offset_ns: 0, dur_ns: 5 }], 100)[0]?.name).toBe('')
})

test('a box has what it has room for', () => {
  const texts = (pixels: number) => boxTexts('ncclDevKernel_AllReduce', '14.30 ms', pixels, (name, most) => name.slice(0, most))
  expect(texts(400)).toEqual(['ncclDevKernel_AllReduce', '14.30 ms'])
  for (const pixels of [40, 90, 140, 200]) expect(texts(pixels).join('  ').length * 7, String(pixels)).toBeLessThanOrEqual(pixels)
  expect(texts(90)).toHaveLength(1)
  expect(texts(20)).toEqual([])
})
