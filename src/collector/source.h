// Source: something that is asked for data while a recording runs (the system, a device's library,
// a sampler). Sources that only call record.h need none of this.
#ifndef STEPSCOPE_COLLECTOR_SOURCE_H_
#define STEPSCOPE_COLLECTOR_SOURCE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_text.h"
#include "base/result.h"
#include "collector/lasting_rows.h"
#include "collector/name_table.h"
#include "format/chunk_builder.h"

namespace stepscope {

// Where a source puts its rows.
struct SourceOutput {
  ChunkBuilder& chunk;
  NameTable& names;
  // For rows that later ones refer to, and for notes.
  LastingRows& lasting;
  // Somebody waits for everything that there was before: nothing may be left for the next time.
  bool all = false;
  // Rows that count as events of the recording, and those that the source knows to have lost.
  int64_t events = 0;
  int64_t not_recorded = 0;
  // Sentences of lose() and of report().
  std::vector<std::string> loss_reasons = {};
  std::vector<std::string> problems = {};

  // Where the reason is another than that the writer could not keep up.
  void lose(int64_t rows, std::string why) {
    if (rows == 0) return;
    not_recorded += rows;
    loss_reasons.push_back(std::move(why));
  }

  // Something of what was asked for will be missing: kept in the run, and said to whoever started
  // the recording.
  void report(std::string_view source, std::string_view sentence) {
    lasting.add_note("not_honoured", JsonObject().add(source, sentence).text());
    problems.push_back(std::string(source) + ": " + std::string(sentence));
  }
};

class Source {
 public:
  virtual ~Source() = default;
  virtual std::string_view name() const = 0;

  // On the thread that starts the recording. A failure leaves the source out; its sentence is
  // logged and kept in the run.
  virtual Status start() = 0;
  // On the writer thread, before every flush: hands over what came together since the last call.
  virtual void collect(SourceOutput& output) = 0;
  // On the thread that stops the recording; collect() is called once more afterwards.
  virtual void stop() = 0;
  // Whether collect() should be called (again) now instead of at the next flush, because much has
  // come together. Asked on the writer thread.
  virtual bool waiting() const { return false; }
  // After stop(), on the same thread: the writer hangs at a disk, and the source may never be
  // destroyed. Nothing of it may stay that costs the program anything.
  virtual void leave_behind() {}
};

}  // namespace stepscope

#endif  // STEPSCOPE_COLLECTOR_SOURCE_H_
