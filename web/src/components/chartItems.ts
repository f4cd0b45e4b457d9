// The bars, points, slices and cells of a chart, in the order in which keys go from one to the next.
import type { ChartOption } from './echarts'

export interface ChartItem {
  series: number
  index: number // in the data of the series
  seriesName: string
  name: string // of its category, or its own
  data: unknown
  x: number // values of the axes; the place in the list where there are none
  y: number
}

interface Axis {
  type?: string
  data?: unknown[]
}
interface Series {
  type?: string
  name?: string
  data?: unknown[]
}

const listOf = (value: unknown): unknown[] => (value === undefined || value === null ? [] : Array.isArray(value) ? value : [value])
const valueOf = (data: unknown): unknown => (data !== null && typeof data === 'object' && 'value' in data ? data.value : data)
const axesOf = (option: ChartOption) => [option.xAxis, option.yAxis].map((axis) => listOf(axis)[0] as Axis | undefined)
const numberOf = (value: unknown): number => (value === null || value === undefined || value === '' ? NaN : Number(value))

// One place of the axis for all lines, or one for each item?
export const byAxis = (option: ChartOption): boolean => (option.tooltip as { trigger?: string } | undefined)?.trigger === 'axis'
// Do the bars lie, their categories one below the other?
export function isLying(option: ChartOption): boolean {
  const [across, up] = axesOf(option)
  return up?.type === 'category' && across?.type !== 'category'
}
const isGrid = (items: ChartItem[], option: ChartOption): boolean => (listOf(option.series)[items[0]?.series ?? 0] as Series | undefined)?.type === 'heatmap'

// `hidden`: names that the legend has switched off.
export function itemsOf(option: ChartOption, hidden: ReadonlySet<string> = new Set()): ChartItem[] {
  const [across, up] = axesOf(option)
  const along = isLying(option) ? up : across
  const all = (listOf(option.series) as Series[]).map((series, number) => ({ series, number })).filter(({ series }) => !hidden.has(series.name ?? ''))
  const itemsIn = ({ series, number }: (typeof all)[number]): ChartItem[] => (series.data ?? []).flatMap((data, index) => {
    const value = valueOf(data)
    const named = data !== null && typeof data === 'object' && 'name' in data ? String(data.name) : null
    const [first, second] = Array.isArray(value) ? value.map(numberOf) : [along === up && up ? numberOf(value) : index, along === up && up ? index : numberOf(value)]
    const item = { series: number, index, seriesName: series.name ?? '', name: named ?? String(along?.data?.[index] ?? ''), data, x: first ?? NaN, y: second ?? NaN }
    if (!along && hidden.has(item.name)) return [] // the legend of a ring has its slices
    return along && (Number.isNaN(item.x) || Number.isNaN(item.y)) ? [] : [item] // a gap in a line
  })
  if (byAxis(option)) {
    const longest = all.map(itemsIn).reduce((most, items) => (items.length > most.length ? items : most), [])
    return along?.type === 'category' ? longest : longest.sort((a, b) => a.x - b.x)
  }
  // Lines beside points are there to compare with.
  const items = all.filter(({ series }) => series.type !== 'line').flatMap(itemsIn)
  return along && !isGrid(items, option) ? items.sort((a, b) => a.x - b.x || a.y - b.y) : items
}

const steps: Record<string, [x: number, y: number]> = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }

// Where a key goes from the item at a place in the list (-1: from none); null for keys that go nowhere.
export function nextItem(items: ChartItem[], at: number, key: string, option: ChartOption): number | null {
  const last = items.length - 1
  if (key === 'Home') return 0
  if (key === 'End') return last
  const [x, y] = steps[key] ?? []
  if (x === undefined || y === undefined || last < 0) return null
  const now = items[at]
  if (!now) return x + y > 0 ? 0 : last
  if (!isGrid(items, option)) return Math.min(last, Math.max(0, at + x + y))
  // The nearest cell in that direction; not every place has one.
  const distance = (item: ChartItem) => (item.x - now.x) * x + (item.y - now.y) * y
  const there = items.map((item, i) => ({ i, far: (x ? item.y === now.y : item.x === now.x) ? distance(item) : 0 })).filter(({ far }) => far > 0)
  return there.sort((a, b) => a.far - b.far)[0]?.i ?? at
}
