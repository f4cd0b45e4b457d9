import { expect, test } from 'vitest'

import { age, bytes, byUnit, capital, count, duration, exact, exactDuration, moment, share, shorten, tick, tip } from './format'

test('durations have four digits and the unit that fits', () => {
  expect(duration(0)).toBe('0 ns')
  expect(duration(999)).toBe('999 ns')
  expect(duration(1234)).toBe('1.234 µs')
  expect(duration(12_345_678)).toBe('12.35 ms')
  expect(duration(-2_000_000_000)).toBe('\u22122.000 s')
  expect(duration(null)).toBe('–')
})

test('exact times have every nanosecond', () => {
  expect([exactDuration(0), exactDuration(7), exactDuration(999)]).toEqual(['0 ns', '7 ns', '999 ns'])
  expect(exactDuration(1000)).toBe('1 µs')
  expect(exactDuration(1_500)).toBe('1.500 µs')
  expect(exactDuration(79_089_520)).toBe('79.089\u2009520 ms')
  expect(exactDuration(1_000_000_001)).toBe('1.000\u2009000\u2009001 s')
  expect(exactDuration(1_200_000_000)).toBe('1.200 s')
  expect(exactDuration(4_321_000_000_000)).toBe('4\u2009321 s')
  expect(exactDuration(-25_047)).toBe('\u221225.047 µs')
})

test('axes have round numbers', () => {
  expect([0, 120e6, 90e6, 1.2e6, 800e3, 12.25e6, 999].map((ns) => tick(ns, 'ns'))).toEqual(['0', '120 ms', '90 ms', '1.2 ms', '800 µs', '12.25 ms', '999 ns'])
  expect([tick(1536, 'bytes'), tick(0.5, 'share'), tick(1.5e10, 'bytes_per_second'), tick(2000, 'count')]).toEqual(['1.5 KiB', '50 %', '15 GB/s', '2\u2009000'])
})

test('sizes are binary, counts grouped, shares have a decimal', () => {
  expect(bytes(1536)).toBe('1.500 KiB')
  expect(count(1234567)).toBe('1\u2009234\u2009567')
  expect(share(0.3125)).toBe('31.3 %')
})

test('units of the server decide the form, the exact value stays', () => {
  expect(byUnit(1500, 'ns')).toBe('1.500 µs')
  expect(byUnit('9007199254740993', 'unix_ns')).toBe('9007199254740993')
  expect(exact(1500, 'ns')).toBe('1500 ns')
  expect(byUnit(null, 'ns')).toBe('–')
})

test('long names keep their beginning and their end', () => {
  expect(shorten('abcdefghij', 5)).toBe('abc…j')
  expect(shorten('abc', 5)).toBe('abc')
})

test('what is negative has a minus, not a hyphen', () => {
  expect(share(-0.011)).toBe('\u22121.1 %')
  expect([bytes(-5), bytes(-2048), count(-1234), byUnit(-3, 'ns')]).toEqual(['\u22125 B', '\u22122.000 KiB', '\u22121\u2009234', '\u22123 ns'])
})

test('sentences that stand by themselves begin with a capital, names do not', () => {
  expect(capital('no memory events: record with profile_memory=True')).toBe('No memory events: record with profile_memory=True')
  expect(capital('rank 0: why')).toBe('Rank 0: why')
  expect(capital('notify_wait names it')).toBe('notify_wait names it')
})

test('ages', () => {
  expect(age(0, 30_000)).toEqual({ unit: 'second', value: 30 })
  expect(age(0, 7_200_000)).toEqual({ unit: 'hour', value: 2 })
})

test('moments count from the beginning of the run, or are the clock', () => {
  expect(moment('1790000000000001500', '1790000000000000000')).toBe('1.500 µs')
  expect(moment('1790000000123000000', '')).toBe('14:13:20.123')
  expect(moment('2500', '0')).toBe('2.500 µs')
})

test('tooltips show names of traces as they are', () => {
  expect(tip('<img src=x onerror=alert(1)>', '', 'a & "b"')).toBe('&lt;img src=x onerror=alert(1)&gt;<br>a &amp; &quot;b&quot;')
})
