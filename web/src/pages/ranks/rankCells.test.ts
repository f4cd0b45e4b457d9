import { expect, test } from 'vitest'

import { heatCells } from './rankCells'

const rows = [
  { rank: 4, step: 7, step_ns: 100, exposed_communication_ns: 30, idle_ns: 5 },
  { rank: 4, step: 7, step_ns: 100, exposed_communication_ns: 10, idle_ns: 9 },
  { rank: 1, step: 8, step_ns: 90, exposed_communication_ns: 60, idle_ns: null },
]

test('own time is the step without communication, the slowest device counts', () => {
  const map = heatCells(rows, 'own')
  expect(map.ranks).toEqual([1, 4])
  expect(map.steps).toEqual([7, 8])
  expect(map.cells).toEqual([{ x: 0, y: 1, value: 90 }, { x: 1, y: 0, value: 30 }])
  expect(heatCells(rows, 'idle').cells[0]?.value).toBe(9)
  expect(heatCells([], 'own').cells).toEqual([])
})
