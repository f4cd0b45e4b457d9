// Every text that the server may send has its translation: the texts are taken from the program's sources, so that a new
// one without translation fails here.
import { expect, test, vi } from 'vitest'

import schema from '../../../docs/schema.md?raw'
import storeSchema from '../../../src/store/schema.cc?raw'
import { cppTexts } from './cppTexts.testing'
import * as docs from './docs.zh'
import zh from './serverTexts.zh'

vi.stubGlobal('localStorage', { getItem: () => 'zh', setItem: () => undefined })
const { serverSentence } = await import('./serverTexts')
const { isShown, typedParts } = await import('../timeline/sliceFields')
const { setLanguage } = await import('.')
vi.stubGlobal('document', { documentElement: {} })
await setLanguage('zh')

const root = '../../../src/analyses/'
const files = import.meta.glob('../../../src/analyses/**/*.{cc,h}', { query: '?raw', import: 'default', eager: true })
const sources = Object.entries(files as Record<string, string>).map(([path, text]) => ({ path: path.slice(root.length), text })).filter(({ path }) => !path.endsWith('_test.cc'))
const source = (path: string): string => sources.find((one) => one.path === path)?.text ?? ''
const found = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map((match) => match[1] ?? '')
const without = (names: string[], translations: Record<string, unknown>): string[] => [...new Set(names)].filter((name) => !translations[name])

test('texts of C++ are put together from their parts', () => {
  expect(cppTexts('say("one " // no\n  "two"); why = is ? "a " + name(1, "x") + " b" : "c \\"d\\"" + last; x = y + " end";')).toEqual(['one two', 'a X b', 'c "d"X', 'X end'])
})

// Reasons of empty tables, advice about stages and processors.
test('every sentence', () => {
  const others = [
    /^advice\//, // findings, below
    /^result_tables\.cc$/, // docs of tables, below
    /^quality\/quality\.cc$/, // conditions, below
  ]
  const known = new Set([
    'and X more', 'group of two', 'group of two, below 1 MiB', '(before the recording)', 'transfer to the device', 'data processing', // values of cells
    // pieces of the critical path, and names of calls
    'before the first work of the stream', 'next on the stream', 'waits for an event of another stream', 'the host sees the end of device work', 'from thread to thread', 'between operators', 'Stream Wait Event', 'garbage collect',
    // devices, series, lanes, types
    'A100 80GB PCIe', 'RTX 6000 Ada', 'RTX 3090 Ti', 'RTX 2080 Ti', 'blocks per SM', 'signed char', 'unsigned char', 'long int', 'long long', 'machine cpu user %', 'machine cpu system %', 'machine cpu iowait %', 'machine cpu idle %', 'machine processors', 'machine runnable processes', 'machine context switches/s', 'process cpu %', 'thread cpu % ', 'worker cpu % ',
    'Op Overlap Analyse', 'Host CPU Op', 'Scope Name X', 'AI CPU Op', 'Merged Computation Op', 'Pure Communication Op', 'Merged Communication Op',
    // inserted into the sentences that the recording marks no steps, and that no peak rate is known
    'mark steps (profiler.step() in PyTorch and MindSpore, or a schedule)', 'no thread or stream does most of the work', 'there are no operators and no kernels', 'too few operators to find a repetition', 'no sequence of operators repeats', 'this device',
    // errors of a question about the critical path, and of options
    'no such rank', 'the table ranks has those of the run', 'cannot find a critical path', 'no steps are known', 'the table steps says why', 'no such step', 'the table steps has those of the run', 'cannot say what a changed step takes', 'no device work of the step has this in its name or is of this kind', 'the table kernels has both; work of the host is changed as a whole, by host',
    "give a part of a kernel's name or its kind and a factor, as gemm*0.5, or a kind of the critical path (X), as communication*0", 'there is no name', 'the factor is not a number from 0 to 1000', 'there is no factor', 'what follows the star is no number',
    'cannot read peak rates', 'write names and rates, as bfloat16=989e12,memory=4.8e12; names: float64 float32 float32_matrix tf32 float16 bfloat16 float8 int8 memory', 'there is no =', 'no such name', 'the rate is no positive number',
  ])
  // Of two words where both are small; those with capitals, signs or values are names of columns in files.
  const isSentence = (text: string) => text.trim().split(/\s+/).length > 2 || /^[a-z]+ [a-z_]+$/.test(text)
  const isChinese = (text: string) => /[\u4e00-\u9fff]/.test(text)
  const texts = sources.filter(({ path }) => path.endsWith('.cc') && !others.some((other) => other.test(path))).flatMap(({ text }) => cppTexts(text)).filter(isSentence)
  expect(texts.length).toBeGreaterThan(50)
  // Some come with a number in front.
  expect(texts.filter((text) => !known.has(text) && !isChinese(serverSentence(text)) && !isChinese(serverSentence(`3 ${text}`)))).toEqual([])
  expect([...known].filter((text) => !texts.includes(text))).toEqual([])
})

test('every rule, and every number that it gives', () => {
  const rules = found(source('advice/rules.cc'), /^ {4}\{"([a-z_]+)",/gm)
  expect(rules.length).toBeGreaterThan(20)
  expect(without(rules, zh.advice)).toEqual([])
  expect(Object.keys(zh.advice).filter((rule) => !rules.includes(rule))).toEqual([])
  const numbers = sources.filter(({ path }) => /^advice\/\w+_checks\.cc$/.test(path)).flatMap(({ text }) => found(text, /\{\s*"([a-z_]+)",\s*Unit::k/g))
  expect(numbers.length).toBeGreaterThan(20)
  expect(without(numbers, zh.evidence)).toEqual([])
  const units = ['ns', 'bytes', 'count', 'share', 'bytes_per_second', undefined]
  for (const [rule, { title, detail }] of Object.entries(zh.advice)) {
    for (const [, name, unit] of `${title}${detail}`.matchAll(/\{(\w+)(?::(\w+))?\}/g)) {
      expect([...numbers, 'rank', 'step', 'gain', 'stage', 'code'], rule).toContain(name)
      expect(units, rule).toContain(unit)
    }
  }
})

test('every condition of the quality report', () => {
  const codes = [...found(schema.slice(schema.indexOf('## Conditions')), /^\| `([a-z_]+)` \|/gm), ...found(source('quality/quality.h'), /std::string_view k\w+ = "([a-z_]+)"/g)]
  expect(codes.length).toBeGreaterThan(40)
  expect(without(codes, zh.quality)).toEqual([])
})

test('every table', () => {
  const names = found(source('result_tables.cc'), />\(\s*"([a-z_]+)",\s*"[A-Z]/g)
  expect(names.length).toBeGreaterThan(40)
  expect(without(names, docs.tables)).toEqual([])
})

test('every column', () => {
  const names = sources.filter(({ path }) => !/^advice\/.*\.cc$/.test(path)).flatMap(({ text }) => found(text, /"([a-z0-9_]+)",\s*Unit::k/g))
  expect(names.length).toBeGreaterThan(200)
  expect(without(names, zh.columns)).toEqual([])
})

// Parts of a text in C++ that stand beside each other are one.
const parts = '((?:"(?:[^"\\\\]|\\\\.)*"\\s*)+)'
const joined = (text: string): string => (text.match(/"(?:[^"\\]|\\.)*"/g) ?? []).map((part) => JSON.parse(part) as string).join('')

const code = sources.map(({ path, text }) => ({ path, text: text.replace(/^\s*\/\/.*$/gm, '') }))
const tableDocs = code.flatMap(({ text }) => found(text, new RegExp(`field<[^>]*>\\(\\s*"\\w+",\\s*Unit::k\\w+,\\s*${parts}\\)`, 'g'))).map(joined)

const slicePart = { kernel: 'Kernels', op: 'Ops', communication: 'Communications' }
const sliceColumns = typedParts.flatMap((part) => {
  const start = storeSchema.indexOf(`constexpr Column k${slicePart[part]}Columns[]`)
  const columns = storeSchema.slice(start, storeSchema.indexOf('};', start)).matchAll(new RegExp(`\\{"(\\w+)",[^"]*${parts}\\}`, 'g'))
  return [...columns].map(([, name, doc]) => ({ name: name ?? '', doc: joined(doc ?? '') })).filter(({ name }) => isShown(part, name))
})

test('every column of a result table', () => {
  // Every column has been understood.
  expect(tableDocs.length).toBe(code.flatMap(({ path, text }) => (/^advice\/.*\.cc$/.test(path) ? [] : found(text, /"([a-z0-9_]+)",\s*Unit::k/g))).length)
  expect(new Set(tableDocs).size).toBeGreaterThan(500)
  expect(without(tableDocs, docs.fields)).toEqual([])
})

test('every column of a slice', () => {
  expect(sliceColumns.length).toBeGreaterThan(35)
  expect(without(sliceColumns.map(({ name }) => name), zh.columns)).toEqual([])
  expect(without(sliceColumns.map(({ doc }) => doc), docs.fields)).toEqual([])
})

test('no translation of what no column says any more', () => {
  const said = new Set([...tableDocs, ...sliceColumns.map(({ doc }) => doc)])
  expect(Object.keys(docs.fields).filter((doc) => !said.has(doc))).toEqual([])
})
