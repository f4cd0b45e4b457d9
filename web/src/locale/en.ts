// English texts. zh.ts has the same keys; a test compares them.
export default {
  app: { name: 'Stepscope', tagline: 'Where the time and the memory of a training step go' },
  page: {
    runs: 'Runs', overview: 'Overview', steps: 'Step trace', operators: 'Operators', calculation: 'Calculation',
    data: 'Data', timeline: 'Timeline', memory: 'Memory', cpu: 'CPU', communication: 'Communication',
    ranks: 'Ranks', sql: 'SQL', quality: 'Quality',
  },
  bar: {
    rank: 'Rank', allRanks: 'All ranks', theme: 'Theme', light: 'Light', dark: 'Dark', language: '中文', help: 'Keys',
    search: 'Search', losses: '{n} losses', suspects: '{n} doubts', clean: 'Data complete', collapse: 'Collapse', expand: 'Expand',
    back: 'All runs',
  },
  state: {
    loading: 'Loading', empty: 'Nothing here', emptyBecause: 'Nothing here: {why}', failed: 'This did not work',
    copy: 'Copy', copied: 'Copied', retry: 'Try again', offline: 'The server does not answer.',
  },
  runs: {
    title: 'Runs', none: 'No recordings in this folder yet.', noneHint: 'Record one, or put a trace file here; it appears by itself.',
    search: 'Search runs', name: 'Name', ranks: 'Ranks', device: 'Device', steps: 'Steps', size: 'Size', quality: 'Quality', age: 'Changed',
    importing: 'Importing', waiting: 'Waiting', failed: 'Failed', ready: 'Ready',
  },
  ago: { second: '{n} s ago', minute: '{n} min ago', hour: '{n} h ago', day: '{n} d ago' },
  part: {
    compute: 'Computing', exposed_communication: 'Communication, not overlapped', exposed_copy: 'Copies', idle: 'Idle',
    input: 'Waiting for data', sync: 'After a synchronisation', gc: 'Garbage collection', host: 'Host launches too late', other: 'Nothing recorded',
    interval: 'Step interval', fp_bp: 'Forward and backward', tail: 'Tail',
  },
  overview: {
    answer: 'A step takes {step}: {top} {share}.', noSteps: 'No training steps in this recording.',
    budget: 'Where a step goes', findings: 'What holds it up', noFindings: 'Nothing stands out. The largest part is {part}.',
    gain: 'up to {time} a step ({share})', evidence: 'Show in the timeline', remedy: 'What to do', operators: 'Most device time',
    perStep: 'mean of {n} steps', ranksHint: 'rank {rank}', confidence: { measured: 'measured', derived: 'derived', hint: 'a hint' },
    memory: 'Memory', data: 'Data preparation', run: 'Recording', whole: 'whole recording', keepsUp: 'keeps up',
  },
  table: {
    search: 'Search', rows: '{n} rows', shown: '{shown} of {n} rows', columns: 'Columns', csv: 'CSV', noMatch: 'No row matches.',
    exact: 'exact: {value}',
  },
  timeline: {
    search: 'Search names', hits: '{at} of {n}', noHits: 'no match', fit: 'Fit', slices: '{n} slices', selection: 'Selection', duration: 'Duration',
    start: 'Start', count: 'Count', total: 'Total', mean: 'Mean', max: 'Max', share: 'Share', name: 'Name', category: 'Category', step: 'Step',
    thread: 'Thread', args: 'Arguments', parents: 'Inside of', flows: 'Arrows', kernel: 'Device work', op: 'Operator', collective: 'Collective',
    goTo: 'Go to', filter: 'Filter lanes', pin: 'Pin', unpin: 'Unpin', download: 'Download as Chrome JSON', marks: 'Between marks',
    keys: 'W S zoom · A D move · shift-drag select · F fit · M mark · / search · [ ] matches · Z back · Esc clear',
  },
  sql: { run: 'Run', tables: 'Tables', ms: '{n} ms', more: 'Only the first {n} rows are shown.', placeholder: 'select name, sum(dur) from kernels group by 1 order by 2 desc' },
  quality: { title: 'Data quality', clean: 'Nothing was lost, cut or doubtful in this recording.', code: 'Condition', severity: 'Kind', count: 'Count', meaning: 'Meaning', example: 'Example', excluded: 'Left out of totals', rank: 'Rank', loss: 'loss', suspect: 'doubtful', note: 'note', yes: 'yes', no: 'no' },
  keys: { title: 'Keys', close: 'Close' },
  operators: { top: 'Types with most time', operator_types: 'By type', operators: 'Operators', kernels: 'Device work', operator_shapes: 'By shape', launches: 'Launches', copies: 'Copies', device_use: 'Use of the device' },
  communication: { operators: 'Operators', groups: 'Groups', matrix: 'Links', late: 'Ranks that others wait for' },
  cpu: { samples: 'Over time' },
  data: { verdict: 'Verdict', stages: 'Stages and queues', steps: 'By step' },
  memory: { curve: 'Over time', allocated: 'allocated', reserved: 'reserved', peak: 'Who holds the peak', owners: 'Largest blocks at the peak', operators: 'By operator', leaks: 'Suspected leaks' },
  ranks: { heat: 'Steps of all ranks', heatHint: 'Length of each step without communication: what a rank needs by itself. Click a cell to choose its rank.', comparison: 'Ranks beside each other' },
}
