import { expect, test } from 'vitest'
import { effectScope, nextTick, reactive, ref } from 'vue'

import type { RunInfo } from '../api'
import { useKnownChoice } from './useKnownChoice'

const settle = async () => {
  for (let i = 0; i < 5; i += 1) await nextTick()
}

test('a rank and a step that are not there are dropped and told', async () => {
  const query = reactive<Record<string, string>>({ rank: '99', step: '1000' })
  const info = ref({ ranks: [{ rank: 0 }, { rank: 1 }] } as unknown as RunInfo)
  const scope = effectScope()
  const missing = scope.run(() => useKnownChoice({
    run: ref('a'), info, asked: (name) => query[name] ?? '', hasStep: (_, step) => Promise.resolve(step < 10),
    drop: (names) => Object.keys(names).forEach((name) => delete query[name]),
  }))!
  await settle()
  expect(query).toEqual({})
  expect(missing.value.map((one) => `${one.what} ${one.value}`).sort()).toEqual(['rank 99', 'step 1000'])
  query.rank = '1' // somebody chooses one that is there
  await settle()
  expect(query).toEqual({ rank: '1' })
  expect(missing.value.map((one) => one.what)).toEqual(['step'])
  query.step = 'x'
  await settle()
  expect(missing.value.map((one) => one.value)).toEqual(['x'])
  scope.stop()
})
