// Numbers as people read them. The exact value belongs into the tooltip: exact().

// A minus, not a hyphen, which is half as wide and breaks at the end of a line.
const signed = (text: string): string => text.replace(/^-/, '\u2212')

const digits = (value: number, significant = 4): string => {
  if (value === 0) return '0'
  const whole = Math.max(1, Math.floor(Math.log10(Math.abs(value))) + 1)
  return signed(value.toFixed(Math.max(0, significant - whole)))
}

export function duration(ns: number | null): string {
  if (ns === null || Number.isNaN(ns)) return '–'
  const size = Math.abs(ns)
  if (size < 1e3) return `${signed(String(Math.round(ns)))} ns`
  if (size < 1e6) return `${digits(ns / 1e3)} µs`
  if (size < 1e9) return `${digits(ns / 1e6)} ms`
  return `${digits(ns / 1e9)} s`
}

// All digits, in the unit that duration() takes and in groups of three; groups of zeros at the end say nothing.
export function exactDuration(ns: number): string {
  const whole = String(Math.abs(Math.round(ns)))
  const groups = Math.min(3, Math.floor((whole.length - 1) / 3))
  const unit = ['ns', 'µs', 'ms', 's'][groups]
  const split = whole.length - 3 * groups
  const rest = (whole.slice(split).match(/\d{3}/g) ?? []).join('\u2009').replace(/(\u2009?000)+$/, '')
  return `${ns < 0 ? '\u2212' : ''}${count(Number(whole.slice(0, split)))}${rest && '.'}${rest} ${unit}`
}

export function bytes(value: number | null): string {
  if (value === null || Number.isNaN(value)) return '–'
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  let unit = 0
  while (Math.abs(value) >= 1024 && unit + 1 < units.length) {
    value /= 1024
    unit += 1
  }
  return `${unit === 0 ? signed(String(value)) : digits(value)} ${units[unit]}`
}

// Thin spaces between groups of three.
export function count(value: number | null): string {
  if (value === null || Number.isNaN(value)) return '–'
  if (!Number.isInteger(value)) return digits(value)
  return signed(String(value)).replace(/\B(?=(\d{3})+(?!\d))/g, '\u2009')
}

export function share(value: number | null): string {
  return value === null || Number.isNaN(value) ? '–' : `${signed((value * 100).toFixed(1))} %`
}

export function rate(value: number | null, unit: string): string {
  if (value === null || Number.isNaN(value)) return '–'
  const prefixes = ['', 'k', 'M', 'G', 'T', 'P']
  let prefix = 0
  while (Math.abs(value) >= 1000 && prefix + 1 < prefixes.length) {
    value /= 1000
    prefix += 1
  }
  return `${digits(value)} ${prefixes[prefix]}${unit}`
}

// By the unit that the server names.
export function byUnit(value: unknown, unit: string): string {
  if (value === null || value === undefined) return '–'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  const number = typeof value === 'number' ? value : Number(value)
  switch (unit) {
    case 'ns': return duration(number)
    case 'bytes': return bytes(number)
    case 'count': return count(number)
    case 'share': return share(number)
    case 'flops': return rate(number, 'FLOP')
    case 'flops_per_second': return rate(number, 'FLOP/s')
    case 'bytes_per_second': return rate(number, 'B/s')
    default: return typeof value === 'number' && !Number.isInteger(value) ? digits(value) : String(value)
  }
}

// At an axis, where numbers are round: zeros behind the point say nothing.
export function tick(value: number, unit: string): string {
  return value === 0 ? '0' : byUnit(value, unit).replace(/(\.\d*?)0+(?= )/, '$1').replace(/\.(?= )/, '')
}

// A time as the time since the run began; a run without slices has no beginning, and shows the clock.
export function moment(unixNs: string, originNs: string | undefined): string {
  if (originNs && originNs !== '0') return duration(Number(BigInt(unixNs) - BigInt(originNs)))
  const ns = BigInt(unixNs)
  return ns < 1_000_000_000_000_000_000n ? duration(Number(ns)) : new Date(Number(ns / 1_000_000n)).toISOString().slice(11, 23)
}

export function exact(value: unknown, unit: string): string {
  if (value === null || value === undefined) return ''
  const text = String(value)
  const name: Record<string, string> = {
    ns: 'ns', bytes: 'bytes', flops: 'FLOP', flops_per_second: 'FLOP/s', bytes_per_second: 'B/s', unix_ns: 'ns since 1970',
  }
  return name[unit] ? `${text} ${name[unit]}` : text
}

// Names come from traces: in a tooltip they are text, whatever they look like.
export function tip(...lines: string[]): string {
  const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
  return lines.filter((line) => line !== '').map((line) => line.replace(/[&<>"']/g, (letter) => escapes[letter] ?? '')).join('<br>')
}

// The middle of a long name goes: beginnings and ends of kernel names tell them apart.
export function shorten(name: string, most: number): string {
  if (name.length <= most) return name
  const head = Math.ceil((most - 1) * 0.6)
  return `${name.slice(0, head)}…${name.slice(name.length - (most - 1 - head))}`
}

// Server's sentences begin small; where one stands by itself it begins as sentences do. A name (notify_wait) stays.
export const capital = (text: string): string => text.replace(/^[a-z](?=[a-z]*[ ,:])/, (letter) => letter.toUpperCase())

export function age(ms: number, now = Date.now()): { unit: 'second' | 'minute' | 'hour' | 'day'; value: number } {
  const seconds = Math.max(0, Math.round((now - ms) / 1000))
  if (seconds < 60) return { unit: 'second', value: seconds }
  if (seconds < 3600) return { unit: 'minute', value: Math.round(seconds / 60) }
  if (seconds < 86400) return { unit: 'hour', value: Math.round(seconds / 3600) }
  return { unit: 'day', value: Math.round(seconds / 86400) }
}
