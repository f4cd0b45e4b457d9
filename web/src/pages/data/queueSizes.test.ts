import { expect, test } from 'vitest'

import { queueSizes } from './queueSizes'

test('sizes are those when a batch was taken, in the order of the steps', () => {
  const rows = [
    { stage: 'prepare', batch: 1, step: null, size: 4, fetch_ns: 5 },
    { stage: 'prepare', batch: 9, step: null, size: 0, fetch_ns: null },
    { stage: 'prepare', batch: 3, step: 2, size: 3, fetch_ns: 5 },
    { stage: 'prepare', batch: 7, step: 1, size: 1, fetch_ns: null },
    { stage: 'prepare', batch: 2, step: 1, size: 4, fetch_ns: 5 },
  ]
  expect(queueSizes(rows)).toEqual({ along: 'step', queues: [{ name: 'prepare', points: [[1, 4], [2, 3]] }] })
})

test('without steps batches are counted; without takes every size is shown', () => {
  const rows = [{ stage: 'a', batch: 2, step: null, size: 1 }, { stage: 'a', batch: 1, step: null, size: 2 }, { stage: 'b', batch: 1, step: null, size: null }]
  expect(queueSizes(rows)).toEqual({ along: 'batch', queues: [{ name: 'a', points: [[1, 2], [2, 1]] }] })
})
