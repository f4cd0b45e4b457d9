// Texts that should never be on a page.
import en from '../../../web/src/locale/en'

export function flatten(messages: object, prefix = ''): Record<string, string> {
  const all: Record<string, string> = {}
  for (const [key, value] of Object.entries(messages)) {
    if (typeof value === 'string') all[prefix + key] = value
    else Object.assign(all, flatten(value as object, `${prefix}${key}.`))
  }
  return all
}

const keys = new Set(Object.keys(flatten(en)))

// Values that were not there, and keys of texts instead of texts.
export function findTextProblems(text: string): string[] {
  const problems = text.match(/\bundefined\b|\bNaN\b|\[object \w+\]|\bInfinity\b|Invalid Date/g) ?? []
  const words = text.split(/\s+/).filter((word) => keys.has(word) && word.includes('.'))
  return [...problems, ...words]
}
