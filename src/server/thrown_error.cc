#include "server/thrown_error.h"

#include <new>

namespace stepscope {

Error error_of(const std::exception_ptr& thrown, const std::string& path) {
  Error error{ErrorCode::kIo, "the request failed", path, "",
              "try again; if it fails again, please report it with this text"};
  try {
    std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    error.why = "out of memory";
    error.remedy = "ask for fewer rows, ranks or a shorter range, or wait for other requests";
  } catch (const std::exception& problem) {
    error.why = problem.what();
  } catch (...) {
    error.why = "an exception of unknown type";
  }
  return error;
}

}  // namespace stepscope
