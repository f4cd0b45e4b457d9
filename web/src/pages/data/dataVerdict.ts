// What the pipeline table says about data preparation, as a sentence: a key of the texts with its values.
import type { Cell } from '../../api'
import { duration, share } from '../../format'

export interface Verdict {
  key: string
  values: Record<string, string>
  tone: 'good' | 'bad'
}

export function dataVerdict(row: Record<string, Cell>): Verdict {
  const stage = String(row.slow_stage ?? '')
  const waits = row.wait_share !== null && row.wait_share !== undefined
  const values = { share: share(Number(row.wait_share ?? 0)), time: duration(Number(row.exposed_wait_ns ?? 0)), stage: String(row.bottleneck ?? '').replaceAll('/', ', ') }
  if (stage === 'process') return { key: `data.is.process${values.stage ? 'At' : ''}${waits ? '' : 'Unmeasured'}`, values, tone: 'bad' }
  if (stage === 'transfer' || stage === 'fetch') return { key: `data.is.${stage}`, values, tone: 'bad' }
  return { key: waits ? 'data.is.keepsUp' : 'data.is.keepsUpUnmeasured', values, tone: 'good' }
}
