// What a request threw. Our code throws only when memory ends; libraries may throw anything.
#ifndef STEPSCOPE_SERVER_THROWN_ERROR_H_
#define STEPSCOPE_SERVER_THROWN_ERROR_H_

#include <exception>
#include <string>

#include "base/result.h"

namespace stepscope {

Error error_of(const std::exception_ptr& thrown, const std::string& path);

}  // namespace stepscope

#endif  // STEPSCOPE_SERVER_THROWN_ERROR_H_
