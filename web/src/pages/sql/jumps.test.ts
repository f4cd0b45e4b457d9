import { expect, test } from 'vitest'

import { idsAreSlices, jumpsOf } from './jumps'

test('`id` is a slice only where every row is one', () => {
  for (const sql of ['select id, dur from slices order by dur', 'SELECT k.id FROM kernels k JOIN slices s ON s.id = k.id', 'select id from ops where id in (select id from communications)', "select id from slices where name = 'from steps'"]) expect(idsAreSlices(sql), sql).toBe(true)
  for (const sql of ['select id from tracks', 'select id, name from source."op_info"', 'select 3 as id from slices', 'select t.id from slices s join tracks t on t.id = s.track', 'select b.id from slices a, tracks b', 'select id from (select 1 as id)', 'with a as (select id from tracks) select id from a', 'select 1', 'select id from slices -- from\njoin cpu using (ts)']) expect(idsAreSlices(sql), sql).toBe(false)
})

test('rows lead to their slice, else to their time, else nowhere', () => {
  const own = jumpsOf('select id, rank from kernels', ['id', 'rank'])
  expect(own.possible).toBe(true)
  expect(own.placeOf([7, 2])).toEqual({ slice: 7, rank: 2 })
  const other = jumpsOf('select id, rank, ts, dur from events', ['id', 'rank', 'ts', 'dur'])
  expect(other.placeOf([7, 2, '1783700000000000123', 50])).toEqual({ rank: 2, step: null, start: '1783700000000000123', end: '1783700000000000173' })
  expect(jumpsOf('select slice from steps', ['slice']).placeOf([9])).toEqual({ slice: 9, rank: null })
  const none = jumpsOf('select id from tracks', ['id'])
  expect([none.possible, none.placeOf([7])]).toEqual([false, null])
  expect(jumpsOf('select avg(ts) as ts from slices', ['ts']).placeOf([1.5])).toBeNull()
  expect(jumpsOf('select slice, ts from memory', ['slice', 'ts']).placeOf([null, 20])).toEqual({ rank: null, step: null, start: '20', end: '1020' })
})
