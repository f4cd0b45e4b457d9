import { afterEach, beforeEach, expect, test, vi } from 'vitest'

vi.stubGlobal('localStorage', { getItem: () => 'en', setItem: () => undefined })
const { copyText } = await import('./copy')

const selected: string[] = []
const execCommand = vi.fn()
beforeEach(() => {
  selected.length = 0
  execCommand.mockReset()
  const box = { value: '', style: {}, select: () => selected.push(box.value), remove: () => undefined }
  vi.stubGlobal('document', { activeElement: null, body: { append: () => undefined }, createElement: () => box, execCommand })
})
afterEach(() => vi.unstubAllGlobals())

test('the clipboard takes the text', async () => {
  const writeText = vi.fn().mockResolvedValue(undefined)
  vi.stubGlobal('navigator', { clipboard: { writeText } })
  expect(await copyText('a name')).toBe(true)
  expect(writeText).toHaveBeenCalledWith('a name')
  expect(execCommand).not.toHaveBeenCalled()
})

test.each([[true], [false]])('without a clipboard the selection is copied: %s', async (works) => {
  vi.stubGlobal('navigator', {})
  execCommand.mockReturnValue(works)
  expect(await copyText('a name')).toBe(works)
  expect(selected).toEqual(['a name'])
})

test('a clipboard that refuses is no success by itself', async () => {
  vi.stubGlobal('navigator', { clipboard: { writeText: () => Promise.reject(new Error('denied')) } })
  execCommand.mockReturnValue(false)
  expect(await copyText('a name')).toBe(false)
})
