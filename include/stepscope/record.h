// Recording from C and C++: ranges, marks, counters, arrows, steps.
//
//   #include <stepscope/record.h>               // link libstepscope_collector
//
//   stepscope_start("run", NULL);               // or Profiler / `stepscope record` from outside
//   for (int step = 1; step <= 100; ++step) {
//     stepscope_step(step);
//     STEPSCOPE_SCOPE("forward");               // C++: from here to the end of the block
//     ...
//   }
//   stepscope_stop();
//
// A range costs two reads of the time-stamp counter and 16 bytes written to the thread's own ring;
// while nothing is recording, one load and one branch. It never throws, blocks, allocates or makes
// a system call (a thread's first range does, once, to get its ring). When the ring is full because
// the disk is slow or a budget is used up, the range is counted instead of kept. Not for signal
// handlers: one that records while its own thread is writing a record damages that record.
//
// C11 and C++11 and later.
#ifndef STEPSCOPE_RECORD_H_
#define STEPSCOPE_RECORD_H_

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#elif !defined(__aarch64__)
#include <time.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define STEPSCOPE_API __attribute__((visibility("default")))

// What a record is. The numbers are part of the raw format (docs/formats/raw.md).
enum stepscope_kind {
  STEPSCOPE_USER = 0,        // a range that the user named
  STEPSCOPE_OPERATOR = 1,    // an operator of the framework
  STEPSCOPE_MODULE = 2,      // a layer of the model
  STEPSCOPE_PYTHON = 3,      // a Python function
  STEPSCOPE_PIPELINE = 4,    // a stage of the input pipeline
  STEPSCOPE_RUNTIME = 5,     // a call of the device's runtime
  STEPSCOPE_COLLECTIVE = 6,  // a collective's host call
  STEPSCOPE_MARK = 16,
  STEPSCOPE_COUNTER = 17,
  STEPSCOPE_FLOW_START = 18,
  STEPSCOPE_FLOW_END = 19,
  // A step begins; ends the one before. Values: its number, and 1 where nobody marked its beginning
  // and it is a step only if anything was recorded in it.
  STEPSCOPE_STEP = 20,
  STEPSCOPE_STEP_END = 21,
  // An allocation or release: value1 is the address, value2 the bytes (negative: released). The
  // duration field holds the total allocated afterwards, the name field the device: torch's number
  // of the device type << 8 | index + 1. If the allocator holds memory in reserve, the amount
  // follows as value1 of a MEMORY_RESERVED record with the same time and device.
  STEPSCOPE_MEMORY = 22,
  STEPSCOPE_STACK = 23,       // a sampled stack: value1 is its innermost node, value2 its thread
  STEPSCOPE_STACK_NODE = 24,  // a stack seen for the first time: name is the frame, value1 the
                              // node's number, value2 the number of the node around it (0: none)
  STEPSCOPE_MEMORY_RESERVED = 25,  // see STEPSCOPE_MEMORY
  // Queues of the input pipeline: name is the stage that fills the queue, value1 the items in it
  // (UINT64_MAX: unknown), value2 the item's number plus one (0: unknown). The duration is how long
  // a consumer waited for the item, or a producer for room.
  STEPSCOPE_QUEUE_SIZE = 26,
  STEPSCOPE_QUEUE_GET = 27,
  STEPSCOPE_QUEUE_PUT = 28,
  // A call of a device's runtime or driver. value1: the correlation id; from bit 32 on, for a call
  // that waits for a stream, that stream's id plus one. value2: bit 0 set for a driver call; from
  // bit 8 on, what the call waits for (CUPTI's number); from bit 32 on, the context. In the file it
  // is a row of its own table.
  STEPSCOPE_DEVICE_CALL = 32,
  // Flags above the number:
  STEPSCOPE_LONG = 1 << 14,   // a slot with the whole duration follows
  STEPSCOPE_VALUES = 1 << 15  // a slot with two values follows
};

// A slot of the ring. `when`: the low 48 bits of the ticks at the start, shifted above 16 of kind.
typedef struct {
  uint64_t when;
  uint32_t duration;
  uint32_t name;
} stepscope_record;

// What a thread and the writer share: the thread writes `head` and the records before it, the
// writer `tail`. Each has a cache line of its own.
typedef struct stepscope_ring {
  uint64_t head;
  uint64_t not_recorded;
  uint64_t unused[6];
  uint64_t tail;
  stepscope_record* records;
  uint64_t mask;
} stepscope_ring;

// The thread's private half. Everything a record needs is here, so that no pointer is followed
// before the slot is known.
typedef struct stepscope_thread_state {
  stepscope_record* records;
  uint64_t mask;
  uint64_t head;
  uint64_t room_until;  // how far head may go before `tail` must be read again; 0: no ring yet
  stepscope_ring* ring;
} stepscope_thread_state;

// 0 while nothing records.
extern STEPSCOPE_API uint32_t stepscope_recording;
extern STEPSCOPE_API __thread stepscope_thread_state stepscope_thread
    __attribute__((tls_model("initial-exec")));

// Options of a recording; a field that is 0 means the default. Set `size` to sizeof: later versions
// add fields at the end.
typedef struct {
  size_t size;
  int64_t rank;
  uint32_t max_host_mb;         // memory of rings and buffers; default 256
  uint32_t max_disk_mb;         // of this recording; default 10240
  uint32_t min_free_mb;         // stop when the disk has less than this free; default 1024
  uint32_t ring_kb;             // of each thread; default 4096, room for 262,144 records
  uint32_t system_interval_ms;  // between samples of processor, memory, disk and network; 0: none
  uint32_t gpu_tier;            // NVIDIA GPUs: 0 nothing, 1 pulse, 2 kernels, 3 full
  // Ascend NPUs, recorded by CANN into a folder PROF_... of the run's folder.
  uint32_t npu_level;    // 0 nothing, 1 marks, 2 Level0, 3 Level1, 4 Level2
  uint32_t npu_metrics;  // counters of the cores: 0 none, else CANN's number of the group plus 1
  uint32_t npu_data;     // bits of stepscope_npu_data
  uint32_t npu_device;   // used when the starting thread has not chosen a device itself
} stepscope_options;

// What else of an NPU is recorded; the names are those of Profiler's parameters.
enum stepscope_npu_data {
  STEPSCOPE_NPU_L2_CACHE = 1 << 0,
  STEPSCOPE_NPU_MEMORY = 1 << 1,  // profile_memory
  STEPSCOPE_NPU_MSTX = 1 << 2,
  STEPSCOPE_NPU_HBM_DDR = 1 << 3,
  STEPSCOPE_NPU_PCIE = 1 << 4,
  STEPSCOPE_NPU_IO = 1 << 5,               // sys_io
  STEPSCOPE_NPU_INTERCONNECTION = 1 << 6,  // sys_interconnection
  // host_sys:
  STEPSCOPE_NPU_HOST_CPU = 1 << 8,
  STEPSCOPE_NPU_HOST_MEMORY = 1 << 9,
  STEPSCOPE_NPU_HOST_DISK = 1 << 10,
  STEPSCOPE_NPU_HOST_NETWORK = 1 << 11,
  STEPSCOPE_NPU_HOST_OSRT = 1 << 12
};

// Opens a recording in `folder`, which must exist and hold no other recording. Returns 0, or -1 on
// failure; stepscope_last_error() then says why, until this thread's next failure. In a program run
// by `stepscope record`, which is being recorded already, everything goes into that recording: the
// folder and the options are not used, and stepscope_stop() does not end it.
STEPSCOPE_API int stepscope_start(const char* folder, const stepscope_options* options);
// Watching: events are recorded, but nothing is written. The last seconds are kept in memory; when
// a rule fires, they and some further steps or seconds are written to the folder of a new run,
// which says why it exists. A field that is 0 means the default, or that the rule is off.
typedef int (*stepscope_stacks_function)(int file, const int* given_up);
typedef struct {
  size_t size;              // sizeof
  uint32_t keep_ms;         // before the last step; default 10,000
  uint32_t keep_mb;         // of memory, compressed; at most half of max_host_mb; default 64
  uint32_t capture_steps;   // recorded after the trigger; default 5,
  uint32_t capture_ms;      // or until this much time has passed; default 30,000
  double slow_factor;       // rule: steps longer than this times the median of the 63 before,
  uint32_t slow_steps;      // this many in a row; default 3
  uint32_t no_progress_ms;  // rule: no step begins or ends for this long, once one has begun
  uint32_t signals;         // rule: one of these arrives; bit n: signal n
  uint32_t most_captures;   // within `within_s`, not counting signals; default 3
  uint32_t within_s;        // default 3,600
  // Writes the program's stacks to a file, on a stall, SIGTERM or SIGABRT. First called on a thread
  // of its own, where it may wait; it must do nothing once *given_up is not 0. If that takes too
  // long it is called again with a null pointer, and must not wait.
  stepscope_stacks_function stacks;
} stepscope_watch_options;

// Watches until stepscope_stop(), whose figures then have "captures". Each capture gets its own
// folder in `output`, which is made when it is needed. Steps are those of stepscope_step().
STEPSCOPE_API int stepscope_watch(const char* output, const stepscope_watch_options* rules,
                                  const stepscope_options* options);
// Captures for a reason only the program knows: `kind` is a word for it ("allocation_failure"),
// `what` a sentence. Does not wait. -1 when nothing is watched.
STEPSCOPE_API int stepscope_trigger(const char* kind, const char* what);
// A JSON array of what was captured: folder, kind, what, complete, stopped_by (the limit or disk
// that ended it early; it is then never complete), not_recorded. Valid until this thread's next
// call.
STEPSCOPE_API const char* stepscope_captures(void);

// Does ahead of time what a start with the same options takes time for: prepares memory, loads the
// GPU vendor's library. Part of the memory budget is in use from here on, until
// stepscope_unprepare().
STEPSCOPE_API void stepscope_prepare(const stepscope_options* options);
STEPSCOPE_API void stepscope_unprepare(void);
// Starts a recording if the environment asks for one, as `stepscope record` makes it ask:
// STEPSCOPE_OUTPUT is where the run's folder goes, STEPSCOPE_TIER the gpu_tier in words. `with_gpu`
// is 1 if the program uses CUDA by now; a recording that is running already then gets the GPU
// added. Returns 1 when something was started, 0 when there was nothing to do, -1 on failure. The
// library calls it when it is loaded, the injected one when CUDA is.
STEPSCOPE_API int stepscope_start_from_environment(int with_gpu);
// For a profiler that joins a recording started from the environment: records the NPU as the npu_
// fields of the options say, from here to stepscope_end_npu() or the end of that recording.
// Returns 0, or -1 when it cannot or does so already. Both wait for CANN, which may take seconds.
STEPSCOPE_API int stepscope_begin_npu(const stepscope_options* options);
STEPSCOPE_API void stepscope_end_npu(void);
// Writes what is left and closes the file. Returns the recording's figures as JSON (events,
// not_recorded, threads, bytes, seconds, writer_cpu_seconds, stopped_by, lost_because, problems),
// valid until this thread's next call; "{}" when nothing was recording, {"joined":1} under
// `stepscope record`. Waits 5 s for a disk that does not respond, and 30 s in all for a slow one;
// then "left_behind" is 1, and no other recording starts until that disk has responded.
STEPSCOPE_API const char* stepscope_stop(void);
STEPSCOPE_API const char* stepscope_last_error(void);
// What was asked for and, as far as is known now, will be missing from the current recording, for
// example because a library is not installed: a JSON array of sentences, valid until this thread's
// next call.
STEPSCOPE_API const char* stepscope_problems(void);
// The folder of the raw file when the current recording was started from the environment: others
// that want to record this process join that one. "" otherwise. Valid until this thread's next
// call.
STEPSCOPE_API const char* stepscope_outer_folder(void);
// Waits until everything recorded before the call is in the file, for readers that cannot wait for
// the end. Returns 0, or -1 when nothing is recording, when the writer needs more than ten seconds,
// or when a limit or the disk has ended the writing.
STEPSCOPE_API int stepscope_flush(void);

// The id of a name, for as long as the process lives. Takes a lock; keep the id.
STEPSCOPE_API uint32_t stepscope_name(const char* text, size_t length);
// A fact about the run, kept with it: `json` is any JSON value; anything else is counted as lost.
STEPSCOPE_API void stepscope_metadata(const char* key, const char* json);
// A step begins, which ends the one before. The whole process has one sequence of steps.
STEPSCOPE_API void stepscope_step(int64_t number);
STEPSCOPE_API void stepscope_end_step(void);

// Queues a folder that MindSpore's CPU profiler has just written (in its stop()). Another thread
// reads and removes it, and also the folder around it if that is called stepscope-mindspore-* and
// is then empty. The times are CLOCK_REALTIME around the window; memory records outside of them
// belong to earlier windows. Returns -1 when it will not be read; if that is because nothing is
// recording, the folder is left in place.
enum stepscope_mindspore_content {
  STEPSCOPE_MINDSPORE_SHAPES = 1,  // read the shapes of the operators' inputs
  STEPSCOPE_MINDSPORE_MEMORY = 2   // read the memory records
};
STEPSCOPE_API int stepscope_import_mindspore_window(const char* folder, int64_t realtime_from_ns,
                                                    int64_t realtime_to_ns, uint32_t what);

// Ranges for languages that cannot use the inline functions: the start, which is 0 while nothing is
// recording, and the end of the range that began there.
STEPSCOPE_API uint64_t stepscope_now(void);
STEPSCOPE_API void stepscope_end_range(uint64_t start, uint32_t kind, uint32_t name);

// The input pipeline: stages in the order of the data, each with the queue that it fills.
//
// Describe a stage once; later recordings know it too:
//
//   stepscope_stage_options about = {sizeof about, "map", 4, 16, read_stage};
//   decode = stepscope_stage("decode", 6, &about);
//
// Then, around making an item, and around taking one from its queue:
//
//   start = stepscope_now();
//   stepscope_end_range(start, STEPSCOPE_PIPELINE, decode);
//   start = stepscope_now();
//   stepscope_queue_get(start, decode, size_before, number);
//
// Each costs a call and 32 bytes of the thread's ring; while nothing is recording, just the call.
typedef struct {
  size_t size;        // sizeof
  const char* kind;   // what it does: "read", "map", "batch" ...; NULL: unknown
  uint32_t workers;   // threads or processes that work for it; 0: unknown
  uint32_t capacity;  // of its queue; 0: it has none
  uint32_t input;     // the stage that it takes from; 0: it is the first
} stepscope_stage_options;

// Describes a stage, or changes the description, and returns its id, which is that of its name. At
// most 1,024 are described: further ones are recorded by their name alone.
STEPSCOPE_API uint32_t stepscope_stage(const char* name, size_t length,
                                       const stepscope_stage_options* options);
// A further input of a stage, for example of one that zips.
STEPSCOPE_API void stepscope_stage_input(uint32_t stage, uint32_t input);
// Counts the processor time of a thread (by its kernel id) or process as the stage's; 0: the
// calling thread.
STEPSCOPE_API void stepscope_stage_worker(uint32_t stage, int64_t task);
// Later recordings no longer know the stage.
STEPSCOPE_API void stepscope_end_stage(uint32_t stage);

// A sample of the queue. UINT64_MAX: size unknown; -1: an item without a number.
STEPSCOPE_API void stepscope_queue_size(uint32_t stage, uint64_t items);
STEPSCOPE_API void stepscope_queue_get(uint64_t start, uint32_t stage, uint64_t items,
                                       int64_t number);
STEPSCOPE_API void stepscope_queue_put(uint64_t start, uint32_t stage, uint64_t items,
                                       int64_t number);

// Worker processes record into the recording of the process that started them. The parent asks for
// an address (NULL: not possible here) before it starts them and hands it over, with the ids of
// stages and names. A worker joins once; from then on stepscope_now(), stepscope_end_range() and
// stepscope_queue_*() record on the joining thread, for as long as the parent does. Name 0 is the
// stage that the parent assigned the worker to. A worker has room for 2,048 records, emptied twenty
// times a second; 64 can be joined at once. Works after fork and after exec.
STEPSCOPE_API const char* stepscope_worker_address(void);
STEPSCOPE_API int stepscope_join(const char* address);

// A function of the GPU vendor's profiling library in use, or NULL.
STEPSCOPE_API void* stepscope_vendor_function(const char* name);

// The slow path, not to be called directly: gets this thread a ring, or room in it. Returns 0 when
// there is none; the record is then counted as not recorded.
STEPSCOPE_API int stepscope_make_room(void);

enum { STEPSCOPE_MOST_SLOTS = 3 };  // of one record

static inline uint64_t stepscope_ticks(void) {
#if defined(__x86_64__)
  return __rdtsc();
#elif defined(__aarch64__)
  uint64_t ticks;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
#endif
}

static inline int stepscope_is_recording(void) {
  return __atomic_load_n(&stepscope_recording, __ATOMIC_RELAXED) != 0;
}

// Writes one record, followed by the two values if `kind` has STEPSCOPE_VALUES.
static inline void stepscope_put(uint64_t start, uint64_t duration, uint32_t kind, uint32_t name,
                                 uint64_t value1, uint64_t value2) {
  stepscope_thread_state* const thread = &stepscope_thread;
  if (__builtin_expect(thread->head + STEPSCOPE_MOST_SLOTS > thread->room_until, 0)) {
    if (!stepscope_make_room()) return;
  }
  uint64_t head = thread->head;
  stepscope_record* const slot = &thread->records[head++ & thread->mask];
  stepscope_record record;
  record.name = name;
  if (__builtin_expect(duration >= UINT32_MAX, 0)) {
    kind |= STEPSCOPE_LONG;
    memcpy(&thread->records[head++ & thread->mask], &duration, sizeof duration);
    record.duration = UINT32_MAX;
  } else {
    record.duration = (uint32_t)duration;
  }
  if (kind & STEPSCOPE_VALUES) {
    const uint64_t values[2] = {value1, value2};
    memcpy(&thread->records[head++ & thread->mask], values, sizeof values);
  }
  record.when = start << 16 | kind;
  *slot = record;
  thread->head = head;
  __atomic_store_n(&thread->ring->head, head, __ATOMIC_RELEASE);
}

// A range that began at `start` (stepscope_ticks()) ends now.
static inline void stepscope_range(uint64_t start, uint32_t kind, uint32_t name) {
  stepscope_put(start, stepscope_ticks() - start, kind, name, 0, 0);
}

static inline void stepscope_mark(uint32_t name) {
  if (stepscope_is_recording()) stepscope_put(stepscope_ticks(), 0, STEPSCOPE_MARK, name, 0, 0);
}

static inline void stepscope_counter(uint32_t name, double value) {
  uint64_t bits;
  if (!stepscope_is_recording()) return;
  memcpy(&bits, &value, sizeof bits);
  stepscope_put(stepscope_ticks(), 0, STEPSCOPE_COUNTER | STEPSCOPE_VALUES, name, bits, 0);
}

// The two ends of an arrow have the same name and id. An end belongs to the range around it.
static inline void stepscope_flow(uint32_t kind, uint32_t name, uint64_t id) {
  if (!stepscope_is_recording()) return;
  stepscope_put(stepscope_ticks(), 0, kind | STEPSCOPE_VALUES, name, id, 0);
}

#ifdef __cplusplus
}  // extern "C"

namespace stepscope {

// A range from here to the end of the block.
class Scope {
 public:
  explicit Scope(uint32_t name, uint32_t kind = STEPSCOPE_USER)
      : start_(stepscope_is_recording() ? stepscope_ticks() : 0), name_(name), kind_(kind) {}
  // `name` is called only while recording.
  template <typename Name>
  explicit Scope(Name name) : start_(0), name_(0), kind_(STEPSCOPE_USER) {
    if (!stepscope_is_recording()) return;
    name_ = name();
    start_ = stepscope_ticks();
  }
  ~Scope() {
    if (start_ != 0) stepscope_range(start_, kind_, name_);
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  uint64_t start_;
  uint32_t name_;
  uint32_t kind_;
};

}  // namespace stepscope

#define STEPSCOPE_JOIN_(a, b) a##b
#define STEPSCOPE_JOIN(a, b) STEPSCOPE_JOIN_(a, b)
// The name must be a literal: its id is looked up once for each place in the program.
// (Not a guarded static: a child forked while another thread is initialising it would hang.)
#define STEPSCOPE_SCOPE(name)                                              \
  const ::stepscope::Scope STEPSCOPE_JOIN(stepscope_scope_, __LINE__)([] { \
    static uint32_t known = 0;                                             \
    uint32_t id = __atomic_load_n(&known, __ATOMIC_RELAXED);               \
    if (id == 0) {                                                         \
      id = stepscope_name(name, sizeof(name) - 1);                         \
      __atomic_store_n(&known, id, __ATOMIC_RELAXED);                      \
    }                                                                      \
    return id;                                                             \
  })
#endif

#endif  // STEPSCOPE_RECORD_H_
