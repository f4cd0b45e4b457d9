// Search over names as people type them: letters in order, not necessarily together, upper and
// lower case alike; and for words that were mistyped, the nearest by edit distance.
#ifndef STEPSCOPE_ANALYSES_COMMON_FUZZY_MATCH_H_
#define STEPSCOPE_ANALYSES_COMMON_FUZZY_MATCH_H_

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace stepscope {

// How well `query` matches, higher is better; nothing when it does not. In order: the name itself,
// its beginning, a word's beginning, anywhere, the letters in order, one or two letters wrong.
std::optional<int> fuzzy_score(std::string_view name, std::string_view query);

// Indices of the names that match, the best first, equal ones in their order; at most `limit`.
std::vector<size_t> fuzzy_search(std::span<const std::string_view> names, std::string_view query,
                                 size_t limit);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_COMMON_FUZZY_MATCH_H_
