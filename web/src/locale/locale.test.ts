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

test('both languages insert the same values', () => {
  for (const key of keys(en)) expect(placeholders(text(zh, key)), key).toEqual(placeholders(text(en, key)))
})
