// Names of kernels and operators for a line of a terminal.
#ifndef STEPSCOPE_DELIVERABLES_REPORT_SHORT_NAME_H_
#define STEPSCOPE_DELIVERABLES_REPORT_SHORT_NAME_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace stepscope {

// How many characters a terminal shows, as far as each takes one place.
size_t shown_width(std::string_view text);

// The name as it is where it fits into `width` characters. Of a longer one that is a C++
// function's, without its namespaces, arguments, and template arguments that say little (numbers,
// plain types, PyTorch's offset calculators):
//   void at::native::vectorized_elementwise_kernel<4, at::native::AbsFunctor<float>, ...>(int, ...)
//   vectorized_elementwise_kernel<AbsFunctor<float>, …>
// What is too long even so loses its middle. Different names may look the same then.
std::string short_name(std::string_view name, size_t width);

}  // namespace stepscope

#endif  // STEPSCOPE_DELIVERABLES_REPORT_SHORT_NAME_H_
