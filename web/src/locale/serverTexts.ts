// Texts that come from the server in English, in the chosen language: names of columns, findings,
// conditions of the quality report. What has no translation stays as the server wrote it.
import type { Cell } from '../api'
import { byUnit } from '../format'
import { i18n } from '.'
import zh from './serverTexts.zh'

const chinese = () => i18n.global.locale.value === 'zh'
const plain = (column: string) => column.replace(/_(ns|bytes)$/, '').replace(/_/g, ' ')

export function columnTitle(column: string): string {
  return (chinese() && zh.columns[column]) || plain(column)
}

export function qualityMeaning(code: string, english: string): string {
  return (chinese() && zh.quality[code]) || english
}

export function evidenceName(name: string): string {
  return (chinese() && zh.evidence[name]) || name.replace(/_/g, ' ')
}

// "{lost:ns} of {rank}" with the values inserted by their units; null when one is missing.
export function fill(template: string, values: Record<string, unknown>): string | null {
  let complete = true
  const text = template.replace(/\{(\w+)(?::(\w+))?\}/g, (_, name: string, unit: string | undefined) => {
    const value = values[name]
    if (value === undefined || value === null) complete = false
    return byUnit(value, unit ?? '')
  })
  return complete ? text : null
}

export interface FindingTexts {
  title: string
  detail: string
  remedy: string
}

// A sentence whose numbers the server did not send stays English.
export function findingTexts(row: Record<string, Cell>): FindingTexts {
  const english = { title: String(row.title ?? ''), detail: String(row.detail ?? ''), remedy: String(row.remedy ?? '') }
  const texts = chinese() ? zh.advice[String(row.rule)] : undefined
  if (!texts) return english
  let evidence: Record<string, unknown> = {}
  try {
    evidence = JSON.parse(String(row.evidence ?? '{}')) as Record<string, unknown>
  } catch {
    // The texts without numbers are still right.
  }
  const values = { rank: row.rank, step: row.step, gain: row.gain_ns, ...evidence }
  return {
    title: fill(texts.title, values) ?? english.title,
    detail: fill(texts.detail, values) ?? english.detail,
    remedy: texts.remedy,
  }
}
