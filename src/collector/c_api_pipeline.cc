// record.h's functions for input pipelines, which workers of a recorded process may call as well.
// Nothing is thrown across the edge to foreign code.
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <string>

#include "collector/process.h"
#include "collector/worker_rings.h"
#include "stepscope/record.h"

using stepscope::Process;

namespace {

bool is_recorded() { return stepscope_is_recording() || stepscope::worker_is_recorded(); }

void put_queue(uint64_t start, uint64_t duration, uint32_t kind, uint32_t stage, uint64_t items,
               int64_t number) {
  if (start == 0 || !is_recorded()) return;
  stepscope_put(start, duration, kind | STEPSCOPE_VALUES, stage, items,
                static_cast<uint64_t>(number + 1));
}

}  // namespace

uint64_t stepscope_now(void) { return is_recorded() ? stepscope_ticks() : 0; }

void stepscope_end_range(uint64_t start, uint32_t kind, uint32_t name) {
  if (start != 0 && is_recorded()) stepscope_range(start, kind, name);
}

uint32_t stepscope_stage(const char* name, size_t length,
                         const stepscope_stage_options* options) try {
  stepscope_stage_options chosen{};
  if (options != nullptr) std::memcpy(&chosen, options, std::min(options->size, sizeof chosen));
  const uint32_t stage = stepscope_name(name, length);
  const uint32_t kind = chosen.kind == nullptr || *chosen.kind == '\0'
                            ? 0
                            : stepscope_name(chosen.kind, std::strlen(chosen.kind));
  Process::instance().stages().put(stage, kind, chosen.workers, chosen.capacity, chosen.input);
  return stage;
} catch (const std::exception&) {
  return 0;
}

void stepscope_stage_input(uint32_t stage, uint32_t input) try {
  Process::instance().stages().add_input(stage, input);
} catch (const std::exception&) {  // NOLINT: without memory there is nothing to be said
}

void stepscope_stage_worker(uint32_t stage, int64_t task) try {
  Process::instance().stages().add_task(stage, task != 0 ? task : ::syscall(SYS_gettid));
} catch (const std::exception&) {  // NOLINT: as above
}

void stepscope_end_stage(uint32_t stage) try {
  Process::instance().stages().end(stage);
} catch (const std::exception&) {  // NOLINT: as above
}

void stepscope_queue_size(uint32_t stage, uint64_t items) {
  put_queue(stepscope_now(), 0, STEPSCOPE_QUEUE_SIZE, stage, items, -1);
}

void stepscope_queue_get(uint64_t start, uint32_t stage, uint64_t items, int64_t number) {
  put_queue(start, stepscope_ticks() - start, STEPSCOPE_QUEUE_GET, stage, items, number);
}

void stepscope_queue_put(uint64_t start, uint32_t stage, uint64_t items, int64_t number) {
  put_queue(start, stepscope_ticks() - start, STEPSCOPE_QUEUE_PUT, stage, items, number);
}

const char* stepscope_worker_address(void) try {
  const std::string& address = Process::instance().workers().address();
  return address.empty() ? nullptr : address.c_str();
} catch (const std::exception&) {
  return nullptr;
}
