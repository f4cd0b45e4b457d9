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
// Cost of a range: two reads of the processor's time-stamp counter and 16 bytes written to a ring
// of the thread's own. While nothing records: one load and one branch. Nothing here throws, blocks,
// allocates or makes a system call on the way of a range; when the ring is full because the disk or
// the budget is, the range is counted instead of kept. A thread's first range attaches the thread.
// Not for signal handlers: one that interrupts a record of its thread damages that thread's.
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
  STEPSCOPE_STEP = 20,  // a step begins; ends the one before
  STEPSCOPE_STEP_END = 21,
  // What an allocator did: value1 is the address, value2 the bytes (negative: freed). The total
  // that is allocated then stands in place of the duration, and the device in place of the name:
  // torch's number of its type << 8 | index + 1. What the allocator holds in reserve, where that is
  // not 0, follows as value1 of a record of its own with the same time and device.
  STEPSCOPE_MEMORY = 22,
  STEPSCOPE_STACK = 23,       // a sampled stack: value1 is its innermost node, value2 its thread
  STEPSCOPE_STACK_NODE = 24,  // a stack seen for the first time: name is the frame, value1 the
                              // node's number, value2 the number of the node around it (0: none)
  STEPSCOPE_MEMORY_RESERVED = 25,  // see STEPSCOPE_MEMORY
  // Queues of the input pipeline: name is the stage that fills the queue, value1 the items in it
  // (UINT64_MAX: not known), value2 the number of the item plus one (0: not known). The duration is
  // how long a consumer waited for the item, or a producer for room.
  STEPSCOPE_QUEUE_SIZE = 26,
  STEPSCOPE_QUEUE_GET = 27,
  STEPSCOPE_QUEUE_PUT = 28,
  // A call of a device's runtime or driver. value1: its correlation, and above 32 bits the stream
  // plus one of a call that waits for one. value2: 1 of the driver, above 8 bits what the call
  // waits for (CUPTI's number), above 32 the context. In the file it is a row of a table of its
  // own.
  STEPSCOPE_DEVICE_CALL = 32,
  // Flags above the number:
  STEPSCOPE_LONG = 1 << 14,   // a slot with the whole duration follows
  STEPSCOPE_VALUES = 1 << 15  // a slot with two values follows
};

// A slot of the ring. `when` is the low 48 bits of the ticks at the start, above 16 bits of kind.
typedef struct {
  uint64_t when;
  uint32_t duration;
  uint32_t name;
} stepscope_record;

// What a thread and the writer share: the owner writes `head` and what lies before it, the writer
// `tail`, each on a cache line of its own.
typedef struct stepscope_ring {
  uint64_t head;
  uint64_t not_recorded;
  uint64_t unused[6];
  uint64_t tail;
  stepscope_record* records;
  uint64_t mask;
} stepscope_ring;

// The thread's own half of it. Everything that a record needs is here: no pointer is followed
// before the slot is known.
typedef struct stepscope_thread_state {
  stepscope_record* records;
  uint64_t mask;
  uint64_t head;
  uint64_t room_until;  // head may go up to here before `tail` must be looked at; 0: no ring yet
  stepscope_ring* ring;
} stepscope_thread_state;

// 0 while nothing records.
extern STEPSCOPE_API uint32_t stepscope_recording;
extern STEPSCOPE_API __thread stepscope_thread_state stepscope_thread
    __attribute__((tls_model("initial-exec")));

// What may be chosen; a field that is 0 means the default. Set `size` to sizeof: later versions add
// fields at the end.
typedef struct {
  size_t size;
  int64_t rank;
  uint32_t max_host_mb;         // memory of rings and buffers; default 256
  uint32_t max_disk_mb;         // of this recording; default 10240
  uint32_t min_free_mb;         // that the disk must keep; default 1024
  uint32_t ring_kb;             // of each thread; default 4096, which are 262,144 records
  uint32_t system_interval_ms;  // between samples of processor, memory, disk and network; 0: none
  uint32_t gpu_tier;            // NVIDIA GPUs: 0 nothing, 1 pulse, 2 kernels, 3 full
  // Ascend NPUs, recorded by CANN into a folder PROF_... of the run's folder.
  uint32_t npu_level;    // 0 nothing, 1 marks, 2 Level0, 3 Level1, 4 Level2
  uint32_t npu_metrics;  // counters of the cores: 0 none, else CANN's number of the group plus 1
  uint32_t npu_data;     // bits of stepscope_npu_data
  uint32_t npu_device;   // where the thread that starts has chosen none
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

// Opens a recording in `folder`, which must exist and hold no other recording. Returns 0, or -1
// when it cannot; stepscope_last_error() then has the sentence, until this thread's next failure. A
// program that `stepscope record` runs is being recorded already: what it records goes there, the
// folder and the options are not used, and stepscope_stop() leaves that recording alone.
STEPSCOPE_API int stepscope_start(const char* folder, const stepscope_options* options);
// Watching: recording is on, but nothing is written. The last seconds are kept in memory, and when
// something happens they go into a new run's folder, with what is recorded for some steps or
// seconds more; the run says why. A field that is 0 means the default, or that the rule is off.
typedef int (*stepscope_stacks_function)(int file, const int* given_up);
typedef struct {
  size_t size;              // sizeof
  uint32_t keep_ms;         // before the last step; default 10,000
  uint32_t keep_mb;         // of memory, compressed; at most half of max_host_mb; default 64
  uint32_t capture_steps;   // behind the trigger, default 5,
  uint32_t capture_ms;      // or so long, default 30,000
  double slow_factor;       // rule: steps of more than that times the median of 63 before,
  uint32_t slow_steps;      // so many in a row; default 3
  uint32_t no_progress_ms;  // rule: no step ends or begins for so long, behind the first one
  uint32_t signals;         // rule: these come; bit n: signal n
  uint32_t most_captures;   // within `within_s`, but for signals; default 3
  uint32_t within_s;        // default 3,600
  // Writes the program's stacks to a file, for stalls and SIGTERM and SIGABRT. First called on a
  // thread of its own, where it may wait; it must do nothing once *given_up is not 0. Then, where
  // that took too long, with a null pointer: it must not wait.
  stepscope_stacks_function stacks;
} stepscope_watch_options;

// Starts to watch, until stepscope_stop(); its figures have "captures". Captures go into folders of
// their own in `output`, which is made when it is needed. Steps are those of stepscope_step().
STEPSCOPE_API int stepscope_watch(const char* output, const stepscope_watch_options* rules,
                                  const stepscope_options* options);
// Captures because of something that only the program knows: `kind` is a word for it
// ("allocation_failure"), `what` a sentence. Does not wait. -1 when nothing is watched.
STEPSCOPE_API int stepscope_trigger(const char* kind, const char* what);
// A JSON array of what was captured: folder, kind, what, complete, stopped_by (a limit or the disk
// ended it early; it is never complete then), not_recorded. Valid until this thread's next call.
STEPSCOPE_API const char* stepscope_captures(void);

// What a start with the same options takes time for, done before: memory is made ready, the GPU
// vendor's library loaded. Until then, or until it is undone, some memory of the budget is taken.
STEPSCOPE_API void stepscope_prepare(const stepscope_options* options);
STEPSCOPE_API void stepscope_unprepare(void);
// Starts a recording if the environment asks for one, as `stepscope record` makes it:
// STEPSCOPE_OUTPUT is where the run's folder goes, STEPSCOPE_TIER the gpu_tier in words. `with_gpu`
// is 1 when the program uses CUDA by now; a recording that runs already gets the GPU added then.
// Returns 1 when something began, 0 when nothing was to be done, -1 when it cannot. The library
// calls it when it is loaded, the injected one when CUDA is.
STEPSCOPE_API int stepscope_start_from_environment(int with_gpu);
// The NPU, with the npu_ fields of the options, from here to stepscope_end_npu() or to the end of a
// recording that the environment started: what a profiler does that joins it. 0, or -1 when it
// cannot, or does so already. Both wait for CANN, which may take seconds.
STEPSCOPE_API int stepscope_begin_npu(const stepscope_options* options);
STEPSCOPE_API void stepscope_end_npu(void);
// Writes what is left and closes the file. Returns the recording's figures as JSON (events,
// not_recorded, threads, bytes, seconds, writer_cpu_seconds, stopped_by, lost_because, problems),
// valid until this thread's next call; "{}" when nothing was recording, {"joined":1} where
// `stepscope record` does. A disk that does not answer is waited for 5 s, a slow one 30 s in all:
// "left_behind" is 1 then, and no other recording starts until it has come back.
STEPSCOPE_API const char* stepscope_stop(void);
STEPSCOPE_API const char* stepscope_last_error(void);
// What was asked for and will be missing from the recording that runs, so far: a JSON array of
// sentences, valid until this thread's next call. Libraries that are not there are such, for one.
STEPSCOPE_API const char* stepscope_problems(void);
// Where the raw file lies when the recording that runs was started from the environment: what else
// wants to record this process joins that one. "" otherwise. Valid until this thread's next call.
STEPSCOPE_API const char* stepscope_outer_folder(void);
// Waits until what was recorded before the call is in the file, for readers that will not wait for
// the end. 0, or -1 when nothing records, the writer needs more than ten seconds, or it does not
// write any more because of a limit or the disk.
STEPSCOPE_API int stepscope_flush(void);

// The id of a name, for as long as the process lives. Takes a lock; keep the id.
STEPSCOPE_API uint32_t stepscope_name(const char* text, size_t length);
// Something the run says about itself: `json` is any JSON value.
STEPSCOPE_API void stepscope_metadata(const char* key, const char* json);
// A step begins, and the one before ends. Steps are one sequence for the whole process.
STEPSCOPE_API void stepscope_step(int64_t number);
STEPSCOPE_API void stepscope_end_step(void);

// Queues a folder that MindSpore's CPU profiler has just written (its stop() does): another thread
// reads it and removes it, and the folder around it if that is called stepscope-mindspore-* and is
// empty then. The times are CLOCK_REALTIME around the window; memory records outside are those of
// earlier windows. Returns -1 when it will not be read; if nothing records, the folder is still
// there.
enum stepscope_mindspore_content {
  STEPSCOPE_MINDSPORE_SHAPES = 1,  // read the shapes of the operators' inputs
  STEPSCOPE_MINDSPORE_MEMORY = 2   // read the memory records
};
STEPSCOPE_API int stepscope_import_mindspore_window(const char* folder, int64_t realtime_from_ns,
                                                    int64_t realtime_to_ns, uint32_t what);

// Ranges for languages that cannot use the inline functions: a start, 0 while nothing records, and
// the end of the range that began there.
STEPSCOPE_API uint64_t stepscope_now(void);
STEPSCOPE_API void stepscope_end_range(uint64_t start, uint32_t kind, uint32_t name);

// The input pipeline: stages in the order of the data, each with the queue that it fills.
//
// Say once what a stage is; later recordings know it too:
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
// What is recorded costs a call and 32 bytes of the thread's ring; while nothing records, a call.
typedef struct {
  size_t size;        // sizeof
  const char* kind;   // what it does: "read", "map", "batch" ...; NULL: not said
  uint32_t workers;   // threads or processes that work for it; 0: not said
  uint32_t capacity;  // of its queue; 0: it has none
  uint32_t input;     // the stage that it takes from; 0: it is the first
} stepscope_stage_options;

// Names a stage, or says something new about one, and returns its id, which is that of its name.
// There are 1,024 at most: further ones are recorded without what is said here.
STEPSCOPE_API uint32_t stepscope_stage(const char* name, size_t length,
                                       const stepscope_stage_options* options);
// It takes from another stage too, as one that zips does.
STEPSCOPE_API void stepscope_stage_input(uint32_t stage, uint32_t input);
// A thread (the kernel's number) or a process works for it, so that its processor time is the
// stage's; 0: the calling thread.
STEPSCOPE_API void stepscope_stage_worker(uint32_t stage, int64_t task);
// Later recordings do not know it any more.
STEPSCOPE_API void stepscope_end_stage(uint32_t stage);

// A sample of the queue. UINT64_MAX is a size that is not known, -1 an item without a number.
STEPSCOPE_API void stepscope_queue_size(uint32_t stage, uint64_t items);
STEPSCOPE_API void stepscope_queue_get(uint64_t start, uint32_t stage, uint64_t items,
                                       int64_t number);
STEPSCOPE_API void stepscope_queue_put(uint64_t start, uint32_t stage, uint64_t items,
                                       int64_t number);

// Worker processes write into the recording of the process that started them. That one asks for an
// address (NULL: not possible here) before it starts them and hands it over, with the ids of stages
// and names; a worker joins once, and stepscope_now(), stepscope_end_range() and
// stepscope_queue_*() of the thread that did then record, for as long as the parent does. Name 0 is
// the stage that the parent says the worker works for. Workers have 2,048 records of room, emptied
// twenty times a second; 64 can join at once. Works behind fork and behind exec.
STEPSCOPE_API const char* stepscope_worker_address(void);
STEPSCOPE_API int stepscope_join(const char* address);

// A function of the GPU vendor's profiling library in use, or NULL.
STEPSCOPE_API void* stepscope_vendor_function(const char* name);

// The slow way, not to be called directly: gets this thread a ring, or room in it. 0 when there is
// none; the record is counted then.
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

// Puts one record and, with STEPSCOPE_VALUES in `kind`, two values behind it.
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
  // `name` is asked only while recording.
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
// (No guarded static: a child that is forked while another thread is in it would wait for ever.)
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
