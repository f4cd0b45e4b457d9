// The arrows of a Chrome trace: those of the source, and those that the store's links of device
// work stand for where the source draws none.
//
// A trace view has the names that MindSpore's and torch_npu's own files have: async_npu is
// mindspore_to_npu or torch_to_npu, HostToDevice has its id behind it.
#ifndef STEPSCOPE_DELIVERABLES_CHROME_ARROWS_H_
#define STEPSCOPE_DELIVERABLES_CHROME_ARROWS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "deliverables/chrome_rank.h"

namespace stepscope {

struct ChromeArrow {
  uint64_t from = 0;  // rows of slices
  uint64_t to = 0;
  std::string_view category;
  int64_t id = 0;  // unique among those of for_each()
};

class ChromeArrows {
 public:
  ChromeArrows(const ChromeRank& rank, bool is_view);

  // The word of arrows that slices carry as flags and correlation; those are not in for_each().
  const std::string& launch_kind() const { return launch_kind_; }
  // Both ends lie in what the user chose. Ends with the first failure of `take`.
  Status for_each(const std::function<Status(const ChromeArrow&)>& take) const;
  std::string name_of(std::string_view category, int64_t id) const;
  // MindSpore and torch_npu mark the starts of their own arrows like the ends.
  bool marks_start(std::string_view category) const {
    return is_view_ && category != kHostToDevice;
  }

 private:
  static constexpr std::string_view kHostToDevice = "HostToDevice";

  bool is_launch(uint64_t flow) const;
  bool is_chosen(int64_t slice) const {
    return slice >= 0 && static_cast<uint64_t>(slice) < rank_.slice_count() &&
           rank_.chosen(static_cast<uint64_t>(slice));
  }
  Status add_links(std::string_view column, std::string_view category, int64_t first_id,
                   const std::function<Status(const ChromeArrow&)>& take) const;

  const ChromeRank& rank_;
  bool is_view_;
  bool is_npu_ = false;
  bool is_mindspore_ = false;
  bool draws_launches_ = false;   // where the source has no arrows of launches
  bool draws_operators_ = false;  // likewise of operators to what they caused
  std::string launch_kind_ = "ac2g";
};

}  // namespace stepscope

#endif  // STEPSCOPE_DELIVERABLES_CHROME_ARROWS_H_
