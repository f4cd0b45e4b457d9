// What all charts share, from the colours of the present theme.
import { computed } from 'vue'

import { tick } from '../format'
import { colour, theme } from '../preferences'
import type { ChartOption } from './echarts'

// Makes a chart's option, anew when the theme changes, and not before a chart asks: reading colours costs time that
// the text of a page would wait for.
export function useChart(make: () => ChartOption): () => ChartOption {
  const option = computed(() => {
    void theme.value
    return make()
  })
  return () => option.value
}

export const tipClass = 'chart-tip' // of the element that a tooltip is

export function baseOption() {
  const text = colour('text')
  const muted = colour('muted')
  return {
    textStyle: { color: text, fontFamily: getComputedStyle(document.body).fontFamily, fontSize: 12 },
    grid: { left: 72, right: 24, top: 32, bottom: 40, containLabel: false },
    tooltip: {
      trigger: 'axis', confine: true, className: tipClass, backgroundColor: colour('card'), borderColor: colour('border'),
      textStyle: { color: text, fontSize: 12 }, transitionDuration: 0,
    },
    legend: { textStyle: { color: muted, fontSize: 12 }, inactiveColor: colour('free'), top: 0, left: 0, itemWidth: 10, itemHeight: 10, type: 'scroll', icon: 'roundRect' },
  }
}

export function axis(name: string, extra: object = {}) {
  return {
    // A single character, as Chinese names may be, does not lie on its side.
    name, nameLocation: 'middle', nameGap: 28, ...(name.length === 1 ? { nameRotate: 0 } : {}), nameTextStyle: { color: colour('muted') },
    axisLine: { lineStyle: { color: colour('border') } }, axisTick: { show: false },
    axisLabel: { color: colour('muted'), hideOverlap: true }, splitLine: { lineStyle: { color: colour('border') } },
    ...extra,
  }
}

// An axis of values with the unit that the server names.
export function valueAxis(unit: string, extra: object = {}) {
  return axis('', { type: 'value', axisLabel: { color: colour('muted'), hideOverlap: true, formatter: (value: number) => tick(value, unit) }, ...extra })
}

// A distance of ticks that reads well in binary units: 1, 2, 4 ... of them.
export function binaryStep(most: number): number {
  return most > 0 ? 2 ** Math.ceil(Math.log2(most / 6)) : 1
}

export const hues = ['computing', 'memory', 'data', 'comm', 'ai-cpu', 'host', 'interval', 'comm-overlapped'] as const

export function line(name: string, data: unknown[], hue: string, extra: object = {}) {
  return { name, type: 'line', showSymbol: false, data, lineStyle: { width: 1.5, color: colour(hue) }, itemStyle: { color: colour(hue) }, ...extra }
}

// The slider below a chart and zooming with the wheel. `extra`: what both begin with.
export function zoom(extra: object = {}) {
  return [
    { type: 'inside', ...extra },
    { type: 'slider', ...extra, height: 18, bottom: 6, borderColor: colour('border'), textStyle: { color: colour('muted') }, fillerColor: 'rgba(47, 111, 222, 0.15)', moveHandleStyle: { color: colour('border'), opacity: 1 }, handleStyle: { color: colour('card'), borderColor: colour('muted') }, dataBackground: { lineStyle: { opacity: 0.3 }, areaStyle: { opacity: 0.1 } } },
  ]
}

// Zoomed to a range of steps, where these are the categories of the x axis.
export function zoomedTo(range: { first: number; last: number } | null, steps: number[]) {
  const inside = steps.flatMap((step, i) => (range && step >= range.first && step <= range.last ? [i] : []))
  return inside.length ? { startValue: inside[0], endValue: inside[inside.length - 1] } : {}
}

// Marks a place on the x axis: the chosen step, where forward begins.
export function mark(places: { at: string | number; label: string; hue?: string }[]) {
  return {
    silent: true, symbol: 'none',
    data: places.map((place) => ({ xAxis: place.at, label: { formatter: place.label, color: colour('muted'), position: 'end', rotate: 0, distance: 6, fontSize: 11 }, lineStyle: { color: colour(place.hue ?? 'text'), type: 'dashed', width: 1 } })),
  }
}

// Heat from little to much; readable in both themes.
export const heat = () => [colour('select'), colour('computing'), colour('bad')]

// Distinct, in the order of size; types that have a colour of their own everywhere keep it.
export function shareColours(names: string[], paint: (hue: string) => string = colour): string[] {
  const own: [RegExp, string][] = [[/^communication$|allreduce|all_reduce|hcom|nccl/i, 'comm'], [/^(copy|set|memcpy|memset)$/i, 'memory']]
  const rest = ['computing', 'data', 'ai-cpu', 'host', 'interval', 'comm-overlapped', 'good', 'bad']
  let next = 0
  return names.map((name) => {
    const meant = own.find(([pattern]) => pattern.test(name))
    if (meant) return paint(meant[1])
    if (name === '') return paint('free')
    const hue = rest[next]
    next += 1
    return hue ? paint(hue) : `hsl(${(next * 47) % 360} 45% 55%)`
  })
}
