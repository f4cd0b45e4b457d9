// A chart by keys: arrows go from one bar, point or cell to the next, Enter does what a click does there, Escape lets go.
// What is shown of the chosen one, and told, is its tooltip.
import { ref, type Ref } from 'vue'

import { byAxis, isLying, itemsOf, nextItem, type ChartItem } from './chartItems'
import { tipClass } from './chartStyle'
import type { ChartOption, Echarts } from './echarts'

type Made = ReturnType<Echarts['init']>
interface Drawn {
  dataZoom?: { startValue: number; endValue: number }[]
  legend?: { selected?: Record<string, boolean> }[]
}

export function useChartKeys(chart: Ref<Made | null>, option: () => ChartOption, chosen: () => number, pick: (item: ChartItem) => void) {
  const text = ref('') // of the item that keys have gone to; '' without one
  let current: ChartItem | null = null

  // Those on screen: a chart may be zoomed, and its legend may hide series. ECharts tells both only with a copy of all that
  // it draws, and a curve may have a hundred thousand points: asked for once, until something of it changes.
  let known: { option: ChartOption; items: ChartItem[] } | null = null
  function items(): ChartItem[] {
    if (known?.option === option()) return known.items
    const drawn = chart.value?.getOption() as Drawn | undefined
    const zoom = drawn?.dataZoom?.[0]
    const hidden = new Set(Object.entries(drawn?.legend?.[0]?.selected ?? {}).flatMap(([name, on]) => (on ? [] : [name])))
    known = { option: option(), items: itemsOf(option(), hidden).filter((item) => !zoom || (item.x >= zoom.startValue && item.x <= zoom.endValue)) }
    return known.items
  }
  function show(item: ChartItem) {
    const made = chart.value
    if (!made) return
    // What the tip said before must not stand for an item without one; hidden first, it is written again in any case.
    made.dispatchAction({ type: 'hideTip' })
    const tip = made.getDom().querySelector<HTMLElement>(`.${tipClass}`)
    if (tip) tip.innerText = ''
    made.dispatchAction({ type: 'downplay' })
    const place = { seriesIndex: item.series, dataIndex: item.index }
    made.dispatchAction({ type: 'showTip', ...(byAxis(option()) ? pixelOf(made, item) : place) })
    made.dispatchAction({ type: 'highlight', ...place })
    text.value = made.getDom().querySelector<HTMLElement>(`.${tipClass}`)?.innerText.replace(/\s*\n\s*/g, ', ') ?? ''
  }
  // Where the tip of all lines at a place of the axis shows: in the middle of the chart, for the item itself may be outside
  // of the axes, as that of a series is whose scale the others make.
  function pixelOf(made: Made, item: ChartItem): { x: number; y: number } {
    return isLying(option())
      ? { x: made.getWidth() / 2, y: Number(made.convertToPixel({ yAxisIndex: 0 }, item.y)) }
      : { x: Number(made.convertToPixel({ xAxisIndex: 0 }, item.x)), y: made.getHeight() / 2 }
  }
  function leave() {
    if (!current) return
    current = null
    text.value = ''
    chart.value?.dispatchAction({ type: 'downplay' })
    chart.value?.dispatchAction({ type: 'hideTip' })
  }
  function key(event: KeyboardEvent) {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (event.key === 'Escape' && current) {
      leave()
      event.stopPropagation() // a drawer around it stays
    } else if ((event.key === 'Enter' || event.key === ' ') && current) {
      pick(current)
    } else {
      const list = items()
      const now = current
      const at = now ? list.findIndex((item) => item.series === now.series && item.index === now.index) : list.findIndex((item) => item.index === chosen())
      const to = nextItem(list, at, event.key, option())
      const item = to === null ? undefined : list[to]
      if (!item) return
      current = item
      show(item)
    }
    event.preventDefault()
  }
  // After the chart was zoomed.
  function forget() {
    known = null
  }
  // After it was drawn anew, or with other series.
  function again() {
    forget()
    const now = current
    if (!now) return
    current = items().find((item) => item.series === now.series && item.index === now.index) ?? null
    if (current) show(current)
    else text.value = ''
  }
  return { text, key, leave, forget, again }
}
