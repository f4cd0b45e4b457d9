#include "analyses/advice/facts.h"

#include <algorithm>
#include <cmath>

#include "analyses/advice/checks.h"

namespace stepscope {

const RankFacts* worst_rank(const Facts& facts, int64_t RankFacts::* field) {
  const RankFacts* worst = nullptr;
  for (const RankFacts& rank : facts.ranks) {
    if (rank.*field == kNull || rank.*field <= 0) continue;
    if (worst == nullptr || rank.*field > worst->*field) worst = &rank;
  }
  return worst;
}

const RankFacts* first_rank_above(const Facts& facts, double RankFacts::* field, double limit) {
  for (const RankFacts& rank : facts.ranks) {
    if (rank.*field > limit) return &rank;
  }
  return nullptr;
}

Place place_of(const RankFacts& rank, const std::optional<Place>& instance) {
  if (instance) return *instance;
  return rank.longest_step_place.value_or(Place{rank.rank});
}

std::vector<Place> places_of(const std::optional<Place>& instance) {
  return instance ? std::vector{*instance} : std::vector<Place>();
}

int64_t own_communication_ns(const Facts& facts, const RankFacts** rank) {
  int64_t least_ns = kNull;
  for (const RankFacts& each : facts.ranks) {
    if (each.steps == 0) continue;
    const int64_t waited = std::max(each.communication_wait_ns, each.late_peer_wait_ns);
    const int64_t received = each.receive_ns - each.receive_wait_ns;
    const int64_t own = std::max<int64_t>(each.exposed_communication_ns - waited - received, 0);
    if (least_ns != kNull && own >= least_ns) continue;
    least_ns = own;
    if (rank != nullptr) *rank = &each;
  }
  return least_ns;
}

std::string words_for_rank(const Facts& facts, const RankFacts& rank) {
  const bool has_windows =
      std::count_if(facts.ranks.begin(), facts.ranks.end(),
                    [&](const RankFacts& one) { return one.rank == rank.rank; }) > 1;
  return "rank " + std::to_string(rank.rank) +
         (has_windows ? ", window " + std::to_string(rank.window) : "");
}

std::string words_for_owner(const Facts& facts, const RankFacts& rank) {
  return facts.ranks.size() > 1 ? " of " + words_for_rank(facts, rank) : "";
}

int64_t Facts::step_ns() const {
  double sum_ns = 0;
  double steps = 0;
  for (const RankFacts& rank : ranks) {
    if (rank.step_ns == kNull || rank.steps <= 0) continue;
    sum_ns += static_cast<double>(rank.step_ns) * static_cast<double>(rank.steps);
    steps += static_cast<double>(rank.steps);
  }
  return steps > 0 ? std::llround(sum_ns / steps) : kNull;
}

double Facts::share(int64_t ns) const {
  const int64_t step = step_ns();
  return step == kNull || step <= 0 || ns == kNull
             ? 0
             : static_cast<double>(ns) / static_cast<double>(step);
}

}  // namespace stepscope
