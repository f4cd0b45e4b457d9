// Small deterministic random numbers (splitmix64): the same on every machine and compiler.

#ifndef STEPSCOPE_BENCH_GENERATE_RANDOM_H_
#define STEPSCOPE_BENCH_GENERATE_RANDOM_H_

#include <cstdint>

namespace stepscope::generate {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t Next() {
    uint64_t mixed = (state_ += 0x9e3779b97f4a7c15u);
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
    return mixed ^ (mixed >> 31);
  }

  // In [0, limit); limit > 0.
  int64_t Below(int64_t limit) {
    return static_cast<int64_t>((Next() >> 32) * static_cast<uint64_t>(limit) >> 32);
  }

  // Near `value`: between 7/8 and 9/8 of it. Integer arithmetic, so no rounding differs anywhere.
  int64_t Near(int64_t value) { return value - value / 8 + Below(value / 4 + 1); }

 private:
  uint64_t state_;
};

}  // namespace stepscope::generate

#endif  // STEPSCOPE_BENCH_GENERATE_RANDOM_H_
