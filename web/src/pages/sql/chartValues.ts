// What a chart draws of a result. A value that is not there, or is no number, is a gap: it is not 0.
import type { Cell } from '../../api'

export function numberOf(cell: Cell | undefined): number | null {
  if (cell === null || cell === undefined || cell === '' || typeof cell === 'boolean') return null
  const value = Number(cell)
  return Number.isFinite(value) ? value : null
}

export function valuesOf(rows: Cell[][], up: number): (number | null)[] {
  return rows.map((row) => numberOf(row[up]))
}

// Points need both.
export function pointsOf(rows: Cell[][], along: number, up: number): [number, number][] {
  return rows.flatMap((row) => {
    const [x, y] = [numberOf(row[along]), numberOf(row[up])]
    return x === null || y === null ? [] : [[x, y] as [number, number]]
  })
}
