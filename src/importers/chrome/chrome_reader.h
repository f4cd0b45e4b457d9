// Reads a Chrome trace (Kineto, Ascend's trace_view.json, any tool's) into a RankBuilder, on
// several threads.
//
// The text is cut into pieces at places that look like the start of an event; workers read pieces
// independently and the results are taken over in order. A piece that ends inside an event (a wrong
// guess) is joined with the next one and read again, so the result never depends on where the cuts
// fell. Memory beyond the records: a few pieces.
#ifndef STEPSCOPE_IMPORTERS_CHROME_CHROME_READER_H_
#define STEPSCOPE_IMPORTERS_CHROME_CHROME_READER_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "importers/importer.h"
#include "store/rank_builder.h"

namespace stepscope {

struct ChromeOptions {
  bool ascend_args = false;         // read the args that Ascend's tools write
  size_t piece_bytes = 512 * 1024;  // tests use small ones
};

struct ChromeTrace {
  std::string properties;  // JSON object of everything at the top level except the events; "" for a
                           // bare list
  bool is_array = false;   // the file is a bare list of events
  bool truncated = false;  // it ends early
  uint64_t text_bytes = 0;
  uint64_t events = 0;
};

// Times are as in the file (microseconds to nanoseconds, no base added): see shift_times(). Tracks
// are named by their metadata events; device lanes (by category) have kind kDevice, counters
// kCounter, async lanes kAsync, others kHost. Counts per phase and category are kept as source
// table chrome_events. Fails when there is no list of events.
Result<ChromeTrace> read_chrome_trace(const std::string& path, const ChromeOptions& options,
                                      const ImportContext& context, RankBuilder& rank);

// The last step of a file that ends early is not all there: marks it as incomplete. For importers
// that know their steps.
void mark_cut_step(RankBuilder& rank);

// Adds an offset to every time in the builder.
void shift_times(RankBuilder& rank, int64_t offset_ns);

// Whether a file that begins like this is a Chrome trace: an object with "traceEvents" or trace
// properties, or a list of events.
bool looks_like_chrome_trace(std::string_view head);

}  // namespace stepscope

#endif  // STEPSCOPE_IMPORTERS_CHROME_CHROME_READER_H_
