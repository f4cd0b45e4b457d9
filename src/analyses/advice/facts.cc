#include "analyses/advice/facts.h"

#include <algorithm>

#include "analyses/advice/checks.h"

namespace stepscope {

int64_t median_over_ranks(const Facts& facts, int64_t RankFacts::* field) {
  std::vector<int64_t> values;
  for (const RankFacts& rank : facts.ranks) {
    if (rank.*field != kNull && rank.steps > 0) values.push_back(rank.*field);
  }
  if (values.empty()) return kNull;
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

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
    const int64_t waited =
        std::max(each.communication_wait_ns == kNull ? 0 : each.communication_wait_ns,
                 facts.late_peer == kNull ? 0 : facts.late_peer_wait_ns);
    const int64_t received = each.receive_ns - each.receive_wait_ns;
    const int64_t own = std::max<int64_t>(each.exposed_communication_ns - waited - received, 0);
    if (least_ns != kNull && own >= least_ns) continue;
    least_ns = own;
    if (rank != nullptr) *rank = &each;
  }
  return least_ns;
}

int64_t Facts::step_ns() const { return median_over_ranks(*this, &RankFacts::step_ns); }

double Facts::share(int64_t ns) const {
  const int64_t step = step_ns();
  return step == kNull || step <= 0 || ns == kNull
             ? 0
             : static_cast<double>(ns) / static_cast<double>(step);
}

}  // namespace stepscope
