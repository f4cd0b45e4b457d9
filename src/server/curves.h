// Values over time as a timeline draws them: counters, memory pools, queues. Each curve is a step
// function: a value holds until the next sample.
//
// Samples are copied out of the store, without those that repeat the value before them (16 bytes
// each), with the lowest and highest of every 64, so that a viewport costs pixels, not samples.
#ifndef STEPSCOPE_SERVER_CURVES_H_
#define STEPSCOPE_SERVER_CURVES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "store/store_reader.h"
#include "store/viewport.h"

namespace stepscope {

// What begins on one pixel.
struct CurveItem {
  int64_t ts_ns = 0;  // of the first sample
  double low = 0;
  double high = 0;
  double last = 0;
};

class Curve {
 public:
  // By rising time; NaN and infinities are left out.
  void add(int64_t ts_ns, double value);
  void finish();

  uint64_t samples() const { return given_; }
  double low() const { return low_; }
  double high() const { return high_; }
  int64_t first_ns() const { return times_ns_.empty() ? 0 : times_ns_.front(); }
  int64_t last_ns() const { return last_ns_; }
  // Appends what the viewport shows, and before it the sample that holds at its start.
  void query(const Viewport& viewport, std::vector<CurveItem>& items) const;

 private:
  static constexpr size_t kBlock = 64;
  struct Extent {
    double low;
    double high;
  };
  Extent extent(size_t from, size_t to) const;

  std::vector<int64_t> times_ns_;
  std::vector<double> values_;
  std::vector<Extent> blocks_;
  double low_ = 0;
  double high_ = 0;
  uint64_t given_ = 0;
  int64_t last_ns_ = 0;
};

enum class CurveKind : uint8_t { kCounter, kMemory, kQueue };
std::string_view curve_kind_name(CurveKind kind);

struct NamedCurve {
  size_t rank_position = 0;
  CurveKind kind = CurveKind::kCounter;
  std::string group;  // process, or device and allocator
  std::string name;
  std::string_view unit;  // "bytes" or ""
  int64_t track = kNull;  // of a counter
  Curve curve;
};

// All curves of a run: by rank, counters first. One pass over the three tables.
std::vector<NamedCurve> run_curves(const StoreReader& store);

}  // namespace stepscope

#endif  // STEPSCOPE_SERVER_CURVES_H_
