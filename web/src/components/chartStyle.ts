// What all charts share, from the colours of the present theme.
import { colour } from '../preferences'

export function baseOption() {
  const text = colour('text')
  const muted = colour('muted')
  return {
    textStyle: { color: text, fontFamily: 'inherit', fontSize: 12 },
    grid: { left: 64, right: 16, top: 32, bottom: 40, containLabel: false },
    tooltip: {
      trigger: 'axis', confine: true, backgroundColor: colour('card'), borderColor: colour('border'),
      textStyle: { color: text, fontSize: 12 },
    },
    legend: { textStyle: { color: muted, fontSize: 12 }, top: 0, left: 0, itemWidth: 10, itemHeight: 10 },
  }
}

export function axis(name: string, extra: object = {}) {
  return {
    name, nameLocation: 'middle', nameGap: 28, nameTextStyle: { color: colour('muted') },
    axisLine: { lineStyle: { color: colour('border') } }, axisTick: { show: false },
    axisLabel: { color: colour('muted'), hideOverlap: true }, splitLine: { lineStyle: { color: colour('border') } },
    ...extra,
  }
}
