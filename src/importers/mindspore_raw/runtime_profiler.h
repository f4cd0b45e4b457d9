// MindSpore's runtime profiler (MS_ENABLE_RUNTIME_PROFILER=1): host events of every thread.
//
// RuntimeProfilerDetail has integer nanoseconds of CLOCK_REALTIME and is read; its JSON twin holds
// the same events as floating-point microseconds (up to 292 ns off) and is not. The Summary is kept
// as a table.
#ifndef STEPSCOPE_IMPORTERS_MINDSPORE_RAW_RUNTIME_PROFILER_H_
#define STEPSCOPE_IMPORTERS_MINDSPORE_RAW_RUNTIME_PROFILER_H_

#include <cstdint>
#include <functional>
#include <string>

#include "store/rank_builder.h"

namespace stepscope::mindspore_raw {

// Events become slices named Module::Event::op (a stage: its name), one track per thread; steps
// begin with their first event. Marks of arrows ("op:flow") end 20 ns before they start and are
// read as instants. Returns the number of events.
//
// `on_axis` is for files beside a recording that has steps and operators of its own: these are not
// taken from here a second time, and times go through it.
using ToAxis = std::function<int64_t(int64_t)>;
int64_t read_runtime_detail(const std::string& path, RankBuilder& rank,
                            const ToAxis& on_axis = nullptr);

void keep_runtime_summary(const std::string& path, RankBuilder& rank);

}  // namespace stepscope::mindspore_raw

#endif  // STEPSCOPE_IMPORTERS_MINDSPORE_RAW_RUNTIME_PROFILER_H_
