// The parts of ECharts that the pages use, one by one: the whole library is three times as large.
import { BarChart, HeatmapChart, LineChart, PieChart, SankeyChart, ScatterChart } from 'echarts/charts'
import { DataZoomComponent, GridComponent, LegendComponent, MarkLineComponent, TooltipComponent, VisualMapComponent } from 'echarts/components'
import * as core from 'echarts/core'
import type { EChartsCoreOption } from 'echarts/core'
import { LabelLayout } from 'echarts/features'
import { CanvasRenderer } from 'echarts/renderers'

core.use([
  BarChart, HeatmapChart, LineChart, PieChart, SankeyChart, ScatterChart, DataZoomComponent, GridComponent, LegendComponent,
  MarkLineComponent, TooltipComponent, VisualMapComponent, LabelLayout, CanvasRenderer,
])

export const echarts = core
export type Echarts = typeof core
export type ChartOption = EChartsCoreOption
