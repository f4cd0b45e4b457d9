// Compares our declarations with the vendor's headers. Built only where those are found
// (STEPSCOPE_CUPTI_INCLUDE, see the CMakeLists.txt of this folder); all of it happens in the
// compiler.
#include "collector/sources/cupti/cupti_abi.h"

#include <cupti.h>
#include <gtest/gtest.h>

namespace stepscope::cupti {
namespace {

// The newest record of each kind that these headers have: CUPTI hands those out.
#if CUPTI_API_VERSION >= 130400
using VendorKernel = CUpti_ActivityKernel13;
using VendorMemcpy = CUpti_ActivityMemcpy7;
using VendorMemset = CUpti_ActivityMemset5;
using VendorDevice = CUpti_ActivityDevice6;
using VendorContext = CUpti_ActivityContext4;
#elif CUPTI_API_VERSION >= 130000
using VendorKernel = CUpti_ActivityKernel10;
using VendorMemcpy = CUpti_ActivityMemcpy6;
using VendorMemset = CUpti_ActivityMemset4;
using VendorDevice = CUpti_ActivityDevice5;
using VendorContext = CUpti_ActivityContext3;
#elif CUPTI_API_VERSION >= 26
using VendorKernel = CUpti_ActivityKernel9;
using VendorMemcpy = CUpti_ActivityMemcpy6;
using VendorMemset = CUpti_ActivityMemset4;
using VendorDevice = CUpti_ActivityDevice5;
using VendorContext = CUpti_ActivityContext3;
#else
using VendorKernel = CUpti_ActivityKernel7;
using VendorMemcpy = CUpti_ActivityMemcpy5;
using VendorMemset = CUpti_ActivityMemset4;
using VendorDevice = CUpti_ActivityDevice4;
using VendorContext = CUpti_ActivityContext;
#endif
#if CUPTI_API_VERSION >= 26
using VendorMemory = CUpti_ActivityMemory4;
using VendorOverhead = CUpti_ActivityOverhead3;
#else
using VendorMemory = CUpti_ActivityMemory3;
using VendorOverhead = CUpti_ActivityOverhead;
#endif

#define SAME_PLACE(ours, our_field, theirs, their_field)                      \
  static_assert(offsetof(ours, our_field) == offsetof(theirs, their_field) && \
                sizeof(ours::our_field) == sizeof(theirs::their_field))

SAME_PLACE(KernelRecord, kind, VendorKernel, kind);
SAME_PLACE(KernelRecord, registers, VendorKernel, registersPerThread);
SAME_PLACE(KernelRecord, start, VendorKernel, start);
SAME_PLACE(KernelRecord, end, VendorKernel, end);
SAME_PLACE(KernelRecord, device, VendorKernel, deviceId);
SAME_PLACE(KernelRecord, context, VendorKernel, contextId);
SAME_PLACE(KernelRecord, stream, VendorKernel, streamId);
static_assert(offsetof(KernelRecord, grid) == offsetof(VendorKernel, gridX));
static_assert(offsetof(KernelRecord, block) == offsetof(VendorKernel, blockX));
SAME_PLACE(KernelRecord, static_shared, VendorKernel, staticSharedMemory);
SAME_PLACE(KernelRecord, dynamic_shared, VendorKernel, dynamicSharedMemory);
SAME_PLACE(KernelRecord, correlation, VendorKernel, correlationId);
SAME_PLACE(KernelRecord, name, VendorKernel, name);
SAME_PLACE(KernelRecord, graph_node, VendorKernel, graphNodeId);
SAME_PLACE(KernelRecord, graph, VendorKernel, graphId);

SAME_PLACE(MemcpyRecord, copy_kind, VendorMemcpy, copyKind);
SAME_PLACE(MemcpyRecord, from, VendorMemcpy, srcKind);
SAME_PLACE(MemcpyRecord, to, VendorMemcpy, dstKind);
SAME_PLACE(MemcpyRecord, flags, VendorMemcpy, flags);
SAME_PLACE(MemcpyRecord, bytes, VendorMemcpy, bytes);
SAME_PLACE(MemcpyRecord, start, VendorMemcpy, start);
SAME_PLACE(MemcpyRecord, end, VendorMemcpy, end);
SAME_PLACE(MemcpyRecord, device, VendorMemcpy, deviceId);
SAME_PLACE(MemcpyRecord, context, VendorMemcpy, contextId);
SAME_PLACE(MemcpyRecord, stream, VendorMemcpy, streamId);
SAME_PLACE(MemcpyRecord, correlation, VendorMemcpy, correlationId);
SAME_PLACE(MemcpyRecord, graph_node, VendorMemcpy, graphNodeId);
SAME_PLACE(MemcpyRecord, graph, VendorMemcpy, graphId);

SAME_PLACE(MemcpyPeerRecord, bytes, CUpti_ActivityMemcpyPtoP4, bytes);
SAME_PLACE(MemcpyPeerRecord, start, CUpti_ActivityMemcpyPtoP4, start);
SAME_PLACE(MemcpyPeerRecord, device, CUpti_ActivityMemcpyPtoP4, deviceId);
SAME_PLACE(MemcpyPeerRecord, stream, CUpti_ActivityMemcpyPtoP4, streamId);
SAME_PLACE(MemcpyPeerRecord, from_device, CUpti_ActivityMemcpyPtoP4, srcDeviceId);
SAME_PLACE(MemcpyPeerRecord, to_device, CUpti_ActivityMemcpyPtoP4, dstDeviceId);
SAME_PLACE(MemcpyPeerRecord, correlation, CUpti_ActivityMemcpyPtoP4, correlationId);
SAME_PLACE(MemcpyPeerRecord, graph_node, CUpti_ActivityMemcpyPtoP4, graphNodeId);
SAME_PLACE(MemcpyPeerRecord, graph, CUpti_ActivityMemcpyPtoP4, graphId);

SAME_PLACE(MemsetRecord, value, VendorMemset, value);
SAME_PLACE(MemsetRecord, bytes, VendorMemset, bytes);
SAME_PLACE(MemsetRecord, start, VendorMemset, start);
SAME_PLACE(MemsetRecord, end, VendorMemset, end);
SAME_PLACE(MemsetRecord, device, VendorMemset, deviceId);
SAME_PLACE(MemsetRecord, context, VendorMemset, contextId);
SAME_PLACE(MemsetRecord, stream, VendorMemset, streamId);
SAME_PLACE(MemsetRecord, correlation, VendorMemset, correlationId);
SAME_PLACE(MemsetRecord, flags, VendorMemset, flags);
SAME_PLACE(MemsetRecord, memory_kind, VendorMemset, memoryKind);
SAME_PLACE(MemsetRecord, graph_node, VendorMemset, graphNodeId);
SAME_PLACE(MemsetRecord, graph, VendorMemset, graphId);

SAME_PLACE(ApiRecord, id, CUpti_ActivityAPI, cbid);
SAME_PLACE(ApiRecord, start, CUpti_ActivityAPI, start);
SAME_PLACE(ApiRecord, end, CUpti_ActivityAPI, end);
SAME_PLACE(ApiRecord, process, CUpti_ActivityAPI, processId);
SAME_PLACE(ApiRecord, thread, CUpti_ActivityAPI, threadId);
SAME_PLACE(ApiRecord, correlation, CUpti_ActivityAPI, correlationId);
SAME_PLACE(ApiRecord, result, CUpti_ActivityAPI, returnValue);

SAME_PLACE(CallbackData, site, CUpti_CallbackData, callbackSite);
SAME_PLACE(CallbackData, between, CUpti_CallbackData, correlationData);
SAME_PLACE(CallbackData, correlation, CUpti_CallbackData, correlationId);

SAME_PLACE(MemoryRecord, operation, VendorMemory, memoryOperationType);
SAME_PLACE(MemoryRecord, memory_kind, VendorMemory, memoryKind);
SAME_PLACE(MemoryRecord, correlation, VendorMemory, correlationId);
SAME_PLACE(MemoryRecord, address, VendorMemory, address);
SAME_PLACE(MemoryRecord, bytes, VendorMemory, bytes);
SAME_PLACE(MemoryRecord, timestamp, VendorMemory, timestamp);
SAME_PLACE(MemoryRecord, device, VendorMemory, deviceId);
SAME_PLACE(MemoryRecord, stream, VendorMemory, streamId);
SAME_PLACE(MemoryRecord, name, VendorMemory, name);

SAME_PLACE(MarkerRecord, flags, CUpti_ActivityMarker2, flags);
SAME_PLACE(MarkerRecord, timestamp, CUpti_ActivityMarker2, timestamp);
SAME_PLACE(MarkerRecord, id, CUpti_ActivityMarker2, id);
SAME_PLACE(MarkerRecord, object_kind, CUpti_ActivityMarker2, objectKind);
static_assert(offsetof(MarkerRecord, process) == offsetof(CUpti_ActivityMarker2, objectId));
SAME_PLACE(MarkerRecord, name, CUpti_ActivityMarker2, name);
SAME_PLACE(MarkerRecord, domain, CUpti_ActivityMarker2, domain);

SAME_PLACE(OverheadRecord, overhead_kind, VendorOverhead, overheadKind);
SAME_PLACE(OverheadRecord, object_kind, VendorOverhead, objectKind);
static_assert(offsetof(OverheadRecord, process) == offsetof(VendorOverhead, objectId));
SAME_PLACE(OverheadRecord, start, VendorOverhead, start);
SAME_PLACE(OverheadRecord, end, VendorOverhead, end);

SAME_PLACE(ContextRecord, context, VendorContext, contextId);
SAME_PLACE(ContextRecord, device, VendorContext, deviceId);

SAME_PLACE(DeviceRecord, memory_bandwidth, VendorDevice, globalMemoryBandwidth);
SAME_PLACE(DeviceRecord, memory_bytes, VendorDevice, globalMemorySize);
SAME_PLACE(DeviceRecord, l2_bytes, VendorDevice, l2CacheSize);
SAME_PLACE(DeviceRecord, threads_per_warp, VendorDevice, numThreadsPerWarp);
SAME_PLACE(DeviceRecord, core_clock_khz, VendorDevice, coreClockRate);
SAME_PLACE(DeviceRecord, multiprocessors, VendorDevice, numMultiprocessors);
SAME_PLACE(DeviceRecord, warps_per_multiprocessor, VendorDevice, maxWarpsPerMultiprocessor);
SAME_PLACE(DeviceRecord, blocks_per_multiprocessor, VendorDevice, maxBlocksPerMultiprocessor);
SAME_PLACE(DeviceRecord, shared_per_multiprocessor, VendorDevice, maxSharedMemoryPerMultiprocessor);
SAME_PLACE(DeviceRecord, registers_per_multiprocessor, VendorDevice, maxRegistersPerMultiprocessor);
SAME_PLACE(DeviceRecord, compute_major, VendorDevice, computeCapabilityMajor);
SAME_PLACE(DeviceRecord, compute_minor, VendorDevice, computeCapabilityMinor);
SAME_PLACE(DeviceRecord, id, VendorDevice, id);
SAME_PLACE(DeviceRecord, name, VendorDevice, name);

static_assert(kMemcpy == CUPTI_ACTIVITY_KIND_MEMCPY && kMemset == CUPTI_ACTIVITY_KIND_MEMSET);
static_assert(kDriverApi == CUPTI_ACTIVITY_KIND_DRIVER);
static_assert(kRuntimeApi == CUPTI_ACTIVITY_KIND_RUNTIME);
static_assert(kDevice == CUPTI_ACTIVITY_KIND_DEVICE && kContext == CUPTI_ACTIVITY_KIND_CONTEXT);
static_assert(kConcurrentKernel == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
static_assert(kMarker == CUPTI_ACTIVITY_KIND_MARKER && kOverhead == CUPTI_ACTIVITY_KIND_OVERHEAD);
static_assert(kMemcpyPeer == CUPTI_ACTIVITY_KIND_MEMCPY2);
static_assert(kMemory == CUPTI_ACTIVITY_KIND_MEMORY2);
static_assert(kFlushForced == CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
static_assert(kThreadIdsOfTheSystem == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
static_assert(kDriverDomain == CUPTI_CB_DOMAIN_DRIVER_API);
static_assert(kRuntimeDomain == CUPTI_CB_DOMAIN_RUNTIME_API);
static_assert(kCallEnter == CUPTI_API_ENTER);
static_assert(kCallExit == CUPTI_API_EXIT);
static_assert(kMarkerStart == CUPTI_ACTIVITY_FLAG_MARKER_START);
static_assert(kMarkerEnd == CUPTI_ACTIVITY_FLAG_MARKER_END);
static_assert(kThreadObject == CUPTI_ACTIVITY_OBJECT_THREAD);
static_assert(kMultipleSubscribers == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
#if CUPTI_API_VERSION >= 26
static_assert(kAttributeBufferPerThread == CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER);
#endif

TEST(CuptiAbi, IsTheVendors) { SUCCEED() << "the comparison is made by the compiler"; }

}  // namespace
}  // namespace stepscope::cupti
