// Test support: a rank of a training, made event by event, for tests of analyses. Times are ns
// after kTrainingStart.
#ifndef STEPSCOPE_TESTS_SUPPORT_TRAINING_RANK_H_
#define STEPSCOPE_TESTS_SUPPORT_TRAINING_RANK_H_

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "store/rank_builder.h"
#include "store/store_reader.h"
#include "store/store_writer.h"
#include "tests/support/rank_making.h"
#include "tests/support/temporary_folder.h"

namespace stepscope::testing {

inline constexpr int64_t kTrainingStart = 1'700'000'000'000'000'000;

class TrainingRank {
 public:
  TrackId thread(std::string_view name) { return host_track(rank_, name); }
  TrackId stream(int64_t device, int64_t number) { return device_track(rank_, device, number); }

  void op(TrackId thread, std::string_view name, int64_t start, int64_t end) {
    add(thread, name, "cpu_op", start, end, SliceKind::kOp);
  }
  void mark(TrackId thread, std::string_view name, int64_t start, int64_t end) {
    add(thread, name, "user_annotation", start, end, SliceKind::kAnnotation);
  }
  void call(TrackId thread, std::string_view name, int64_t start, int64_t end) {
    add(thread, name, "cuda_runtime", start, end, SliceKind::kLaunchCall);
  }
  // A call with an id, or an event of the device's synchronisation.
  void slice(TrackId track, std::string_view name, std::string_view category, int64_t start,
             int64_t end, SliceKind kind, int64_t correlation, std::string_view args) {
    SliceRecord slice = slice_of(rank_, name, kTrainingStart + start, end - start, kind);
    slice.cat = rank_.strings.intern(category);
    slice.correlation = rank_.pack_id(correlation);
    if (!args.empty()) slice.args = rank_.add_args(args);
    rank_.add_slice(track, slice);
  }
  void step(TrackId thread, int64_t number, int64_t start, int64_t end, bool complete = true) {
    StepRecord step;
    step.step = number;
    step.ts_ns = kTrainingStart + start;
    step.dur_ns = end - start;
    step.source = rank_.strings.intern("marked");
    step.track = thread;
    step.name = rank_.strings.intern("ProfilerStep#" + std::to_string(number));
    step.complete = complete;
    rank_.steps.push_back(step);
    mark(thread, "ProfilerStep#" + std::to_string(number), start, end);
  }

  struct Kernel {
    std::string_view name;
    int64_t start;
    int64_t end;
    WorkClass work_class = WorkClass::kCompute;
    std::string_view type = "CUDA";
  };
  // Device work whose launch is not known.
  void kernel(TrackId stream, const Kernel& kernel) { add_kernel(stream, kernel, kNoId); }
  // A launching call and what it launched.
  void launch(TrackId thread, int64_t start, int64_t end, TrackId stream, const Kernel& kernel,
              std::string_view call_name = "cudaLaunchKernel") {
    const PackedId id = rank_.pack_id(++correlation_);
    SliceRecord slice =
        slice_of(rank_, call_name, kTrainingStart + start, end - start, SliceKind::kLaunchCall);
    slice.cat = rank_.strings.intern("cuda_runtime");
    slice.correlation = id;
    rank_.add_slice(thread, slice);
    add_kernel(stream, kernel, id);
  }
  void collective(TrackId track, std::string_view name, std::string_view level, int64_t start,
                  int64_t end) {
    CommunicationDetail detail;
    detail.level = rank_.strings.intern(level);
    SliceRecord slice =
        slice_of(rank_, name, kTrainingStart + start, end - start, SliceKind::kCommunication);
    slice.detail = rank_.add_communication(detail);
    rank_.add_slice(track, slice);
  }

  RankBuilder& builder() { return rank_; }

  // Aborts when the store cannot be written.
  std::shared_ptr<const StoreReader> finish() {
    const std::string path = folder_.path("run.stepscope");
    auto writer = StoreWriter::create(path, 1);
    if (!writer.ok() || !(*writer)->add_rank(0, rank_, 1).ok() || !(*writer)->finish("{}").ok()) {
      std::fprintf(stderr, "cannot write %s\n", path.c_str());
      std::abort();
    }
    auto store = StoreReader::open(path);
    if (!store.ok()) std::abort();
    return *store;
  }

 private:
  void add(TrackId track, std::string_view name, std::string_view category, int64_t start,
           int64_t end, SliceKind kind) {
    SliceRecord slice = slice_of(rank_, name, kTrainingStart + start, end - start, kind);
    slice.cat = rank_.strings.intern(category);
    rank_.add_slice(track, slice);
  }
  void add_kernel(TrackId stream, const Kernel& kernel, PackedId correlation) {
    KernelDetail detail;
    detail.work_class = kernel.work_class;
    detail.type = rank_.strings.intern(kernel.type);
    if (kernel.work_class == WorkClass::kCommunication) {
      CommunicationDetail communication;
      communication.level = rank_.strings.intern("op");
      detail.communication = rank_.add_communication(communication);
    }
    SliceRecord slice = slice_of(rank_, kernel.name, kTrainingStart + kernel.start,
                                 kernel.end - kernel.start, SliceKind::kKernel);
    slice.cat = rank_.strings.intern("kernel");
    slice.correlation = correlation;
    slice.detail = rank_.add_kernel(detail);
    rank_.add_slice(stream, slice);
  }

  RankBuilder rank_;
  TemporaryFolder folder_;
  int64_t correlation_ = 0;
};

}  // namespace stepscope::testing

#endif  // STEPSCOPE_TESTS_SUPPORT_TRAINING_RANK_H_
