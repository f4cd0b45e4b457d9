// Texts that come from the server in English, in the chosen language: names of columns, findings,
// conditions of the quality report. What has no translation stays as the server wrote it.
import type { Cell } from '../api'
import { byUnit } from '../format'
import { chinese } from '.'

// A table may have the number of a step beside its length.
const titles: Record<string, string> = { step_ns: 'step length' }
const plain = (column: string) => titles[column] ?? column.replace(/_(ns|bytes)$/, '').replace(/_/g, ' ')

export function columnTitle(column: string): string {
  return chinese()?.server.columns[column] ?? plain(column)
}

// What a column means, of a result table or of a slice.
export function columnDoc(english: string): string {
  return chinese()?.docs.fields[english] ?? english
}

export function tableDoc(table: string, english: string): string {
  return chinese()?.docs.tables[table] ?? english
}

// A value by its unit; yes and no in the chosen language.
export function cellText(value: unknown, unit: string): string {
  if (typeof value === 'boolean' && chinese()) return value ? '是' : '否'
  return byUnit(value, unit)
}

export function qualityMeaning(code: string, english: string): string {
  return chinese()?.server.quality[code] ?? english
}

export function evidenceName(name: string): string {
  return chinese()?.server.evidence[name] ?? name.replace(/_/g, ' ')
}

function translated(text: string): string | null {
  for (const [pattern, chineseText] of chinese()?.sentences ?? []) if (pattern.test(text)) return text.replace(pattern, chineseText)
  const named = /^(\S+): (.+)$/.exec(text)
  const rest = named?.[2] ? translated(named[2]) : null
  return rest === null ? null : `${named?.[1]}：${rest}`
}

// "cannot import: FILE: why (what to do)", as the server says why a run failed.
function failure(english: string): string | null {
  const [, file, why = '', remedy = ''] = /^cannot import: (.+?): (.+?)(?: \(([^()]+)\))?$/s.exec(english) ?? []
  const said = translated(why)
  if (file === undefined || said === null) return null
  const todo = remedy && translated(remedy)
  return todo === null ? null : `无法导入：${file}：${said}${todo && `（${todo}）`}`
}

// Why a table is empty, what to do about a stage: one sentence or several, of a rank or a stage.
export function serverSentence(english: string): string {
  if (!chinese()) return english
  const failed = failure(english)
  if (failed) return failed
  const rank = /^rank (\d+)(?: window (\d+))?: /.exec(english)
  if (rank) return `卡 ${rank[1]}${rank[2] ? ` 窗口 ${rank[2]}` : ''}：${serverSentence(english.slice(rank[0].length))}`
  for (const [between, chineseBetween] of [['; ', '；'], [', ', '，']] as const) {
    const parts = english.split(between).map(translated)
    if (parts.every((part) => part !== null)) return parts.join(chineseBetween)
  }
  return translated(english) ?? english
}

// Reasons of a table, those of several ranks and windows together.
export function reasonTexts(reasons: string[]): string[] {
  const places = new Map<string, string[]>()
  for (const reason of reasons) {
    const [, rank, window, rest] = /^rank (\d+)(?: window (\d+))?: (.*)$/s.exec(reason) ?? [null, undefined, undefined, reason]
    const place = rank === undefined ? [] : chinese() ? [`卡 ${rank}${window ? ` 窗口 ${window}` : ''}`] : [`rank ${rank}${window ? ` window ${window}` : ''}`]
    places.set(rest ?? reason, [...(places.get(rest ?? reason) ?? []), ...place])
  }
  return [...places].map(([sentence, all]) => {
    if (!all.length) return serverSentence(sentence)
    const named = all.slice(0, 3).join(chinese() ? '、' : ', ')
    const more = all.length > 3 ? (chinese() ? `等 ${all.length} 处` : ` and ${all.length - 3} more`) : ''
    return `${named}${more}${chinese() ? '：' : ': '}${serverSentence(sentence)}`
  })
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
  const texts = chinese()?.server.advice[String(row.rule)]
  if (!texts) return english
  let evidence: Record<string, unknown> = {}
  try {
    evidence = JSON.parse(String(row.evidence ?? '{}')) as Record<string, unknown>
  } catch {
    // The texts without numbers are still right.
  }
  // Names of stages and of code are only in the English sentence.
  const stage = /held up by (.+)$/.exec(english.title)?.[1]
  const code = /the host is in (.+)$/.exec(english.title)?.[1]
  const values = { rank: row.rank, step: row.step, gain: row.gain_ns, stage, code, ...evidence }
  return {
    title: fill(texts.title, values) ?? english.title,
    detail: fill(texts.detail, values) ?? english.detail,
    remedy: texts.remedy,
  }
}
