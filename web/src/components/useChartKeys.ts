// A chart by keys: arrows go from one bar, point or cell to the next, Enter does what a click does there, Escape lets go.
// What is shown of the chosen one, and told, is its tooltip.
import { ref, type Ref } from 'vue'

import { byAxis, itemsOf, nextItem, type ChartItem } from './chartItems'
import { tipClass } from './chartStyle'
import type { ChartOption, Echarts } from './echarts'

type Made = ReturnType<Echarts['init']>

export function useChartKeys(chart: Ref<Made | null>, option: () => ChartOption, chosen: () => number, pick: (item: ChartItem) => void) {
  const text = ref('') // of the item that keys have gone to; '' without one
  let current: ChartItem | null = null

  // Those on screen: a chart may be zoomed.
  function items(): ChartItem[] {
    const [zoom] = (chart.value?.getOption() as { dataZoom?: { startValue: number; endValue: number }[] } | undefined)?.dataZoom ?? []
    return itemsOf(option()).filter((item) => !zoom || (item.x >= zoom.startValue && item.x <= zoom.endValue))
  }
  function show(item: ChartItem) {
    const made = chart.value
    if (!made) return
    made.dispatchAction({ type: 'downplay' })
    const place = { seriesIndex: item.series, dataIndex: item.index }
    if (byAxis(option())) {
      const [x, y] = made.convertToPixel('grid', [item.x, item.y]) as number[]
      made.dispatchAction({ type: 'showTip', x, y })
    } else {
      made.dispatchAction({ type: 'showTip', ...place })
    }
    made.dispatchAction({ type: 'highlight', ...place })
    const tip = made.getDom().querySelector<HTMLElement>(`.${tipClass}`)
    text.value = tip?.innerText.replace(/\s*\n\s*/g, ', ') ?? ''
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
  // After the chart was drawn anew.
  function again() {
    const now = current
    if (!now) return
    current = items().find((item) => item.series === now.series && item.index === now.index) ?? null
    if (current) show(current)
    else text.value = ''
  }
  return { text, key, leave, again }
}
