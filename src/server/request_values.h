// Values of a request's query string, checked: a wrong one is an error that names it.
#ifndef STEPSCOPE_SERVER_REQUEST_VALUES_H_
#define STEPSCOPE_SERVER_REQUEST_VALUES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <httplib.h>

#include "base/result.h"
#include "store/viewport.h"

namespace stepscope {

// `missing` when the request does not have it.
Result<int64_t> integer_value(const httplib::Request& request, const char* name, int64_t missing,
                              int64_t least, int64_t most);
Result<std::optional<int64_t>> optional_integer(const httplib::Request& request, const char* name);
// from, to (ns after `origin_ns`, the run's first) and width (pixels) of what is on screen.
Result<Viewport> viewport_value(const httplib::Request& request, int64_t origin_ns);
// "1,2,5": at most `most` numbers.
Result<std::vector<uint64_t>> number_list(const httplib::Request& request, const char* name,
                                          size_t most);

// "no such rank: 7": `see` is the route that lists what there is.
Error not_in_run(std::string_view what, uint64_t number, std::string_view see);

}  // namespace stepscope

#endif  // STEPSCOPE_SERVER_REQUEST_VALUES_H_
