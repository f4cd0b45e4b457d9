#include "collector/sources/ascend/session.h"

#include <exception>
#include <utility>

namespace stepscope::ascend {

Error Session::failed(const char* call, ReturnCode code) const {
  return {ErrorCode::kUnsupported, "cannot record the NPU", library_.path,
          std::string(call) + ": " + library_.result_text(code),
          "end other profilers of this process and check npu-smi info"};
}

bool Session::set(const Value& value) {
  const ReturnCode code = library_.set_config(value.setting, value.text.data(), value.text.size());
  if (code == kSuccess) return true;
  const std::lock_guard lock(mutex_);
  problems_.push_back(std::string(value.parameter) +
                      " is not recorded: " + library_.result_text(code));
  return false;
}

Status Session::start_profiling() {
  // MindSpore and torch_npu have done so long before; a second time is an error that says so.
  ReturnCode code = library_.init(nullptr);
  if (code != kSuccess && code != kAlreadyInitialized) return failed("aclInit", code);
  device_ = chosen_device_;
  if (device_ < 0) {
    device_ = options_.device;
    code = library_.set_device(device_);
    if (code != kSuccess) return failed("aclrtSetDevice", code);
  }
  code = library_.profiling_init(options_.folder.data(), options_.folder.size());
  if (code != kSuccess) return failed("aclprofInit", code);
  initialized_ = true;
  for (const Value& value : device_settings(options_)) set(value);
  auto device = static_cast<uint32_t>(device_);
  types_ = data_types(options_);
  config_ = library_.create_config(&device, 1, options_.metrics, nullptr, types_);
  if (config_ == nullptr && options_.metrics != kNoMetrics) {
    // Not every device and version has every group of counters.
    types_ &= ~uint64_t{kAicoreMetrics};
    config_ = library_.create_config(&device, 1, kNoMetrics, nullptr, types_);
    if (config_ != nullptr) {
      const std::lock_guard lock(mutex_);
      problems_.emplace_back("aic_metrics is not recorded: this device or CANN has not this group");
    }
  }
  if (config_ == nullptr) {
    return Error{ErrorCode::kUnsupported, "cannot record the NPU", library_.path,
                 "aclprofCreateConfig refuses device " + std::to_string(device_),
                 "check npu-smi info and ASCEND_RT_VISIBLE_DEVICES"};
  }
  for (const Value& value : host_settings(options_)) set(value);
  code = library_.start(config_);
  if (code != kSuccess) return failed("aclprofStart", code);
  running_ = true;
  return {};
}

void Session::finish() {
  const auto check = [&](const char* call, ReturnCode code) {
    if (code == kSuccess) return;
    const std::lock_guard lock(mutex_);
    problems_.push_back(std::string(call) + ": " + library_.result_text(code) +
                        "; the NPU's data may not be complete");
  };
  if (std::exchange(running_, false)) check("aclprofStop", library_.stop(config_));
  if (config_ != nullptr)
    check("aclprofDestroyConfig", library_.destroy_config(std::exchange(config_, nullptr)));
  if (std::exchange(initialized_, false)) check("aclprofFinalize", library_.profiling_finalize());
}

// There is nobody to catch anything on the threads that call this.
Status Session::try_to_start() try {
  return start_profiling();
} catch (const std::exception& failure) {
  return Error{ErrorCode::kUnsupported, "cannot record the NPU", "", failure.what(), ""};
}

void Session::start() {
  Status started = try_to_start();
  if (!started) stop();
  bool undo = false;
  {
    const std::lock_guard lock(mutex_);
    status_ = std::move(started);
    start_returned_ = true;
    undo = given_up_;
  }
  if (undo) stop();
}

void Session::stop() try {
  finish();
} catch (const std::exception&) {  // NOLINT: without memory there is nothing to be said
}

bool Session::give_up() {
  const std::lock_guard lock(mutex_);
  given_up_ = !start_returned_;
  return given_up_;
}

Status Session::status() {
  const std::lock_guard lock(mutex_);
  return status_;
}

std::vector<std::string> Session::take_problems() {
  const std::lock_guard lock(mutex_);
  return std::exchange(problems_, {});
}

}  // namespace stepscope::ascend
