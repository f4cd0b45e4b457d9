// 服务器英文文本的中文译文。{名称:单位} 处填入证据中的数值；缺少数值时显示英文原文。
interface Advice { title: string; detail: string; remedy: string }

const columns: Record<string, string> = {
  rank: '卡', window: '窗口', step: '步', steps: '步数', device: '设备', stream: '流', category: '类别', type: '类型', name: '名称', kind: '种类',
  module: '模块', modules: '模块数', input_shapes: '输入形状', input_types: '输入类型', shapes: '形状数', count: '次数', operators: '算子数',
  total_ns: '总时间', self_ns: '自身时间', share: '占比', mean_ns: '平均', min_ns: '最小', max_ns: '最大', stddev_ns: '标准差', median_ns: '中位数', p90_ns: 'P90', p99_ns: 'P99',
  runtime_ns: '运行时调用', launches: '下发次数', device_self_ns: '设备自身时间', device_total_ns: '设备总时间', device_share: '设备占比', device_ns: '设备时间',
  class: '大类', op: '算子', tensor_cores: '使用张量核', cube_utilisation: 'Cube 利用率', occupancy: '占用率', blocks_per_sm: '每 SM 块数', grid: '网格', block: '线程块', registers: '寄存器', shared_memory_bytes: '共享内存',
  start_ns: '开始', end_ns: '结束', dur_ns: '时长', gap_ns: '间隔', complete: '完整', source: '来源', points: '时间点来源',
  iteration_interval_ns: '迭代间隙', fp_and_bp_ns: '前反向', fp_ns: '前向', bp_ns: '反向', tail_ns: '迭代拖尾', fp_start: '前向起始算子', bp_end: '反向终止算子',
  computing_ns: '计算', compute_ns: '计算', communication_ns: '通信', communication_not_overlapped_ns: '未掩盖通信', overlapped_ns: '已掩盖通信', memory_not_overlapped_ns: '未掩盖拷贝', free_ns: '空闲', stage_ns: '阶段', bubble_ns: '气泡', preparing_ns: '准备',
  idle_ns: '空闲', step_ns: '步长', span_ns: '跨度', busy_ns: '忙碌', exposed_communication_ns: '未掩盖通信', exposed_copy_ns: '未掩盖拷贝',
  group: '通信域', group_size: '域大小', sequence: '序号', elapse_ns: '耗时', transit_ns: '传输', wait_ns: '等待', synchronization_ns: '同步', moving_ns: '搬运中', blocked_ns: '被阻塞', late_peer: '晚到的卡', late_peer_wait_ns: '等它的时间',
  bytes: '字节', transfer_bytes: '传输字节', transfer_ns: '传输时间', transfer_bandwidth: '传输带宽', algorithm_bandwidth: '算法带宽', bus_bandwidth: '总线带宽', matched_ranks: '匹配卡数', last_rank: '最晚的卡', first_rank: '最早的卡', transmit_ns: '纯传输', peer_wait_ns: '等待其他卡',
  src_rank: '源卡', dst_rank: '目的卡', transport: '传输方式', link: '链路', packets: '包数', time_ns: '时间', bandwidth: '带宽', mean_bandwidth: '同类平均带宽', below_mean: '低于平均', slow: '慢', large_packet_share: '大包占比',
  evidence: '依据', recorded: '有记录', waiting_ranks: '等待的卡数', of_waiting: '占全部等待', of_time: '占记录时间', late: '晚到', communication_wait_ns: '等待他卡', caused_wait_ns: '造成的等待', collectives: '集合通信数', arrived_last: '最后到达次数', step_over_mean: '步长超均值', compute_over_mean: '计算超均值', why: '原因',
  component: '组件', device_kind: '设备种类', allocations: '分配次数', releases: '释放次数', allocated_bytes: '已分配', released_bytes: '已释放', capacity_bytes: '容量', static_bytes: '静态内存', peak_bytes: '峰值', peak_step: '峰值所在步', peak_share: '峰值占比', peak_reserved_bytes: '预留峰值', reserved_bytes: '已预留', fragmentation_bytes: '碎片', fragmentation_share: '碎片占比', end_bytes: '结束时', unreleased_blocks: '未释放块', unreleased_bytes: '未释放', churn: '周转', growth_bytes_per_step: '每步增长', leak_suspected: '疑似泄漏',
  blocks: '块数', start_ts: '分配时间', end_ts: '释放时间', lifetime_ns: '生命周期', tensor_type: '张量种类', data_type: '数据类型', shape: '形状', format: '格式', calls: '调用次数', self_allocations: '自身分配次数', self_allocated_bytes: '自身分配', self_increase_bytes: '自身净增', increase_bytes: '净增', bytes_per_step: '每步字节', first_step: '首步', last_step: '末步', kept_bytes: '保留', start_bytes: '开始时',
  stage: '阶段', role: '角色', op_id: '算子号', op_type: '算子类型', workers: '线程数', parent_id: '下游', children: '上游', capacity: '队列容量', samples: '采样数', mean_size: '平均长度', usage: '利用率', empty_samples: '空队列次数', full_samples: '满队列次数', batches: '批数', fetch_ns: '取数时间', push_ns: '推送时间', cpu: 'CPU', cpu_per_worker: '每线程 CPU', is_bottleneck: '瓶颈', advice: '建议', host_empty: '主机队列空', host_full: '主机队列满', data_empty: '数据队列空', exposed_wait_ns: '暴露的等待', wait_share: '等待占比', batch: '批', size: '队列长度', verdict: '结论',
  scope: '范围', processors: '处理器数', user: '用户态', system: '内核态', io_wait: 'I/O 等待', idle: '空闲', busy: '忙', most_busy: '最忙', per_worker: '每线程', others: '其他进程', runnable: '可运行进程', context_switches: '上下文切换',
  flops: 'FLOPs', flops_per_second: 'FLOPS', utilisation: '利用率', bytes_per_second: '带宽', memory_utilisation: '带宽利用率', intensity: '计算强度', bound: '受限于', roofline_share: '屋顶线占比', matrix_flops: '矩阵 FLOPs', mfu: 'MFU', covered: '覆盖率', level: '层级', target: '目标',
  severity: '类型', code: '情况', meaning: '含义', example: '示例', excluded: '不计入合计', tasks: '任务数', launched: '已下发', mean_delay_ns: '平均延迟', max_delay_ns: '最大延迟', short_tasks: '短任务', mean_queue: '平均排队', empty_queue_share: '空队列占比', kernels: '核函数数', kernel_ns: '核函数时间', tensor_core_share: '张量核占比', events: '事件数', rule: '规则', gain_ns: '可节省', confidence: '可信度',
}

const advice: Record<string, Advice> = {
  slow_input: { title: '每步有 {share:share} 的时间在等待数据', detail: '卡 {rank} 每步等待下一批数据 {input_wait:ns}，其中 {lost:ns} 设备无事可做。', remedy: '增加数据加载线程（torch：num_workers、prefetch_factor、persistent_workers；MindSpore：num_parallel_workers、prefetch_size），把解码和增强移出主进程，或把数据存成读取更便宜的形式。' },
  input_stage: { title: '数据流水线被 {stage} 阶段拖慢', detail: '它的输出队列占用 {queue_share:share}。', remedy: '增大该阶段的 num_parallel_workers 或简化其函数；Python 生成器改用可随机访问的数据源或 MindRecord；批处理增大 prefetch_size。' },
  machine_cpu_busy: { title: '机器 CPU 占用达 {cpu_busy:share}', detail: '数据准备和算子下发共用这些 CPU。', remedy: '减轻 CPU 负担（更少或更便宜的加载线程、把算子放到设备上），或使用更多 CPU：数据准备和下发在争用它们。' },
  slow_rank: { title: '卡 {rank} 每步比其他卡慢 {gain:ns}', detail: '去掉通信后它每步需要 {own:ns}，其他卡 {others:ns}；其他卡在集合通信中等它。', remedy: '先检查这张卡所在机器：频率与降频、其他进程、数据分片；把该卡换到另一设备上，以区分是设备还是数据的问题。' },
  late_peer: { title: '集合通信每步等待卡 {peer} 共 {wait:ns}', detail: '等待的是该卡的通知；其他工具把它算作空闲。', remedy: '把那张卡也记录下来，看它在集合通信之前在做什么。' },
  slow_link: { title: '卡 {src_rank} 与卡 {dst_rank} 之间的链路慢：{bandwidth:bytes_per_second}', detail: '同类链路平均达到 {mean_of_kind:bytes_per_second}。', remedy: '检查这一对的线缆、交换机端口和拓扑；让同一通信域的卡靠得更近。' },
  exposed_communication: { title: '每步有 {share:share} 是没有被掩盖的通信', detail: '每张卡每步至少有 {exposed:ns} 只有通信而没有计算（不含等待晚到的卡）。', remedy: '让它与计算重叠：反向时使用更大的梯度桶（DDP bucket_cap_mb、all_reduce_fusion_config），对切分参数做预取；减少通信量：16 位梯度、多步累积。' },
  sync_points: { title: '主机每步等待设备 {waits:count} 次，之后设备无事可做', detail: '这些等待之后卡 {rank} 的设备每步停顿 {idle:ns}（{share:share}），直到下发新的任务。', remedy: '从训练步中去掉 .item()、.cpu()、print(tensor)、torch.cuda.synchronize() 和依赖数据的形状；每 n 步记录一次损失，或用 non_blocking=True 拷贝。' },
  launch_bound: { title: '下发跟不上：核函数平均只有 {mean_kernel:ns}', detail: '一步有 {kernels:count} 个核函数；设备每步等待主机下发 {idle:ns}（{share:share}）。', remedy: '减少下发：torch.compile 或 CUDA 图、MindSpore 图模式、融合算子和优化器、更大的批。' },
  garbage_collection: { title: 'Python 垃圾回收每步耗时 {idle:ns}', detail: '期间设备停顿。', remedy: '初始化后调用 gc.freeze()，循环中 gc.disable()，每 n 步调用一次 gc.collect()。' },
  allocator_calls: { title: '分配设备内存每步耗时 {allocator:ns}', detail: '卡 {rank} 在训练步内向驱动申请内存，而不是复用已有的。', remedy: '让缓存分配器保留内存块：expandable_segments:True、循环中不要 empty_cache()、形状不要逐步变化。' },
  pageable_copies: { title: '可分页内存的拷贝每步耗时 {pageable:ns}', detail: '驱动要拷贝两次，而且不能与计算重叠。', remedy: '使用 pin_memory=True，并以 non_blocking=True 拷贝。' },
  ai_cpu_operators: { title: 'AI CPU 上的算子每步耗时 {ai_cpu:ns}', detail: '它们本可以在 AI Core 上运行，而 AI Core 此时空闲。', remedy: '更换数据类型（64 位和双精度会回退），或替换该算子。' },
  compiled_on_the_fly: { title: '训练过程中编译了 {compiled:count} 个算子', detail: '在线编译会拖慢训练步。', remedy: '使用固定形状或二进制算子（torch_npu.npu.set_compile_mode(jit_compile=False)）。' },
  no_tensor_cores: { title: '{eligible:share} 的计算时间可以使用张量核而没有使用', detail: '卡 {rank} 的矩阵算子运行的是不用张量核的核函数。', remedy: '用 bfloat16 或 float16 训练（torch.autocast），或允许 TF32（torch.set_float32_matmul_precision(\'high\')）。' },
  low_mfu: { title: '设备很忙，但只达到其算力的 {mfu:share}', detail: '由形状或计数器得出，覆盖 {coverage:share} 的计算时间。', remedy: '看耗时最多的算子：不是 8 或 64 的倍数的形状、可融合的访存受限算子、过小的批、没有融合的注意力。' },
  data_parallel: { title: 'DataParallel 用一个进程驱动多个设备', detail: '它每步复制模型，并由一个解释器为所有设备下发。', remedy: '使用 DistributedDataParallel，每个设备一个进程。' },
  uneven_steps: { title: '第 {step} 步用时 {longest:ns}，远超平常', detail: '该卡一半的步用时少于 {median:ns}。', remedy: '看这一步：检查点、评估、日志、新的形状。' },
  memory_leak: { title: '内存每步增长 {bytes_per_step:bytes}', detail: '卡 {rank} 有 {share_of_steps:share} 的步结束时占用的内存比前一步多。', remedy: '看是什么让张量一直存活：未经 .item() 或 .detach() 就累加的损失、保存输出的列表、retain_graph 保留的图。' },
  memory_nearly_full: { title: '内存峰值接近上限', detail: '卡 {rank} 需要 {peak:bytes}，设备共有 {device:bytes}。', remedy: '批稍大一点或有碎片就会失败：使用激活重计算、切分优化器状态，或减小批。' },
  fragmentation: { title: '预留的内存有很多从未使用', detail: '卡 {rank} 预留 {reserved:bytes}，最多使用 {allocated:bytes}。', remedy: 'PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True，减少不同的形状。' },
  low_utilisation: { title: '设备大部分时间空闲', detail: '主机未下发 {host:ns}，没有记录的 {other:ns}。', remedy: '打开时间线中最长的空隙，看主机当时在做什么。' },
  between_operators: { title: '每步有 {outside:ns} 花在算子之外', detail: '其中 {host:ns} 在其他有记录的代码中，{other:ns} 没有任何记录。', remedy: '在时间线中看算子之间的代码（以 with_stack=True 记录）：Python 循环、日志、数据处理。以图方式运行模型（torch.compile、MindSpore 图模式）可减少它。' },
  profiler_cost: { title: '记录使训练步变长 {cost:share}', detail: '记录开始之前的步比记录中的短。', remedy: '少记录一些（只记录核函数，不要栈和形状）：短算子的时间偏高。' },
  contended_bandwidth: { title: '设备计算时集合通信损失 {lost:share} 的带宽', detail: '旁边没有任务时，同样的操作要快这么多。', remedy: '把它们移到访存较少的时段，或减少通道数；大矩阵核函数和传输共用内存带宽。' },
  full_precision: { title: '大部分计算使用 32 位或更高精度', detail: '16 位只占 {low_precision:share}；矩阵单元在 16 位下至少快一倍。', remedy: '用 bfloat16 或 float16 训练（torch.autocast、MindSpore 的 amp_level）。' },
  gloo: { title: '设备的集合通信经过主机', detail: '卡 {rank} 有设备却使用 gloo。', remedy: '使用 NCCL 或 HCCL 后端。' },
  pipeline_receive: { title: '各阶段每步等待前一阶段 {receive:ns}', detail: '接收占计算和通信总和的 {share:share}（所有卡）。', remedy: '使用更多微批，减少慢阶段的层数，并看它在其他阶段接收时在做什么。' },
  retransmission: { title: '{operations:count} 个 RDMA 操作用时四秒或更久', detail: '这是丢包重发的时限。', remedy: '检查这些卡的网络：交换机端口、流控、HCCL_RDMA_TIMEOUT。' },
  settings: { title: '环境变量拖慢了程序', detail: '记录卡 {rank} 时已设置。', remedy: '训练时取消它们；它们用于调试。' },
  slow_device: { title: '卡 {rank} 的设备比平均慢 {below_mean:share}', detail: '按计算时间内的速率比较。', remedy: '比较该设备的频率、温度和其他进程；若型号不同，分给它较少的工作。' },
  small_grids: { title: '{share:share} 的计算时间里半个设备无事可做', detail: '这些核函数的线程块少于多处理器数的一半。', remedy: '增大批，或融合这些算子：它们的工作量不足以占满设备。' },
  small_messages: { title: '集合通信有 {share:share} 的时间花在小消息上', detail: '约一兆字节以下，集合通信的时间就是延迟，与数据量无关。', remedy: '合并它们：更大的梯度桶（bucket_cap_mb、all_reduce_fusion_config），多个值一次归约。' },
  stage_balance: { title: '阶段 {stage} 的计算量比平均多 {above_mean:share}', detail: '每个微批其他阶段都在等它。', remedy: '把该阶段的层移到其他阶段。' },
  stage_communication: { title: '阶段 {stage} 内的集合通信占其工作的 {share:share}', detail: '没有被掩盖的通信，不含从其他阶段接收。', remedy: '检查阶段内算子的切分方式。' },
  sync_batch_norm: { title: '每步 {count:count} 次同步批归一化', detail: '每一次都是小的集合通信，后面的计算都要等它。', remedy: '单卡批足够大时使用普通批归一化或组归一化。' },
  unaligned_shapes: { title: '{share:share} 的计算时间是尺寸不对齐的矩阵运算', detail: '不是 8（Ascend：16）的倍数会使矩阵单元部分空闲或需要拷贝。', remedy: '把词表、隐藏层和注意力头的大小补齐到 64 的倍数。' },
  unaligned_transfers: { title: '{share:share} 的传输时间不是 512 字节的倍数', detail: '设备间 SDMA 以 512 字节整块最快。', remedy: '补齐集合通信的张量；使用 ZeRO 或切分参数时选择 512 字节倍数的分区。' },
  uneven_interval: { title: '卡 {rank} 开始训练步比平均晚 {gain:ns}', detail: '从一步结束到下一步第一个算子需要 {interval:ns}。', remedy: '看这张卡的数据准备：数据分片、磁盘、处理器。' },
  unfused_attention: { title: 'Softmax 每步耗时 {softmax:ns}，而没有融合的注意力核函数', detail: '融合的核函数把分数留在芯片上，softmax 不再额外耗时。', remedy: '使用 scaled_dot_product_attention、FlashAttention 或 npu_fusion_attention。' },
}

const evidence: Record<string, string> = {
  share: '占比', rank: '卡', peer: '对端卡', wait: '等待', idle: '停顿', kernels: '核函数数', mean_kernel: '平均核函数', input_wait: '等待数据', lost: '损失', queue_share: '队列占用', empty_queue_share: '空队列', cpu_busy: 'CPU 忙', own: '自身', others: '其他卡', src_rank: '源卡', dst_rank: '目的卡', bandwidth: '带宽', mean_of_kind: '同类平均', exposed: '未掩盖', waits: '等待次数', allocator: '分配', pageable: '可分页拷贝', ai_cpu: 'AI CPU', compiled: '编译数', eligible: '可用张量核', used: '已用', mfu: 'MFU', coverage: '覆盖', longest: '最长', median: '中位数', bytes_per_step: '每步字节', share_of_steps: '步的占比', peak: '峰值', device: '设备', reserved: '预留', allocated: '已分配', cost: '代价', host: '主机', other: '其他',
  low_precision: '低精度', receive: '接收', operations: '操作数', below_mean: '低于平均', stage: '阶段', above_mean: '高于平均', count: '次数', interval: '间隙', mean: '平均', softmax: 'Softmax', outside: '算子之外',
}

const quality: Record<string, string> = {
  truncated_input: '输入在中间结束；之前的内容都已读取', unparsable_event: '无法读取而缺失的事件', repaired_event: '不是合法 JSON（未转义文本、裸 NaN）但仍读取的事件', unknown_phase: '格式未定义的阶段的事件；不在任何表中', unknown_category: '此版本不认识的类别；以其原名保留', unknown_process: '此版本不认识的进程；保留为其他泳道', unknown_column: '此版本不认识的列；保留在源表中', ignored_file: '目录中没有读取的文件', unreadable_file: '应读取而无法读取的文件',
  duplicate_key: '同一键出现两次的对象；取最后一个值', dropped_records: '产生输入的采集器声明丢失了记录', negative_duration: '时长为负的事件；保留并标记', zero_duration: '时长为 0 且不是瞬时的事件', end_before_start: '结束早于开始的记录；保留并标记', negative_time: '早于输入零点的事件', implausible_duration: '长于七天的事件，通常是计数器溢出；保留并标记', kernel_before_launch: '设备任务早于下发它的调用：主机与设备时钟不一致', launch_outside_window: '下发调用不在输入中的设备任务，通常在记录开始前下发', stream_overlap: '同一流上互相重叠而不嵌套的切片；画在额外的行上', outlives_parent: '结束晚于其所在切片的主机切片，通常是舍入造成',
  flow_end_without_start: '有终点没有起点的箭头', flow_start_without_end: '有起点没有终点的箭头', flow_without_slice: '箭头端点处没有切片', begin_without_end: '有开始没有结束的事件；画到末尾并标记', end_without_begin: '有结束没有开始的事件；不在任何表中', unfinished_operation: '记录停止时尚未结束的操作', clock_jump: '时间倒退或跳跃超过一天', clock_coarse: '时间单位比其余输入更粗', duplicate_id: '应唯一却给了多个事件的编号', window_cut: '被记录窗口截断的步；标记为不完整', no_steps: '输入没有标记训练步',
  missing_rank: '作业中的卡不在输入里', rank_inferred: '输入没有说明卡号；由位置或名称推断', failed_rank: '无法读取的卡', other_forms: '同一卡还有其他形式未读取；用 --form 选择', ragged_row: '单元格数与表头不符的行', bad_number: '应为数字而不是的单元格；按缺失处理', left_over_records: '之前记录窗口的记录；已略去', inconsistent_counts: '输入中应一致的两处不一致', invalid_text: '不是 UTF-8 的文本；字节已保留', wide_integer: '超出 64 位的整数；保留为文本', ended_abnormally: '程序未停止记录就结束；除最后一秒外都已读取', source_left_out: '本应记录而无法记录的内容', not_honoured: '在此设备上无效的记录选项', limit_reached: '达到读取器的安全上限', not_understood: '知其名而不明其义的文件；不在任何表中',
}

export default { columns, advice, evidence, quality }
