#include "analyses/flops/peak_text.h"

#include <cmath>
#include <string>
#include <utility>

#include "base/decimal.h"

namespace stepscope {
namespace {

constexpr std::pair<std::string_view, double PeakRates::*> kNames[] = {
    {"float64", &PeakRates::float64}, {"float32", &PeakRates::float32},
    {"tf32", &PeakRates::tf32},       {"float32_matrix", &PeakRates::float32_matrix},
    {"float16", &PeakRates::float16}, {"bfloat16", &PeakRates::bfloat16},
    {"float8", &PeakRates::float8},   {"int8", &PeakRates::int8},
    {"memory", &PeakRates::memory},
};

Error wrong(std::string_view part, const char* why) {
  return {ErrorCode::kBadInput, "cannot read peak rates", std::string(part), why,
          "write names and rates, as bfloat16=989e12,memory=4.8e12; names: float64 float32 "
          "float32_matrix tf32 float16 bfloat16 float8 int8 memory"};
}

}  // namespace

Result<PeakRates> parse_peaks(std::string_view text) {
  PeakRates rates;
  while (true) {
    const size_t comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos) return wrong(part, "there is no =");
    double PeakRates::* field = nullptr;
    for (const auto& [name, member] : kNames) {
      if (name == part.substr(0, equals)) field = member;
    }
    if (field == nullptr) return wrong(part, "no such name");
    const auto rate = parse_double(part.substr(equals + 1));
    if (!rate || !std::isfinite(*rate) || *rate <= 0)
      return wrong(part, "the rate is no positive number");
    rates.*field = *rate;
    if (comma == std::string_view::npos) return rates;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace stepscope
