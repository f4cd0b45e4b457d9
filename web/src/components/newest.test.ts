import { effectScope } from 'vue'
import { expect, test } from 'vitest'

import { useNewest } from './newest'

test('a newer request, and leaving, end an older one', () => {
  const scope = effectScope()
  const newest = scope.run(() => useNewest())!
  const first = newest.begin()
  const second = newest.begin()
  expect([first.aborted, second.aborted]).toEqual([true, false])
  scope.stop()
  expect(second.aborted).toBe(true)
})
