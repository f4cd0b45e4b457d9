// Numbers as people read them, for titles and details of findings.
#ifndef STEPSCOPE_ANALYSES_ADVICE_WORDING_H_
#define STEPSCOPE_ANALYSES_ADVICE_WORDING_H_

#include <cstdint>
#include <string>

namespace stepscope {

std::string words_for_time(int64_t ns);               // "12.3 ms"
std::string words_for_share(double share);            // "31 %"
std::string words_for_bytes(double bytes);            // "1.5 GiB"
std::string words_for_rate(double bytes_per_second);  // "15.6 GB/s"
std::string words_for_number(double value);           // "12", "3.4"

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_ADVICE_WORDING_H_
