// Peak rates as a user writes them: "bfloat16=989e12,memory=4.8e12".
#ifndef STEPSCOPE_ANALYSES_FLOPS_PEAK_TEXT_H_
#define STEPSCOPE_ANALYSES_FLOPS_PEAK_TEXT_H_

#include <string_view>

#include "analyses/flops/device_peaks.h"
#include "base/result.h"

namespace stepscope {

// Names are the fields of PeakRates, rates FLOP/s or bytes/s. What is not named is not known.
Result<PeakRates> parse_peaks(std::string_view text);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_FLOPS_PEAK_TEXT_H_
