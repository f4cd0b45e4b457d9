// The floor: what torch itself takes for calling anybody before and after every operator.
#include <ATen/record_function.h>

namespace {

at::CallbackHandle handle = at::INVALID_CALLBACK_HANDLE;

std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction&) { return nullptr; }
void end(const at::RecordFunction&, at::ObserverContext*) {}

}  // namespace

extern "C" __attribute__((visibility("default"))) void start_empty(int with_inputs) {
  handle =
      at::addGlobalCallback(at::RecordFunctionCallback(begin, end).needsInputs(with_inputs != 0));
}

extern "C" __attribute__((visibility("default"))) void stop_empty() { at::removeCallback(handle); }
