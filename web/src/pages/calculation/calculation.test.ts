import { expect, test } from 'vitest'

import { pointsOf, roofLine, roofsOf } from './roofline'
import { flowOf, wayTo } from './scopeTree'

const edges = [
  { source: 'Total', target: 'a', flops: 10 }, { source: 'Total', target: 'b', flops: 4 }, { source: 'Total', target: 'c', flops: 1 }, { source: 'Total', target: 'd', flops: 2 },
  { source: 'a', target: 'a/x', flops: 10 }, { source: 'a/x', target: 'a/x/y', flops: 10 }, { source: 'b', target: 'b/x', flops: 0 },
]

test('a tree is cut at its depth and width', () => {
  const flow = flowOf(edges, 'Total', 2, 2, 'more')
  expect(flow.links).toEqual([{ source: 'Total', target: 'a', value: 10 }, { source: 'a', target: 'a/x', value: 10 }, { source: 'Total', target: 'b', value: 4 }, { source: 'Total', target: 'Total/…', value: 3 }])
  expect(flow.nodes.find((node) => node.name === 'Total/…')?.label).toBe('2 more')
  expect(flow.nodes.find((node) => node.name === 'a/x')?.label).toBe('x')
})

test('the same edge on several ranks is one', () => {
  expect(flowOf([...edges, { source: 'Total', target: 'a', flops: 5 }], 'Total', 1, 9, '').links[0]?.value).toBe(15)
})

test('the way to a scope leads from the top, also in a loop', () => {
  expect(wayTo(edges, 'a/x/y')).toEqual(['Total', 'a', 'a/x', 'a/x/y'])
  expect(wayTo([{ source: 'p', target: 'q' }, { source: 'q', target: 'p' }], 'q')).toEqual(['p', 'q'])
})

test('roofs follow from rates and utilisation', () => {
  const roofs = roofsOf([
    { kind: 'matmul', data_type: 'bfloat16', flops_per_second: 100, utilisation: 0.1, bytes_per_second: 20, memory_utilisation: 0.5 },
    { kind: 'elementwise', data_type: 'bfloat16', flops_per_second: 10, utilisation: 0.2, bytes_per_second: 4, memory_utilisation: null },
  ])
  expect(roofs).toEqual({ memory: 40, compute: [{ name: 'bfloat16', peak: 1000 }, { name: 'vector', peak: 50 }] })
  expect(roofLine(40, 1000, 1, 100)).toEqual([[1, 40], [25, 1000], [100, 1000]])
  expect(roofsOf([{ flops_per_second: 1, utilisation: null }])).toEqual({ memory: null, compute: [] })
})

test('only what computes and moves bytes has a place', () => {
  expect(pointsOf([{ intensity: 0, flops_per_second: 0 }, { intensity: 2, flops_per_second: 3, time_ns: 4 }]).length).toBe(1)
})
