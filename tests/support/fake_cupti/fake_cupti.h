// A stand-in for the vendor's CUPTI: a shared library of our own that exports the functions which
// the collector looks up, and these, with which a test plays the program and the GPU. Records have
// the sizes of a chosen CUDA; buffers are asked for, filled to their edges and given back as CUPTI
// does it. Loaded through STEPSCOPE_CUPTI.
#ifndef STEPSCOPE_TESTS_SUPPORT_FAKE_CUPTI_FAKE_CUPTI_H_
#define STEPSCOPE_TESTS_SUPPORT_FAKE_CUPTI_FAKE_CUPTI_H_

#include <cstdint>

extern "C" {

struct FakeLaunch {
  const char* kernel;  // the mangled name; must stay
  uint32_t device;
  uint32_t stream;
  int32_t grid;
  uint32_t graph;  // 0: not in a graph
  uint64_t graph_node;
  uint64_t duration_ticks;  // of the kernel; 0: CUPTI had no memory to time it
};

// The sizes of records are those of CUDA 11.0, 12.1, 13.0 or 13.4: 1100, 1201, 1300, 1304. Takes
// everything back to how it was after loading.
void fake_cupti_reset(uint32_t cuda);
// A runtime call on this thread, and what it launches. Returns the correlation.
uint32_t fake_cupti_launch(const FakeLaunch* launch);
// A runtime call that launches nothing, by name.
uint32_t fake_cupti_call(const char* runtime_name);
// A call of the driver that the program makes itself.
uint32_t fake_cupti_driver_call(const char* driver_name);
uint32_t fake_cupti_copy(uint64_t bytes, uint8_t copy_kind);
uint32_t fake_cupti_memset(uint64_t bytes);
void fake_cupti_allocate(uint64_t address, int64_t bytes);
void fake_cupti_synchronize(uint32_t stream);
uint32_t fake_cupti_nvtx_push(const char* name, const char* domain);
void fake_cupti_nvtx_pop(uint32_t id);

// As if another profiler were subscribed; as if it had the buffers' callbacks.
void fake_cupti_take_subscribers_place(int taken);
void fake_cupti_refuse_callbacks(int refused);
// How often each call is told of: real CUPTI gets it wrong at times.
void fake_cupti_tell_of_calls(int times);
// As if CUPTI had an empty buffer in hand for every thread, also behind a flush.
void fake_cupti_keep_a_buffer(int kept);
// As if threads had a copy under way in every buffer: a flush gives them back only by force.
void fake_cupti_keep_copies_under_way(int kept);

// Another hand on CUPTI's switches.
void fake_cupti_switch(uint32_t kind, int on);
// As 13.0 does: copies have no time while kernels are not recorded.
void fake_cupti_time_copies_with_kernels_only(int only);

// What the collector did.
uint32_t fake_cupti_finalized_in_callbacks();
uint32_t fake_cupti_finalized_elsewhere();
int fake_cupti_has_subscriber();
uint64_t fake_cupti_enabled_kinds();        // bit n: kind n
uint64_t fake_cupti_enabled_callbacks();    // of either domain; bit n: id n
uint64_t fake_cupti_kinds_on_at_its_end();  // when CUPTI last left the process
uint64_t fake_cupti_buffers_outstanding();
uint8_t fake_cupti_attribute(uint32_t attribute);
}

#endif  // STEPSCOPE_TESTS_SUPPORT_FAKE_CUPTI_FAKE_CUPTI_H_
