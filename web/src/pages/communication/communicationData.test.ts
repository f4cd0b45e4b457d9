import { expect, test } from 'vitest'

import { linkKinds, matrixOf, splitOf, sumSplits } from './communicationData'

test('recorded transfers say what waits; else the other ranks do', () => {
  expect(splitOf({ elapse_ns: 100, moving_ns: 20, blocked_ns: 70, peer_wait_ns: 5 })).toEqual({ moving: 20, waiting: 70, other: 10 })
  expect(splitOf({ elapse_ns: 100, moving_ns: 0, blocked_ns: 0, peer_wait_ns: 60 })).toEqual({ moving: 40, waiting: 60, other: 0 })
  expect(splitOf({ elapse_ns: 100, moving_ns: null, blocked_ns: null, peer_wait_ns: null })).toEqual({ moving: 0, waiting: 0, other: 100 })
  expect(splitOf({ elapse_ns: 0 })).toBeNull()
  expect(sumSplits([{ elapse_ns: 10, peer_wait_ns: 4 }, { elapse_ns: 10, peer_wait_ns: 1 }])).toEqual({ moving: 15, waiting: 5, other: 0 })
})

const links = [
  { src_rank: 0, dst_rank: 0, link: 'ON_CHIP', bytes: 1, time_ns: 1 },
  { src_rank: 0, dst_rank: 5, link: 'HCCS', bytes: 100, time_ns: 10 },
  { src_rank: 0, dst_rank: 5, link: 'HCCS', bytes: 100, time_ns: 30 },
  { src_rank: 5, dst_rank: 0, link: 'HCCS', bytes: 50, time_ns: 50 },
]

test('a pair with several transports is one row of all of them', () => {
  const rows = [
    { src_rank: 0, dst_rank: 1, link: 'HCCS', transport: 'SDMA', bytes: 100, time_ns: 10, packets: 1, slow: false },
    { src_rank: 0, dst_rank: 1, link: 'HCCS', transport: 'RDMA', bytes: 50, time_ns: 20, packets: 2, slow: true },
  ]
  expect(matrixOf(rows, 'HCCS', 'bytes').cells[0]?.row).toMatchObject({ transport: 'SDMA + RDMA', bytes: 150, time_ns: 30, packets: 3, bandwidth: 5e9, slow: true })
})

test('a matrix has one cell for a pair', () => {
  expect(linkKinds(links)).toEqual(['HCCS', 'ON_CHIP'])
  const matrix = matrixOf(links, 'HCCS', 'bandwidth')
  expect([matrix.sources, matrix.targets]).toEqual([[0, 5], [0, 5]])
  expect(matrix.cells.map((cell) => [cell.y, cell.x, cell.value])).toEqual([[0, 1, 5e9], [1, 0, 1e9]])
})
