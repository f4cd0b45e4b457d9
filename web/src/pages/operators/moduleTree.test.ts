import { expect, test } from 'vitest'

import type { Cell, ResultTable } from '../../api'
import { moduleTree } from './moduleTree'

const tableOf = (rows: Cell[][]): ResultTable => ({
  columns: ['rank', 'window', 'module', 'calls'].map((name) => ({ name, unit: '', kind: 'text', doc: '' })), rows, total: rows.length, reasons: [],
})

test('rows lie below the module around them, each rank by itself', () => {
  const table = tableOf([[0, 0, 'Net', 2], [0, 0, 'Net/Linear', 4], [1, 0, 'Net', 3], [1, 0, 'Net/Linear', 5], [1, 0, 'Net/Linear/Act', 6]])
  const { roots, children, whole } = moduleTree(table)
  expect(roots.map((row) => [row[0], row[2]])).toEqual([[0, 'Net'], [1, 'Net']])
  const [second] = children.get(roots[1]!)!
  expect(second).toEqual([1, 0, 'Linear', 5])
  expect(children.get(second!)).toEqual([[1, 0, 'Act', 6]])
  expect(children.has(children.get(roots[0]!)![0]!)).toBe(false)
  expect(whole.get(second!)).toBe(table.rows[3])
})

test('a module whose surroundings were not sent is a root', () => {
  expect(moduleTree(tableOf([[0, 0, 'Net/Linear', 4]])).roots).toEqual([[0, 0, 'Linear', 4]])
})

test('levels are open while few rows show', () => {
  const layers = (n: number) => Array.from({ length: n }, (_, i): Cell[] => [0, 0, `Net/Model/Layer_${i}`, 1])
  const few = moduleTree(tableOf([[0, 0, 'Net', 1], [0, 0, 'Net/Model', 1], ...layers(5)]))
  expect(few.open.map((row) => row[2])).toContain('Model')
  const many = moduleTree(tableOf([[0, 0, 'Net', 1], [0, 0, 'Net/Model', 1], ...layers(50)]))
  expect(many.open.map((row) => row[2])).toEqual(['Net'])
})
