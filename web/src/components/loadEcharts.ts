// ECharts is three quarters of what a page with charts downloads: it comes beside the page, not behind its data.
type Loaded = typeof import('./echarts')
let loading: Promise<Loaded> | undefined

export function loadEcharts(): Promise<Loaded> {
  loading ??= import('./echarts').catch((problem: unknown) => {
    loading = undefined // the next chart tries again
    throw problem
  })
  return loading
}
