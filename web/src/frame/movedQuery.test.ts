import { expect, test } from 'vitest'

import { movedQuery } from './movedQuery'

test('what was chosen stays, what names something of another store goes', () => {
  const stays = { rank: '0', step: '3', first: '2', last: '5', view: 'all', tab: 'host', table: 'memory', lanes: 'stream', 'find.kernels': 'nccl', 'filter.kernels': 'name~x', 'sort.kernels': '-count', 'columns.kernels': 'share' }
  const goes = { slice: '7', segment: '1_0_5_9_1_0_x', from: '0', to: '9', range: '2_4', marks: '3', pin: 't1', open: 't2', closed: 'g1', y: '300', at: '5', zoom: '1_2', row: 'kernels.abc', 'open.kernels': 'abc' }
  expect(movedQuery({ ...stays, ...goes })).toEqual(stays)
})
