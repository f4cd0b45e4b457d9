import { ref, shallowRef } from 'vue'
import { beforeEach, expect, test, vi } from 'vitest'

import type { ChartOption } from './echarts'

vi.stubGlobal('localStorage', { getItem: () => 'light' })
const { useChartKeys } = await import('./useChartKeys')

// A chart of which the tests see what it is told. Its tip says what is written into it, and where.
const tip = { innerText: 'of the bar before' }
const told: Record<string, unknown>[] = []
const getOption = vi.fn()
const chart = {
  getOption,
  getDom: () => ({ querySelector: () => tip }),
  getWidth: () => 400,
  getHeight: () => 200,
  convertToPixel: (finder: object, value: number) => ('xAxisIndex' in finder ? 50 + 10 * value : 20 + 10 * value),
  dispatchAction: (action: Record<string, unknown>) => {
    told.push(action)
    if (action.type === 'showTip' && action.x !== undefined && Number(action.y) < 200) tip.innerText = `at ${action.x} ${action.y}`
  },
}
const bars = { tooltip: { trigger: 'axis' }, xAxis: { type: 'category', data: ['0', '1'] }, yAxis: { type: 'value' }, series: [{ type: 'bar', name: 'moving', data: [900, 800] }, { type: 'bar', name: 'waiting', data: [1, 2] }] }
const lying = { tooltip: { trigger: 'axis' }, xAxis: { type: 'value' }, yAxis: { type: 'category', data: ['a', 'b'] }, series: [{ type: 'bar', data: [7, 8] }] }

const option = ref<ChartOption>(bars)
const make = () => useChartKeys(shallowRef(chart as never), () => option.value, () => -1, () => undefined)
const press = (keys: ReturnType<typeof make>, key: string) => keys.key({ key, preventDefault: () => undefined, stopPropagation: () => undefined } as KeyboardEvent)
const placed = () => told.filter((action) => action.type === 'showTip').map(({ x, y }) => [x, y])
beforeEach(() => {
  told.length = 0
  option.value = bars
  tip.innerText = 'of the bar before'
  getOption.mockReset().mockReturnValue({})
})

test('the tip shows in the middle of the chart, whatever the height of the bar', () => {
  const keys = make()
  press(keys, 'ArrowRight')
  press(keys, 'ArrowRight')
  option.value = lying
  keys.again()
  press(keys, 'Home')
  expect(placed()).toEqual([[50, 100], [60, 100], [200, 30], [200, 20]])
  expect(keys.text.value).toBe('at 200 20')
})

test('a tip that does not show tells nothing, not what it said before', () => {
  chart.getHeight = () => 1000 // outside of the axes
  const keys = make()
  press(keys, 'ArrowRight')
  expect(keys.text.value).toBe('')
  chart.getHeight = () => 200
  expect(told[0]).toEqual({ type: 'hideTip' }) // without it ECharts does not write a tip of the same item again
})

test('series that the legend hides are left out', () => {
  getOption.mockReturnValue({ legend: [{ selected: { moving: false, waiting: true } }] })
  const keys = make()
  press(keys, 'ArrowRight')
  expect(told.find((action) => action.type === 'highlight')).toMatchObject({ seriesIndex: 1, dataIndex: 0 })
  getOption.mockReturnValue({ legend: [{ selected: { moving: false, waiting: false } }] })
  keys.again()
  expect(keys.text.value).toBe('')
})

test('what is drawn is asked for once, and again after zooming and drawing', () => {
  const keys = make()
  for (let i = 0; i < 5; ++i) press(keys, 'ArrowRight')
  expect(getOption).toHaveBeenCalledTimes(1)
  getOption.mockReturnValue({ dataZoom: [{ startValue: 1, endValue: 1 }] })
  keys.forget()
  press(keys, 'Home')
  expect(getOption).toHaveBeenCalledTimes(2)
  expect(placed().pop()).toEqual([60, 100])
  option.value = { ...bars }
  press(keys, 'Home')
  expect(getOption).toHaveBeenCalledTimes(3)
})
