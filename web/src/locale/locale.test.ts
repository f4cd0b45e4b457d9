import { expect, test } from 'vitest'

import en from './en'
import zh from './zh'

function keys(value: object, prefix = ''): string[] {
  return Object.entries(value).flatMap(([name, inner]) =>
    typeof inner === 'object' ? keys(inner as object, `${prefix}${name}.`) : [`${prefix}${name}`])
}
const placeholders = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map((match) => match[1]).sort()
const text = (value: object, path: string) => path.split('.').reduce<unknown>((inner, name) => (inner as Record<string, unknown>)[name], value) as string

test('both languages have the same texts', () => {
  expect(keys(zh).sort()).toEqual(keys(en).sort())
})

// What is empty tells how to fill it.
test('reasons of empty panels name what to record or set', () => {
  const options = /\w+=True|stepscope\.pipeline|\bstep\(\)|STEPSCOPE_PEAKS/
  for (const key of ['data.noSizes', 'data.noWaits', 'data.noSamples', 'operators.noHistory', 'memory.noBlocks', 'calculation.noRoof']) for (const language of [en, zh]) expect(text(language, key), key).toMatch(options)
})

test('both languages insert the same values', () => {
  for (const key of keys(en)) expect(placeholders(text(zh, key)), key).toEqual(placeholders(text(en, key)))
})
