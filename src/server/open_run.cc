#include "server/open_run.h"

#include <utility>

#include "analyses/common/rank_rows.h"
#include "analyses/user_settings.h"
#include "server/slice_colour.h"

namespace stepscope {
namespace {

constexpr uint8_t kUnknown = 255;

}  // namespace

OpenRun::OpenRun(std::shared_ptr<StoreReader> store, AnalysisOptions options)
    : store_(std::move(store)),
      analyses_(store_, std::move(options)),
      colours_(store_->string_count()) {
  for (auto& colour : colours_) colour.store(kUnknown, std::memory_order_relaxed);
  int64_t first = kNull;
  for (size_t rank = 0; rank < store_->rank_count(); ++rank) {
    const int64_t ns = number_at(*store_, Table::kRanks, "first_ns", rank);
    if (ns != kNull && (first == kNull || ns < first)) first = ns;
  }
  if (first != kNull) origin_ns_ = first;
}

const LaneSegments& OpenRun::lane_segments() {
  std::call_once(lanes_made_, [&] { lanes_ = std::make_unique<LaneSegments>(analyses_); });
  return *lanes_;
}

const std::vector<NamedCurve>& OpenRun::curves() {
  std::call_once(curves_made_, [&] { curves_ = run_curves(*store_); });
  return curves_;
}

Result<std::shared_ptr<OpenRun>> OpenRun::open(const std::string& store_path) {
  auto store = StoreReader::open(store_path);
  if (!store) return std::move(store.error());
  auto options = analysis_options();
  if (!options) return std::move(options.error());
  return std::shared_ptr<OpenRun>(new OpenRun(std::move(*store), std::move(*options)));
}

Result<Database*> OpenRun::database() {
  const std::scoped_lock lock(database_mutex_);
  if (!database_) {
    auto opened = Database::open(store_, {kQueryMemory, 0, {}});
    if (!opened) return std::move(opened.error());
    database_ = std::move(*opened);
  }
  return database_.get();
}

size_t OpenRun::rank_of_row(Table table, uint64_t row) const {
  size_t rank = 0;
  while (rank < store_->rank_count() &&
         row >= store_->row_base(table, rank) + store_->rows(table, rank))
    ++rank;
  return rank;
}

uint8_t OpenRun::colour(int64_t name, size_t rank, uint64_t slice_row) {
  if (name < 0 || static_cast<size_t>(name) >= colours_.size()) return 0;
  auto& known = colours_[static_cast<size_t>(name)];
  uint8_t colour = known.load(std::memory_order_relaxed);
  if (colour == kUnknown) {
    const int64_t category = store_->column(Table::kSlices, "cat", rank).at(slice_row);
    const std::string_view text = store_->string(name);
    colour = shaded(slice_colour(store_->string(category), text), text);
    known.store(colour, std::memory_order_relaxed);
  }
  return colour;
}

}  // namespace stepscope
