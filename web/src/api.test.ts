import { afterEach, expect, test, vi } from 'vitest'

vi.mock('./early', () => ({ apiRoot: 'http://here/api/v1/', earlyAnswer: () => undefined }))
vi.stubGlobal('localStorage', { getItem: () => 'en', setItem: () => undefined })
const reply = vi.fn()
vi.stubGlobal('fetch', reply)
const { api, ApiError, whenRunChanged } = await import('./api')

const refuse = (status: number, code: string) =>
  reply.mockImplementation(() => Promise.resolve(new Response(JSON.stringify({ error: { code, message: 'no', remedy: 'ask for b' } }), { status })))
const changed = vi.fn()
const unheard = whenRunChanged(changed)
afterEach(() => changed.mockReset())

test('an answer that the run is part of another one is told, and is an error', async () => {
  refuse(409, 'changed')
  await expect(api.analysis('a', 'steps')).rejects.toMatchObject({ code: 'changed', remedy: 'ask for b' })
  expect(changed).toHaveBeenCalledTimes(1)
  unheard()
  await expect(api.analysis('a', 'steps')).rejects.toBeInstanceOf(ApiError)
  expect(changed).toHaveBeenCalledTimes(1)
})

test('other refusals are not', async () => {
  whenRunChanged(changed)
  for (const [status, code] of [[409, 'busy'], [503, 'changed'], [404, 'not_found']] as const) {
    refuse(status, code)
    await expect(api.analysis('a', 'steps')).rejects.toMatchObject({ code })
  }
  refuse(409, 'changed') // of steps that were asked for before
  await expect(api.capture({ next: 3 })).rejects.toMatchObject({ code: 'changed' })
  expect(changed).not.toHaveBeenCalled()
})
