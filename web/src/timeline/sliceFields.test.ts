import { expect, test, vi } from 'vitest'

import type { SliceDetails } from '../api'

vi.stubGlobal('localStorage', { getItem: () => 'en', setItem: () => undefined })
const { setLanguage } = await import('../locale')
const { typedFields } = await import('./sliceFields')
vi.stubGlobal('document', { documentElement: {} })

const details = {
  kernel: { id: '7', op: '3', device: '0', stream: null, wait: '1500', shared_memory: '2048', occupancy: '61', grid: '' },
  op: null,
  communication: { op: 'all_reduce', bandwidth: 12.5, transit: '2000000' },
  docs: { kernel: { device: 'device number', wait: 'gap', shared_memory: 'shared memory, bytes', occupancy: 'percent' }, communication: { op: 'all_reduce ...', bandwidth: 'GB/s', transit: 'moving' } },
} as unknown as SliceDetails

test('values with their units, exact ones and meanings; nothing that is empty or a number of a row', () => {
  expect(typedFields(details, 'kernel')).toEqual([
    { title: 'device', doc: 'device number', value: '0' },
    { title: 'wait', doc: 'gap', value: '1.500 µs', exact: '1500 ns' },
    { title: 'shared memory', doc: 'shared memory, bytes', value: '2.000 KiB', exact: '2048 B' },
    { title: 'occupancy', doc: 'percent', value: '61 %' },
  ])
  expect(typedFields(details, 'op')).toEqual([])
})

test('the name of a collective is no number of a row', () => {
  expect(typedFields(details, 'communication').map((one) => [one.title, one.value])).toEqual([['op', 'all_reduce'], ['bandwidth', '12.5 GB/s'], ['transit', '2 ms']])
})

test('meanings in the chosen language', async () => {
  await setLanguage('zh')
  expect(typedFields(details, 'kernel').map((one) => one.doc)).toEqual(['设备编号', 'gap', '共享内存（字节）', 'percent'])
  await setLanguage('en')
})
