import { beforeAll, expect, test, vi } from 'vitest'

vi.stubGlobal('localStorage', { getItem: () => 'zh', setItem: () => undefined })
const { columnDoc, columnTitle, fill, findingTexts, reasonTexts, serverSentence } = await import('./serverTexts')
const { language, setLanguage } = await import('.')
vi.stubGlobal('document', { documentElement: {} })

beforeAll(() => setLanguage('zh'))

test('values are inserted by their units', () => {
  expect(fill('{a:ns} {b:share} {rank}', { a: 1500, b: 0.5, rank: 3 })).toBe('1.500 µs 50.0 % 3')
  expect(fill('{a:ns}', {})).toBeNull()
})

test('a finding is told in Chinese with its numbers', () => {
  const texts = findingTexts({ rule: 'launch_bound', title: 'Launching', detail: 'English', remedy: 'Launch less', rank: 0, evidence: '{"idle":2000000,"kernels":812,"mean_kernel":12000,"share":0.31}' })
  expect(texts.title).toBe('下发跟不上：核函数平均只有 12.00 µs')
  expect(texts.detail).toContain('2.000 ms（31.0 %）')
})

test('what the server did not say, and unknown rules, stay English', () => {
  expect(findingTexts({ rule: 'slow_link', title: 'The link', detail: 'd', remedy: 'r', evidence: '{}' }).title).toBe('The link')
  expect(findingTexts({ rule: 'new_rule', title: 'New', detail: 'd', remedy: 'r', evidence: 'broken' })).toEqual({ title: 'New', detail: 'd', remedy: 'r' })
})

test('sentences, of a rank, of stages, several at once', () => {
  expect(serverSentence('no memory events: record with profile_memory=True')).toBe('没有内存事件：以 profile_memory=True 记录')
  expect(serverSentence('rank 3: no steps are known; see steps')).toBe('卡 3：不知道训练步')
  expect(serverSentence('MapOp_1: raise num_parallel_workers; if it runs Python code, make that cheaper')).toBe('MapOp_1：增大 num_parallel_workers；若运行 Python 代码，请使其更便宜')
  expect(serverSentence('no peak rate is known for "X9": give it to get utilisation and MFU')).toContain('"X9"')
  expect(serverSentence('late for communication, longer steps')).toBe('通信时晚到，步更长')
  expect(serverSentence('something new')).toBe('something new')
})

test('a reason of several ranks is told once', () => {
  const reasons = ['rank 0: no steps are known; see steps', 'rank 0 window 1: no steps are known; see steps', 'no memory events: x']
  expect(reasonTexts(reasons)).toEqual(['卡 0、卡 0 窗口 1：不知道训练步', '没有内存事件：以 profile_memory=True 记录'])
  language.value = 'en'
  expect(reasonTexts([1, 2, 3, 4, 5].map((rank) => `rank ${rank}: why`))).toEqual(['rank 1, rank 2, rank 3 and 2 more: why'])
  language.value = 'zh'
})

test('why a run failed is told in Chinese, with its file', () => {
  expect(serverSentence('cannot import: /runs/a b.json: it ends before the first complete event (record again; the profiler probably stopped before it had written anything)')).toBe('无法导入：/runs/a b.json：它在第一个完整事件之前就结束了（请重新记录；采集器可能在写入任何内容之前就停止了）')
  expect(serverSentence('cannot import: /x: it is not a trace: there is no list of events ("traceEvents" or a JSON list) (give a trace written by torch.profiler, MindSpore, msprof or chrome://tracing)')).toContain('不是跟踪文件')
  expect(serverSentence('cannot import: /x: something new (do it)')).toBe('cannot import: /x: something new (do it)')
})

test('columns', () => {
  expect(columnTitle('total_ns')).toBe('总时间')
  expect(columnDoc('longest call')).toBe('最长的调用')
  expect(columnDoc('something new')).toBe('something new')
  language.value = 'en'
  expect(columnTitle('total_ns')).toBe('total')
  expect(columnTitle('step_ns')).not.toBe(columnTitle('step')) // By step has both
  expect(columnDoc('longest call')).toBe('longest call')
  language.value = 'zh'
})
