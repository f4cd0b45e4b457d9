// Session: CANN's profiling of one window, from aclprofInit to aclprofFinalize. Its functions run
// on helper threads that may be given up, so it is shared and keeps everything that they need.
#ifndef STEPSCOPE_COLLECTOR_SOURCES_ASCEND_SESSION_H_
#define STEPSCOPE_COLLECTOR_SOURCES_ASCEND_SESSION_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "collector/sources/ascend/acl_library.h"
#include "collector/sources/ascend/ascend_options.h"

namespace stepscope::ascend {

class Session {
 public:
  // `chosen_device` is what the program's thread uses; negative when it has not chosen. `use` is
  // held for as long as CANN may be in use.
  Session(const AclLibrary& library, AscendOptions options, int32_t chosen_device,
          std::shared_ptr<const void> use)
      : library_(library),
        options_(std::move(options)),
        chosen_device_(chosen_device),
        use_(std::move(use)) {}

  // On a helper thread, one after the other; neither throws. A failed start leaves nothing behind
  // in CANN.
  void start();
  void stop();
  // The one who waited for start() goes: a start that still succeeds is undone. False when it has
  // returned meanwhile.
  bool give_up();

  // When start or stop has returned.
  Status status();
  std::vector<std::string> take_problems();
  int32_t device() const { return device_; }
  uint64_t types() const { return types_; }

 private:
  Status start_profiling();
  Status try_to_start();
  void finish();
  bool set(const Value& value);
  Error failed(const char* call, ReturnCode code) const;

  const AclLibrary& library_;
  const AscendOptions options_;
  const int32_t chosen_device_;
  const std::shared_ptr<const void> use_;
  int32_t device_ = 0;
  uint64_t types_ = 0;
  Configuration* config_ = nullptr;
  bool initialized_ = false;
  bool running_ = false;

  std::mutex mutex_;  // of what follows
  bool given_up_ = false;
  bool start_returned_ = false;
  Status status_;
  std::vector<std::string> problems_;
};

}  // namespace stepscope::ascend

#endif  // STEPSCOPE_COLLECTOR_SOURCES_ASCEND_SESSION_H_
