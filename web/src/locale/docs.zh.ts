// 服务器对结果表和切片各列的英文说明的中文译文。
export const tables: Record<string, string> = {
  findings: '使训练步变长的原因，可节省最多的在前', communication_collectives: '多张有记录的卡共同参与的操作', communication_groups: '按通信域和种类统计的通信', communication_links: '每卡每步经过各链路的数据', communication_matrix: '整个作业的链路对比',
  communication_operators: '每个通信算子', communication_peer_waits: '每个算子等待各对端的时间', communication_steps: '按步统计的通信', critical_path: '一步的时长由什么组成', critical_path_segments: '一步的关键路径，逐段', idle: '设备和流为什么空闲', copies: '按种类统计的拷贝和置值',
  cpu: '机器、进程及其各部分的处理器使用', cpu_samples: '处理器使用随时间的变化', device_time: '每个设备的时间去向', device_use: '每个设备的核函数对它的利用', flops: '算子的 FLOPs、速率和屋顶线', flops_scopes: '模块或 scope 树中的 FLOPs', flops_steps: '各步的 FLOPs 和模型算力利用率', flops_summary: '模型的 FLOPs 和设备利用情况',
  kernel_variants: '按名称、算子和下发配置统计的设备任务', kernels: '按名称统计的设备任务', late_ranks: '其他卡等待的卡', launches: '每个流的下发和队列', memory: '设备内存池：总量、峰值、预留、增长', memory_curve: '内存随时间和执行顺序的变化', memory_leaks: '内存块逐步堆积的算子', memory_operators: '按算子统计的分配', memory_owners: '各内存池峰值时最大的块',
  memory_peak: '各内存池峰值由谁占用，按算子和模块', memory_steps: '按步统计的内存', modules: '模块树：主机时间与设备任务', operator_shapes: '按输入形状和类型统计的算子', operator_steps: '每类最大的算子和核函数，逐步', operator_types: '按类型统计的算子和核函数', operators: '主机以及运行算子的设备上的算子', overlap: '每个设备上的重叠，为合并区间的总和',
  pipeline: '数据准备是否拖慢训练，在哪里', pipeline_batches: '各批经过队列的情况', pipeline_stages: '数据准备的各阶段及其队列', pipeline_steps: '按步统计的数据等待和空队列', quality: '丢失、截断、可疑之处，以及记录的代价', rank_comparison: '各卡对比', step_budget: '设备每一步的时间去向，以及为什么停顿',
  step_categories: '每一步按每一时刻最重要的事件划分', step_reduces: '每一步各流的集合通信', step_times: '每个设备上每一步的时间去向', step_trace: '每一步分为迭代间隙、前反向和拖尾，以及它们的平均', steps: '训练步，标记的或推断的', timeline: '时间线的泳道',
}

// 切片的详细信息，按 表.列
export const columns: Record<string, string> = {
  'kernels.device': '设备编号', 'kernels.stream': '流编号', 'kernels.class': '计算、通信或内存', 'kernels.type': 'CUDA、MEMCPY、MEMSET、AI_CORE、AI_CPU、HCCL 等', 'kernels.op_type': '算子类型（如 MatMulV2），若来源给出', 'kernels.wait': '与前一个任务的间隔，由来源给出', 'kernels.input_shapes': '输入的形状', 'kernels.input_types': '输入的数据类型', 'kernels.output_shapes': '输出的形状',
  'kernels.grid': '下发的网格', 'kernels.block': '下发的线程块', 'kernels.registers': '每线程寄存器数', 'kernels.shared_memory': '共享内存', 'kernels.occupancy': '估计达到的占用率', 'kernels.bytes': '拷贝或置值的字节数', 'kernels.counters': '硬件计数器，JSON',
  'ops.type': '算子类型，若与名称不同', 'ops.input_shapes': '输入的形状', 'ops.input_types': '输入的数据类型', 'ops.sequence': '自动微分序号', 'ops.forward_thread': '前向算子所在线程（反向算子）', 'ops.module': '模块或 scope 路径',
  'communications.level': 'op（整个集合通信）、task（其中一次传输或等待）、host（调用）', 'communications.op': 'all_reduce、all_gather、send 等，按来源的名称', 'communications.group': '通信域', 'communications.group_size': '域内卡数', 'communications.sequence': '操作在域内的序号', 'communications.bytes': '字节数', 'communications.elements': '元素数', 'communications.data_type': '元素类型', 'communications.algorithm': '算法或任务类型',
  'communications.src_rank': '发送的卡', 'communications.dst_rank': '接收的卡', 'communications.transport': 'SDMA、RDMA、LOCAL 等', 'communications.link': 'HCCS、PCIE、ROCE、NVLINK 等', 'communications.bandwidth': '来源给出的带宽', 'communications.wait': '等待对端的时间', 'communications.transit': '搬运数据的时间',
}
