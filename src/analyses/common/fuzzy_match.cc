#include "analyses/common/fuzzy_match.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace stepscope {
namespace {

// Names of kernels run to thousands of characters; the rest of those tells nothing apart.
constexpr size_t kLongestName = 512;
constexpr size_t kLongestQuery = 64;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }
bool same(char a, char b) { return lower(a) == lower(b); }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_word(char c) { return (c >= 'a' && c <= 'z') || is_upper(c) || (c >= '0' && c <= '9'); }
// Where a reader sees a word begin: after a sign, or at a capital after a small letter.
bool begins_word(std::string_view name, size_t at) {
  return at == 0 || !is_word(name[at - 1]) || (is_upper(name[at]) && !is_upper(name[at - 1]));
}

// Letters of the query in order: fewer points for letters that lie apart.
std::optional<int> subsequence_score(std::string_view name, std::string_view query) {
  int score = 0;
  size_t at = 0;
  size_t before = 0;
  for (size_t q = 0; q < query.size(); ++q) {
    while (at < name.size() && !same(name[at], query[q])) ++at;
    if (at == name.size()) return std::nullopt;
    if (q > 0 && at == before + 1)
      score += 8;
    else if (begins_word(name, at))
      score += 6;
    else
      score -= 1;
    before = at++;
  }
  return score;
}

// Fewest letters to change, add or leave out to find the query somewhere in the name.
size_t distance_inside(std::string_view name, std::string_view query) {
  std::vector<size_t> row(query.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  size_t best = query.size();
  for (const char c : name) {
    size_t diagonal = row[0];  // stays 0: a match may begin anywhere
    for (size_t q = 1; q <= query.size(); ++q) {
      const size_t changed = diagonal + (same(c, query[q - 1]) ? 0 : 1);
      diagonal = row[q];
      row[q] = std::min({changed, row[q] + 1, row[q - 1] + 1});
    }
    best = std::min(best, row[query.size()]);
  }
  return best;
}

}  // namespace

std::optional<int> fuzzy_score(std::string_view name, std::string_view query) {
  name = name.substr(0, kLongestName);
  query = query.substr(0, kLongestQuery);
  if (query.empty()) return 0;
  // Shorter names first among equals: less of them is not what was asked for.
  const int brevity = -static_cast<int>(name.size() / 8);
  const auto found = std::search(name.begin(), name.end(), query.begin(), query.end(), same);
  if (found != name.end()) {
    const auto at = static_cast<size_t>(found - name.begin());
    if (name.size() == query.size()) return 10000;
    if (at == 0) return 8000 + brevity;
    if (begins_word(name, at)) return 7000 + brevity;
    return 6000 + brevity;
  }
  if (const auto score = subsequence_score(name, query)) return 3000 + *score + brevity;
  const size_t allowed = query.size() >= 6 ? 2 : query.size() >= 4 ? 1 : 0;
  if (allowed == 0) return std::nullopt;
  const size_t distance = distance_inside(name, query);
  if (distance > allowed) return std::nullopt;
  return 1000 - static_cast<int>(distance) * 200 + brevity;
}

std::vector<size_t> fuzzy_search(std::span<const std::string_view> names, std::string_view query,
                                 size_t limit) {
  struct Match {
    size_t index;
    int score;
  };
  std::vector<Match> matches;
  for (size_t i = 0; i < names.size(); ++i) {
    if (const auto score = fuzzy_score(names[i], query)) matches.push_back({i, *score});
  }
  std::stable_sort(matches.begin(), matches.end(),
                   [](const Match& a, const Match& b) { return a.score > b.score; });
  std::vector<size_t> best;
  for (const Match& match : matches) {
    if (best.size() == limit) break;
    best.push_back(match.index);
  }
  return best;
}

}  // namespace stepscope
