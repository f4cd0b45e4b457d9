#include "analyses/operators/user_ranges.h"

#include <algorithm>

#include "analyses/common/key_index.h"
#include "analyses/common/names.h"
#include "analyses/common/saturated.h"

namespace stepscope {

std::vector<UserRangeRow> user_ranges(const StoreReader& store, const RankId& rank) {
  std::vector<UserRangeRow> rows;
  KeyIndex<1> names;
  const auto base = static_cast<int64_t>(store.row_base(Table::kSlices, rank.position));
  // The row of the range around each slice, or of the slice itself. The rows of a track are sorted
  // by depth, so whatever contains a slice has been seen before it.
  std::vector<uint32_t> innermost(store.rows(Table::kSlices, rank.position), kNoGroup);
  const auto end_of = [&](uint64_t slice) {
    return store.column(Table::kSlices, "ts", rank.position).at(slice) +
           store.column(Table::kSlices, "dur", rank.position).at(slice);
  };
  const auto classes = classify_strings(
      store, [](std::string_view text) { return text == "user_annotation"; }, is_step_mark_name);
  constexpr uint8_t kIsCategory = 1;
  constexpr uint8_t kIsStepMark = 2;
  uint64_t slice = 0;
  for_each_row<6>(store, Table::kSlices, rank.position,
                  {"ts", "dur", "flags", "cat", "name", "parent"}, [&](const auto& row) {
                    const auto [ts, dur, flags, cat, name, parent] = row;
                    const uint64_t at = slice++;
                    const auto around = parent == kNull ? at : static_cast<uint64_t>(parent - base);
                    const uint32_t outer = around < at ? innermost[around] : kNoGroup;
                    innermost[at] = outer;
                    if ((class_of(classes, cat) & kIsCategory) == 0) return;
                    if ((class_of(classes, name) & kIsStepMark) != 0) return;
                    if (dur < 0 || (flags & (kFlagImpossible | kFlagInstant)) != 0) return;
                    const uint32_t own = innermost[at] = names.group({name});
                    if (own == rows.size())
                      rows.push_back({rank.rank, rank.window, store.string(name)});
                    ++rows[own].calls;
                    add_saturated(rows[own].total_ns, dur);
                    add_saturated(rows[own].self_ns, dur);
                    if (outer == kNoGroup) return;
                    const bool outlives = (flags & kFlagOutlivesParent) != 0;
                    add_saturated(
                        rows[outer].self_ns,
                        outlives ? -std::clamp<int64_t>(end_of(around) - ts, 0, dur) : -dur);
                  });
  return rows;
}

}  // namespace stepscope
