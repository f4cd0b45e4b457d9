#include "tests/support/fake_cupti/fake_cupti.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "collector/sources/cupti/cupti_abi.h"

namespace {

using namespace stepscope::cupti;

constexpr ReturnCode kInvalidKind = 21;
constexpr ReturnCode kMaxLimitReached = 12;
constexpr ReturnCode kInvalidParameter = 1;

struct Buffer {
  std::mutex mutex;
  uint8_t* memory = nullptr;
  size_t bytes = 0;
  size_t used = 0;
};

struct Fake {
  std::mutex mutex;  // of what follows
  RequestFunction request = nullptr;
  CompleteFunction complete = nullptr;
  TimestampFunction timestamp = nullptr;
  std::vector<std::shared_ptr<Buffer>> buffers;  // one for each thread, or one in all
  std::map<uint32_t, uint8_t> attributes = {{kAttributeBufferPerThread, 0}};
  uint32_t thread_id_type = 0;

  std::atomic<uint64_t> kinds = 0;
  std::atomic<uint64_t> kinds_on_at_its_end = 0;
  std::atomic<uint64_t> runtime_ids_off = 0;
  std::atomic<uint64_t> driver_ids_off = 0;
  // Of the subscriber; `call` is null while there is none.
  std::atomic<CallFunction> call = nullptr;
  std::atomic<uint64_t> callbacks[3] = {};  // by domain; bit n: id n
  std::atomic<bool> place_is_taken = false;
  std::atomic<int> times_told = 1;
  std::atomic<bool> refuses_callbacks = false;
  std::atomic<bool> keeps_a_buffer = false;
  std::atomic<bool> copies_are_under_way = false;
  std::atomic<bool> times_copies_with_kernels_only = false;
  std::atomic<uint32_t> finalized_in_callbacks = 0;
  std::atomic<uint32_t> finalized_elsewhere = 0;
  std::atomic<size_t> dropped = 0;
  std::atomic<uint64_t> outstanding = 0;
  std::atomic<uint32_t> next_correlation = 1;
  std::atomic<uint32_t> next_marker = 1;
  std::atomic<uint32_t> cuda = 1300;
  std::atomic<uint32_t> generation = 1;  // counts resets, so that threads forget their buffers
};

Fake& fake() {
  static auto* const kFake = new Fake;
  return *kFake;
}

// Ids of the runtime's functions, as this library numbers them.
constexpr const char* kRuntimeNames[] = {nullptr,
                                         "cudaLaunchKernel_v7000",
                                         "cudaMemcpyAsync_v3020",
                                         "cudaMemsetAsync_v3020",
                                         "cudaGetDevice_v3020",
                                         "cudaStreamSynchronize_v3020",
                                         "cudaGraphLaunch_v10000",
                                         "cudaMalloc_v3020",
                                         "cudaEventQuery_v3020"};
constexpr const char* kDriverNames[] = {nullptr, "cuLaunchKernel", "cuCtxGetCurrent", "cuMemMap",
                                        "cuDeviceGetCount"};

template <typename Names>
uint32_t id_in(const Names& names, std::string_view name) {
  for (uint32_t id = 1; id < std::size(names); ++id) {
    if (std::string_view(names[id]).starts_with(name)) return id;
  }
  return 0;
}
uint32_t runtime_id(std::string_view name) { return id_in(kRuntimeNames, name); }
uint32_t driver_id(std::string_view name) { return id_in(kDriverNames, name); }

struct ThreadState {
  std::shared_ptr<Buffer> buffer;
  uint32_t generation = 0;
  bool in_callback = false;
  uintptr_t stream = 0;  // the argument of the call that is under way
};
thread_local ThreadState this_thread;

uint64_t now() {
  const TimestampFunction timestamp = [] {
    const std::lock_guard lock(fake().mutex);
    return fake().timestamp;
  }();
  if (timestamp != nullptr) return timestamp();
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

size_t size_of(uint32_t kind) {
  const uint32_t cuda = fake().cuda;
  switch (kind) {
    case kConcurrentKernel:
      return cuda >= 1304 ? 248 : cuda >= 1300 ? 216 : cuda >= 1200 ? 208 : 160;
    case kMemcpy:
      return cuda >= 1304 ? 112 : cuda >= 1209 ? 96 : cuda >= 1107 ? 88 : 72;
    case kMemset:
      return cuda >= 1304 ? 104 : cuda >= 1107 ? 88 : 72;
    case kMemcpyPeer:
      return cuda >= 1107 ? 96 : 80;
    case kRuntimeApi:
    case kDriverApi:
      return 40;
    case kOverhead:
      return cuda >= 1209 ? 56 : 40;
    case kMemory:
      return cuda >= 1209 ? 128 : 120;
    case kMarker:
      return 56;
    case kDevice:
      return cuda >= 1304 ? 192 : cuda >= 1209 ? 184 : 176;
    case kContext:
      return cuda >= 1304 ? 40 : cuda >= 1209 ? 32 : 16;
    default:
      return 0;
  }
}

std::shared_ptr<Buffer> buffer_of_this_thread() {
  Fake& all = fake();
  if (this_thread.buffer != nullptr && this_thread.generation == all.generation)
    return this_thread.buffer;
  const std::lock_guard lock(all.mutex);
  const bool shared = all.attributes[kAttributeBufferPerThread] == 0;
  if (!shared || all.buffers.empty()) all.buffers.push_back(std::make_shared<Buffer>());
  this_thread.buffer = shared ? all.buffers.front() : all.buffers.back();
  this_thread.generation = all.generation;
  return this_thread.buffer;
}

void complete(Buffer& buffer) {
  if (buffer.memory == nullptr) return;
  CompleteFunction function = nullptr;
  {
    const std::lock_guard lock(fake().mutex);
    function = fake().complete;
  }
  --fake().outstanding;
  function(nullptr, 0, buffer.memory, buffer.bytes, buffer.used);
  buffer.memory = nullptr;
}

bool request(Buffer& buffer) {
  RequestFunction function = nullptr;
  {
    const std::lock_guard lock(fake().mutex);
    function = fake().request;
  }
  size_t most = 0;
  if (function != nullptr) function(&buffer.memory, &buffer.bytes, &most);
  buffer.used = 0;
  if (buffer.memory == nullptr) return false;
  ++fake().outstanding;
  return true;
}

bool is_on(uint32_t kind) { return (fake().kinds >> kind & 1) != 0; }

template <typename Record>
void set_times(Record& copy) {
  if (fake().times_copies_with_kernels_only && !is_on(kConcurrentKernel)) return;
  copy.start = now();
  copy.end = copy.start + 500;
}

// Appends a record to this thread's buffer: the head that we know and zeroes behind it.
template <typename Record>
void put(const Record& record) {
  const size_t bytes = size_of(record.kind);
  const std::shared_ptr<Buffer> buffer = buffer_of_this_thread();
  const std::lock_guard lock(buffer->mutex);
  if (buffer->memory != nullptr && buffer->used + bytes > buffer->bytes) complete(*buffer);
  if (buffer->memory == nullptr && !request(*buffer)) {
    ++fake().dropped;
    return;
  }
  // What lies behind the head must be zero: the collector promised that the buffer is.
  std::memcpy(buffer->memory + buffer->used, &record, std::min(bytes, sizeof record));
  buffer->used += bytes;
}

uint32_t thread_id() { return static_cast<uint32_t>(::syscall(SYS_gettid)); }

void call_back(uint32_t site, uint32_t domain, uint32_t id, uint32_t correlation,
               uint64_t* between) {
  const CallFunction function = fake().call;
  if (function == nullptr || (fake().callbacks[domain] >> id & 1) == 0) return;
  CallbackData data{};
  data.site = site;
  data.between = between;
  data.parameters = &this_thread.stream;
  data.context_id = 1;
  data.correlation = correlation;
  this_thread.in_callback = true;
  for (int time = 0; time < fake().times_told; ++time) function(nullptr, domain, id, &data);
  this_thread.in_callback = false;
}

// A call of the runtime or of the driver. A launch of the runtime calls the driver inside of it.
uint32_t call(uint32_t kind, uint32_t id, uint64_t start) {
  const uint32_t correlation = fake().next_correlation++;
  const bool runtime = kind == kRuntimeApi;
  const uint32_t domain = runtime ? kRuntimeDomain : kDriverDomain;
  uint64_t between = UINT64_MAX;  // whoever reads it without having written it shall see
  call_back(kCallEnter, domain, id, correlation, &between);
  if (runtime && id == runtime_id("cudaLaunchKernel")) {
    uint64_t inside = UINT64_MAX;
    call_back(kCallEnter, kDriverDomain, driver_id("cuLaunchKernel"), correlation, &inside);
    call_back(kCallExit, kDriverDomain, driver_id("cuLaunchKernel"), correlation, &inside);
  }
  call_back(kCallExit, domain, id, correlation, &between);
  const auto& ids_off = runtime ? fake().runtime_ids_off : fake().driver_ids_off;
  if (is_on(kind) && (ids_off >> id & 1) == 0) {
    ApiRecord record{};
    record.kind = kind;
    record.id = id;
    record.start = start;
    record.end = now();
    record.process = static_cast<uint32_t>(::getpid());
    record.thread = thread_id();
    record.correlation = correlation;
    put(record);
  }
  return correlation;
}

// What CUPTI forgets when it leaves the process.
void forget(Fake& all) {
  all.buffers.clear();
  ++all.generation;
  all.kinds = 0;
  all.runtime_ids_off = 0;
  all.driver_ids_off = 0;
  all.dropped = 0;
  all.outstanding = 0;
  all.timestamp = nullptr;
  all.call = nullptr;
  for (auto& ids : all.callbacks) ids = 0;
  for (auto& [attribute, value] : all.attributes) value = 0;
}

}  // namespace

extern "C" {

void fake_cupti_reset(uint32_t cuda) {
  Fake& all = fake();
  // Buffers that threads have in hand go back first, as they do in the course of time.
  for (const auto& buffer : std::exchange(all.buffers, {})) {
    const std::lock_guard lock(buffer->mutex);
    complete(*buffer);
  }
  const std::lock_guard lock(all.mutex);
  forget(all);
  all.cuda = cuda;
  all.refuses_callbacks = false;
  all.keeps_a_buffer = false;
  all.copies_are_under_way = false;
  all.times_copies_with_kernels_only = false;
  all.place_is_taken = false;
  all.times_told = 1;
  all.finalized_in_callbacks = 0;
  all.finalized_elsewhere = 0;
  all.kinds_on_at_its_end = 0;
}

uint32_t fake_cupti_launch(const FakeLaunch* launch) {
  const uint64_t start = now();
  const uint32_t correlation = call(
      kRuntimeApi, runtime_id(launch->graph != 0 ? "cudaGraphLaunch" : "cudaLaunchKernel"), start);
  if (!is_on(kConcurrentKernel)) return correlation;
  KernelRecord kernel{};
  kernel.kind = kConcurrentKernel;
  kernel.registers = 32;
  kernel.start = launch->duration_ticks == 0 ? 0 : now();
  kernel.end = kernel.start + launch->duration_ticks;
  kernel.device = launch->device;
  kernel.context = 1;
  kernel.stream = launch->stream;
  for (int32_t& extent : kernel.grid) extent = 1;
  for (int32_t& extent : kernel.block) extent = 1;
  kernel.grid[0] = launch->grid;
  kernel.block[0] = 128;
  kernel.static_shared = 1024;
  kernel.dynamic_shared = 2048;
  kernel.correlation = correlation;
  kernel.name = launch->kernel;
  kernel.graph = launch->graph;
  kernel.graph_node = launch->graph_node;
  put(kernel);
  return correlation;
}

uint32_t fake_cupti_call(const char* runtime_name) {
  return call(kRuntimeApi, runtime_id(runtime_name), now());
}

uint32_t fake_cupti_driver_call(const char* driver_name) {
  return call(kDriverApi, driver_id(driver_name), now());
}

uint32_t fake_cupti_copy(uint64_t bytes, uint8_t copy_kind) {
  const uint32_t correlation = call(kRuntimeApi, runtime_id("cudaMemcpyAsync"), now());
  if (!is_on(kMemcpy)) return correlation;
  MemcpyRecord copy{};
  copy.kind = kMemcpy;
  copy.copy_kind = copy_kind;
  copy.from = 2;
  copy.to = 3;
  copy.bytes = bytes;
  set_times(copy);
  copy.context = 1;
  copy.stream = 7;
  copy.correlation = correlation;
  put(copy);
  return correlation;
}

uint32_t fake_cupti_memset(uint64_t bytes) {
  const uint32_t correlation = call(kRuntimeApi, runtime_id("cudaMemsetAsync"), now());
  if (!is_on(kMemset)) return correlation;
  MemsetRecord set{};
  set.kind = kMemset;
  set.bytes = bytes;
  set_times(set);
  set.context = 1;
  set.stream = 7;
  set.correlation = correlation;
  set.memory_kind = 3;
  put(set);
  return correlation;
}

void fake_cupti_allocate(uint64_t address, int64_t bytes) {
  const uint32_t correlation = call(kRuntimeApi, runtime_id("cudaMalloc"), now());
  if (!is_on(kMemory)) return;
  MemoryRecord memory{};
  memory.kind = kMemory;
  memory.operation = bytes < 0 ? 2 : 1;
  memory.memory_kind = 3;
  memory.correlation = correlation;
  memory.address = address;
  memory.bytes = static_cast<uint64_t>(bytes < 0 ? -bytes : bytes);
  memory.timestamp = now();
  memory.context = 1;
  memory.stream = UINT32_MAX;
  put(memory);
}

void fake_cupti_synchronize(uint32_t stream) {
  this_thread.stream = stream;
  call(kRuntimeApi, runtime_id("cudaStreamSynchronize"), now());
}

uint32_t fake_cupti_nvtx_push(const char* name, const char* domain) {
  const uint32_t id = fake().next_marker++;
  if (!is_on(kMarker)) return id;
  MarkerRecord marker{};
  marker.kind = kMarker;
  marker.flags = kMarkerStart;
  marker.timestamp = now();
  marker.id = id;
  marker.object_kind = kThreadObject;
  marker.thread = thread_id();
  marker.name = name;
  marker.domain = domain;
  put(marker);
  return id;
}

void fake_cupti_nvtx_pop(uint32_t id) {
  if (!is_on(kMarker)) return;
  MarkerRecord marker{};
  marker.kind = kMarker;
  marker.flags = kMarkerEnd;
  marker.timestamp = now();
  marker.id = id;
  marker.object_kind = kThreadObject;
  marker.thread = thread_id();
  put(marker);
}

void fake_cupti_take_subscribers_place(int taken) { fake().place_is_taken = taken != 0; }
void fake_cupti_tell_of_calls(int times) { fake().times_told = times; }
void fake_cupti_refuse_callbacks(int refused) { fake().refuses_callbacks = refused != 0; }
void fake_cupti_keep_a_buffer(int kept) { fake().keeps_a_buffer = kept != 0; }

void fake_cupti_keep_copies_under_way(int kept) { fake().copies_are_under_way = kept != 0; }
uint32_t fake_cupti_finalized_in_callbacks() { return fake().finalized_in_callbacks; }
uint32_t fake_cupti_finalized_elsewhere() { return fake().finalized_elsewhere; }
void fake_cupti_switch(uint32_t kind, int on) {
  const uint64_t bit = uint64_t{1} << kind;
  on != 0 ? fake().kinds |= bit : fake().kinds &= ~bit;
}
void fake_cupti_time_copies_with_kernels_only(int only) {
  fake().times_copies_with_kernels_only = only != 0;
}
int fake_cupti_has_subscriber() { return fake().call != nullptr; }
uint64_t fake_cupti_enabled_kinds() { return fake().kinds; }
uint64_t fake_cupti_enabled_callbacks() {
  return fake().callbacks[kRuntimeDomain] | fake().callbacks[kDriverDomain];
}
uint64_t fake_cupti_kinds_on_at_its_end() { return fake().kinds_on_at_its_end; }
uint64_t fake_cupti_buffers_outstanding() { return fake().outstanding; }
uint8_t fake_cupti_attribute(uint32_t attribute) {
  const std::lock_guard lock(fake().mutex);
  return fake().attributes[attribute];
}

// --- the vendor's functions ---------------------------------------------------------------------

ReturnCode cuptiGetVersion(uint32_t* version) {
  *version = fake().cuda * 100;
  return kSuccess;
}

ReturnCode cuptiActivityRegisterCallbacks(RequestFunction request, CompleteFunction complete) {
  if (fake().refuses_callbacks) return kInvalidParameter;
  const std::lock_guard lock(fake().mutex);
  fake().request = request;
  fake().complete = complete;
  return kSuccess;
}

ReturnCode cuptiActivityRegisterTimestampCallback(TimestampFunction timestamp) {
  if (fake().cuda < 1106) return kInvalidParameter;
  const std::lock_guard lock(fake().mutex);
  fake().timestamp = timestamp;
  return kSuccess;
}

ReturnCode cuptiActivityEnable(uint32_t kind) {
  if (size_of(kind) == 0) return kInvalidKind;
  fake().kinds |= uint64_t{1} << kind;
  return kSuccess;
}

ReturnCode cuptiActivityEnableAndDump(uint32_t kind) {
  if (cuptiActivityEnable(kind) != kSuccess) return kInvalidKind;
  if (kind == kDevice) {
    DeviceRecord device{};
    device.kind = kDevice;
    device.memory_bytes = 150'000'000'000;
    device.threads_per_warp = 32;
    device.core_clock_khz = 1'980'000;
    device.multiprocessors = 132;
    device.warps_per_multiprocessor = 64;
    device.blocks_per_multiprocessor = 32;
    device.shared_per_multiprocessor = 233'472;
    device.registers_per_multiprocessor = 65'536;
    device.compute_major = 9;
    device.name = "NVIDIA Fake";
    put(device);
  } else if (kind == kContext) {
    ContextRecord context{};
    context.kind = kContext;
    context.context = 1;
    put(context);
  }
  return kSuccess;
}

ReturnCode cuptiActivityDisable(uint32_t kind) {
  fake().kinds &= ~(uint64_t{1} << kind);
  if (kind == kRuntimeApi) fake().runtime_ids_off = 0;
  if (kind == kDriverApi) fake().driver_ids_off = 0;
  return kSuccess;
}

// Without the kind nothing is recorded, whatever single functions are switched on: so does 13.0.
ReturnCode cuptiActivityEnableRuntimeApi(uint32_t id, uint8_t on) {
  if (fake().cuda < 1205) return kInvalidParameter;
  if (on == 0) fake().runtime_ids_off |= uint64_t{1} << id;
  return kSuccess;
}

ReturnCode cuptiActivityEnableDriverApi(uint32_t id, uint8_t on) {
  if (on == 0) fake().driver_ids_off |= uint64_t{1} << id;
  return kSuccess;
}

ReturnCode cuptiActivityFlushAll(uint32_t flag) {
  if (fake().copies_are_under_way && flag != kFlushForced) return kSuccess;
  std::vector<std::shared_ptr<Buffer>> buffers;
  {
    const std::lock_guard lock(fake().mutex);
    buffers = fake().buffers;
  }
  for (const auto& buffer : buffers) {
    const std::lock_guard lock(buffer->mutex);
    if (buffer->used > 0) complete(*buffer);
    if (buffer->memory == nullptr && fake().keeps_a_buffer) request(*buffer);
  }
  return kSuccess;
}

ReturnCode cuptiActivityGetNextRecord(uint8_t* buffer, size_t bytes, Activity** record) {
  size_t at = 0;
  if (*record != nullptr) {
    at = static_cast<size_t>(reinterpret_cast<uint8_t*>(*record) - buffer) +
         size_of((*record)->kind);
  }
  if (at >= bytes) return kMaxLimitReached;
  auto* const next = reinterpret_cast<Activity*>(buffer + at);
  if (size_of(next->kind) == 0 || at + size_of(next->kind) > bytes) return kInvalidKind;
  *record = next;
  return kSuccess;
}

ReturnCode cuptiActivityGetNumDroppedRecords(void*, uint32_t, size_t* count) {
  *count = fake().dropped.exchange(0);
  return kSuccess;
}

ReturnCode cuptiGetTimestamp(uint64_t* time) {
  *time = now();
  return kSuccess;
}

ReturnCode cuptiGetCallbackName(uint32_t domain, uint32_t id, const char** name) {
  const bool runtime = domain == kRuntimeDomain;
  const size_t count = runtime ? std::size(kRuntimeNames) : std::size(kDriverNames);
  if (id == 0 || id >= count) return kInvalidParameter;
  *name = runtime ? kRuntimeNames[id] : kDriverNames[id];
  return kSuccess;
}

ReturnCode cuptiGetResultString(ReturnCode, const char** text) {
  *text = "FAKE_ERROR";
  return kSuccess;
}

ReturnCode cuptiActivitySetAttribute(uint32_t attribute, size_t*, void* value) {
  const std::lock_guard lock(fake().mutex);
  const auto found = fake().attributes.find(attribute);
  if (found == fake().attributes.end()) return kInvalidParameter;
  std::memcpy(&found->second, value, 1);
  return kSuccess;
}

ReturnCode cuptiActivityGetAttribute(uint32_t attribute, size_t*, void* value) {
  const std::lock_guard lock(fake().mutex);
  const auto found = fake().attributes.find(attribute);
  if (found == fake().attributes.end()) return kInvalidParameter;
  std::memcpy(value, &found->second, 1);
  return kSuccess;
}

ReturnCode cuptiSetThreadIdType(uint32_t type) {
  const std::lock_guard lock(fake().mutex);
  fake().thread_id_type = type;
  return kSuccess;
}

ReturnCode cuptiGetThreadIdType(uint32_t* type) {
  const std::lock_guard lock(fake().mutex);
  *type = fake().thread_id_type;
  return kSuccess;
}

ReturnCode cuptiSubscribe(void** subscriber, CallFunction call, void*) {
  CallFunction none = nullptr;
  if (fake().place_is_taken || !fake().call.compare_exchange_strong(none, call))
    return kMultipleSubscribers;
  *subscriber = &fake();
  return kSuccess;
}

ReturnCode cuptiUnsubscribe(void* subscriber) {
  if (subscriber != &fake()) return kInvalidParameter;
  fake().call = nullptr;
  for (auto& ids : fake().callbacks) ids = 0;
  return kSuccess;
}

ReturnCode cuptiEnableCallback(uint32_t on, void* subscriber, uint32_t domain, uint32_t id) {
  if (subscriber != &fake() || fake().call == nullptr || domain > 2) return kInvalidParameter;
  if (on != 0) {
    fake().callbacks[domain] |= uint64_t{1} << id;
  } else {
    fake().callbacks[domain] &= ~(uint64_t{1} << id);
  }
  return kSuccess;
}

ReturnCode cuptiGetStreamIdEx(void*, void* stream, uint8_t, uint32_t* id) {
  *id = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(stream));
  return kSuccess;
}

ReturnCode cuptiFinalize() {
  ++(this_thread.in_callback ? fake().finalized_in_callbacks : fake().finalized_elsewhere);
  const std::lock_guard lock(fake().mutex);
  fake().kinds_on_at_its_end = fake().kinds.load();
  forget(fake());
  return kSuccess;
}

// The driver's.
int cuDeviceGetCount(int* count) {
  *count = 1;
  call(kDriverApi, driver_id("cuDeviceGetCount"), now());
  return 0;
}
}
