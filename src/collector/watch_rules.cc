#include "collector/watch_rules.h"

#include <algorithm>
#include <utility>

namespace stepscope {

void RollingMedian::add(int64_t value) {
  if (values_.size() == most_) {
    sorted_.erase(std::lower_bound(sorted_.begin(), sorted_.end(), values_.front()));
    values_.pop_front();
  }
  values_.push_back(value);
  sorted_.insert(std::upper_bound(sorted_.begin(), sorted_.end(), value), value);
}

std::optional<SlowSteps::Finding> SlowSteps::add(int64_t step, int64_t began_ns,
                                                 int64_t duration_ns) {
  const int64_t median = median_.median();
  const double threshold = factor_ * static_cast<double>(median);
  const bool judged = factor_ > 0 && median_.count() >= kLeastBefore;
  median_.add(duration_ns);
  if (!judged || static_cast<double>(duration_ns) <= threshold) {
    in_a_row_ = 0;
    reported_ = false;
    return std::nullopt;
  }
  if (in_a_row_ == 0) {
    since_ns_ = began_ns;
    slowest_ = {};
  }
  ++in_a_row_;
  if (duration_ns > slowest_.duration_ns)
    slowest_ = {step, duration_ns, median, static_cast<int64_t>(threshold), 0};
  if (reported_ || in_a_row_ < steps_) return std::nullopt;
  reported_ = true;
  slowest_.in_a_row = in_a_row_;
  return slowest_;
}

std::optional<int64_t> SlowSteps::suspicious_since_ns() const {
  if (in_a_row_ == 0 || reported_) return std::nullopt;
  return since_ns_;
}

void Progress::seen(int64_t now_ns) {
  if (last_ns_ && now_ns <= *last_ns_) return;
  last_ns_ = now_ns;
  reported_ = false;
}

std::optional<int64_t> Progress::stalled_ns(int64_t now_ns) {
  if (most_ns_ <= 0 || !last_ns_ || reported_ || now_ns - *last_ns_ < most_ns_) return std::nullopt;
  reported_ = true;
  return now_ns - *last_ns_;
}

bool RateLimit::allow(int64_t now_ns) {
  while (!allowed_ns_.empty() && now_ns - allowed_ns_.front() >= within_ns_)
    allowed_ns_.pop_front();
  if (allowed_ns_.size() >= most_) {
    ++refused_;
    return false;
  }
  allowed_ns_.push_back(now_ns);
  return true;
}

int64_t RateLimit::take_refused() { return std::exchange(refused_, 0); }

}  // namespace stepscope
