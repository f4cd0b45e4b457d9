import { expect, test } from 'vitest'

import { compareOwners, mergePoints, pointAt, points, pointSizes, poolName, readZoom } from './memoryData'

const at = (...places: number[]) => places.map((place) => ({ at: place, row: {} }))

test('pools have names', () => {
  expect(poolName({ device_kind: 'CUDA', device: 0, component: '' })).toBe('CUDA 0')
  expect(poolName({ device_kind: 'CPU', device: -1, component: 'MindSpore' })).toBe('CPU MindSpore')
})

test('plans count positions, others time', () => {
  const rows = [{ device_kind: 'NPU', device: 0, component: 'graph 1', position: 7, ts: null }, { device_kind: 'CPU', device: -1, component: '', position: 0, ts: '100' }]
  expect(points(rows, { device_kind: 'NPU', device: 0, component: 'graph 1', source: 'plan' }, Number).map((point) => point.at)).toEqual([7])
  expect(points(rows, { device_kind: 'CPU', device: -1, component: '', source: 'events' }, Number).map((point) => point.at)).toEqual([100])
})

test('a finer part replaces the coarse one', () => {
  expect(mergePoints(at(0, 10, 20, 30), at(9, 12, 21)).map((point) => point.at)).toEqual([0, 9, 12, 21, 30])
  expect(mergePoints(at(0, 10), []).length).toBe(2)
})

test('a place has the last event before it', () => {
  expect(pointAt(at(0, 10, 20), 15)?.at).toBe(10)
  expect(pointAt(at(5, 10), 1)?.at).toBe(5)
  expect(pointAt([], 1)).toBeNull()
})

test('a point tells the size of its operator, the total and the change', () => {
  expect(pointSizes({ operator_bytes: 40, allocated_bytes: 1250, change_bytes: -8, reserved_bytes: null }, 5000)).toEqual([{ key: 'size', bytes: 40 }, { key: 'allocated', bytes: 1250 }, { key: 'change', bytes: -8 }, { key: 'available', bytes: 3750 }])
  expect(pointSizes({ allocated_bytes: 0, change_bytes: -8 }, null)).toEqual([{ key: 'allocated', bytes: 0 }, { key: 'change', bytes: -8 }])
})

test('two moments differ by operator', () => {
  const changes = compareOwners([{ name: 'a', category: 'forward', bytes: 5 }, { name: 'a', category: 'forward', bytes: 5 }], [{ name: 'a', category: 'forward', bytes: 4 }, { name: 'b', category: 'backward', bytes: 7 }])
  expect(changes.map((change) => [change.name, change.before, change.after])).toEqual([['b', 0, 7], ['a', 10, 4]])
})

test('a part of the address is one of the curve, or none', () => {
  expect(readZoom('10_20', at(0, 100))).toEqual([10, 20])
  expect(readZoom('', at(0, 100))).toBeNull()
  expect(readZoom('20_10', at(0, 100))).toBeNull()
  expect(readZoom('200_300', at(0, 100))).toBeNull()
  expect(readZoom('a_b', at(0, 100))).toBeNull()
  expect(readZoom('10_20', [])).toBeNull()
})
