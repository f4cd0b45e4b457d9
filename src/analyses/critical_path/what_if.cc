#include "analyses/critical_path/what_if.h"

#include <charconv>
#include <string>

namespace stepscope {
namespace {

constexpr double kMostFactor = 1000;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

Error bad_change(std::string_view text, std::string why) {
  std::string kinds;
  for (size_t kind = 0; kind < kPathKinds; ++kind)
    kinds += (kind == 0 ? "" : ", ") + std::string(path_kind_name(static_cast<PathKind>(kind)));
  return {ErrorCode::kBadInput, "cannot say what a changed step takes", std::string(text),
          std::move(why),
          "give a part of a kernel's name or its kind and a factor, as gemm*0.5, or a kind of the "
          "critical path (" +
              kinds + "), as communication*0"};
}

}  // namespace

Result<WhatIf> make_what_if(std::string_view what, double factor) {
  what = trimmed(what);
  if (what.empty()) return bad_change(what, "there is no name");
  if (!(factor >= 0 && factor <= kMostFactor))
    return bad_change(what, "the factor is not a number from 0 to 1000");
  WhatIf change;
  change.factor = factor;
  for (size_t kind = 0; kind < kPathKinds; ++kind) {
    change.kind = static_cast<PathKind>(kind);
    if (path_kind_name(change.kind) == what) return change;
  }
  change.kernel = what;
  return change;
}

Result<WhatIf> parse_what_if(std::string_view text) {
  const size_t star = text.rfind('*');
  if (star == std::string_view::npos) return bad_change(text, "there is no factor");
  const std::string_view number = trimmed(text.substr(star + 1));
  double factor = 0;
  const auto [end, failed] = std::from_chars(number.data(), number.data() + number.size(), factor);
  if (failed != std::errc() || end != number.data() + number.size())
    return bad_change(text, "what follows the star is no number");
  return make_what_if(text.substr(0, star), factor);
}

WhatIfRow what_if_row(const CriticalPath& path, const WhatIf& change) {
  const CriticalPathRow summary = path.summary();
  const ChangedWork changed = path.changed_work(change);
  WhatIfRow row;
  row.rank = summary.rank;
  row.window = summary.window;
  row.step = summary.step;
  row.events = changed.events;
  row.events_ns = changed.total_ns;
  row.before_ns = summary.dur_ns;
  row.after_ns = path.what_if(change);
  row.gain_ns = row.before_ns - row.after_ns;
  return row;
}

}  // namespace stepscope
