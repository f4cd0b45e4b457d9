// 简体中文。键与 en.ts 相同，由测试比较。
export default {
  app: { name: 'Stepscope', tagline: '训练一步的时间和内存花在哪里' },
  page: {
    runs: '运行列表', overview: '总览', steps: '迭代轨迹', operators: '算子', calculation: '计算量',
    data: '数据准备', timeline: '时间线', memory: '内存', cpu: 'CPU', communication: '通信',
    ranks: '多卡', sql: 'SQL', quality: '数据质量',
  },
  bar: {
    rank: '卡', allRanks: '所有卡', theme: '主题', light: '浅色', dark: '深色', language: 'English', help: '快捷键',
    search: '搜索', losses: '{n} 处丢失', suspects: '{n} 处存疑', clean: '数据完整', collapse: '收起', expand: '展开',
    back: '所有运行',
  },
  state: {
    loading: '加载中', empty: '没有数据', emptyBecause: '没有数据：{why}', failed: '出错了',
    copy: '复制', copied: '已复制', retry: '重试', offline: '服务器没有响应。',
  },
  runs: {
    title: '运行列表', none: '此目录下还没有记录。', noneHint: '录制一次，或把 trace 文件放到这里，它会自动出现。',
    search: '搜索运行', name: '名称', ranks: '卡数', device: '设备', steps: '步数', size: '大小', quality: '数据质量', age: '修改时间',
    importing: '导入中', waiting: '等待中', failed: '失败', ready: '就绪',
  },
  ago: { second: '{n} 秒前', minute: '{n} 分钟前', hour: '{n} 小时前', day: '{n} 天前' },
  part: {
    compute: '计算', exposed_communication: '未掩盖的通信', exposed_copy: '拷贝', idle: '空闲',
    input: '等待数据', sync: '同步之后', gc: '垃圾回收', host: '主机下发太慢', other: '没有记录',
    interval: '迭代间隙', fp_bp: '前反向', tail: '迭代拖尾',
  },
  overview: {
    answer: '一步用时 {step}：{top} 占 {share}。', noSteps: '这次记录里没有训练步。',
    budget: '一步的时间去向', findings: '瓶颈', noFindings: '没有突出的问题，占比最大的是{part}。',
    gain: '每步最多可省 {time}（{share}）', evidence: '在时间线中查看', remedy: '怎么做', operators: '设备耗时最多',
    perStep: '{n} 步的平均值', ranksHint: '卡 {rank}', confidence: { measured: '实测', derived: '推导', hint: '提示' },
    memory: '内存', data: '数据准备', run: '记录', whole: '整个记录', keepsUp: '供给充足',
  },
  table: {
    search: '搜索', rows: '{n} 行', shown: '{n} 行中的 {shown} 行', columns: '列', csv: 'CSV', noMatch: '没有匹配的行。',
    exact: '精确值：{value}',
  },
  timeline: {
    search: '搜索名称', hits: '第 {at} 个，共 {n} 个', noHits: '无匹配', fit: '全部', slices: '{n} 个切片', selection: '选区', duration: '时长',
    start: '开始', count: '次数', total: '总计', mean: '平均', max: '最大', share: '占比', name: '名称', category: '类别', step: '步',
    thread: '线程', args: '参数', parents: '所在', flows: '连线', kernel: '设备任务', op: '算子', collective: '集合通信',
    goTo: '转到', filter: '筛选泳道', pin: '固定', unpin: '取消固定', download: '下载 Chrome JSON', marks: '标记之间',
    keys: 'W S 缩放 · A D 平移 · Shift 拖动选择 · F 适应 · M 标记 · / 搜索 · [ ] 匹配项 · Z 返回 · Esc 清除',
  },
  sql: { run: '运行', tables: '表', ms: '{n} 毫秒', more: '只显示前 {n} 行。', placeholder: 'select name, sum(dur) from kernels group by 1 order by 2 desc' },
  quality: { title: '数据质量', clean: '这次记录没有丢失、截断或存疑的数据。', code: '情况', severity: '类型', count: '数量', meaning: '含义', example: '示例', excluded: '不计入合计', rank: '卡', loss: '丢失', suspect: '存疑', note: '说明', yes: '是', no: '否' },
  keys: { title: '快捷键', close: '关闭' },
  operators: { top: '耗时最多的类型', operator_types: '按类型', operators: '算子', kernels: '设备任务', operator_shapes: '按形状', launches: '下发', copies: '拷贝', device_use: '设备利用' },
  communication: { operators: '通信算子', groups: '通信域', matrix: '链路', late: '被等待的卡' },
  cpu: { samples: '随时间变化' },
  data: { verdict: '结论', stages: '阶段与队列', steps: '按步' },
  memory: { curve: '随时间变化', allocated: '已分配', reserved: '已预留', peak: '峰值由谁占用', owners: '峰值时最大的内存块', operators: '按算子', leaks: '疑似泄漏' },
  ranks: { heat: '所有卡的各步', heatHint: '每步去掉通信后的时长，即一张卡自身所需的时间。点击单元格选择该卡。', comparison: '各卡对比' },
}
