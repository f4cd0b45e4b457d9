// TextEncoder: texts in, codes out; each different text is kept once.
#ifndef STEPSCOPE_API_TEXT_ENCODER_H_
#define STEPSCOPE_API_TEXT_ENCODER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/string_pool.h"
#include "base/utf8.h"

namespace stepscope {

class TextEncoder {
 public:
  // Codes count up from 0 in order of first use. About 10 ns.
  int32_t code(std::string_view text) {
    const StringId id = is_utf8(text) ? pool_.intern(text) : pool_.intern(repair_utf8(text));
    if (id >= codes_.size()) codes_.resize(id + 1, -1);
    if (codes_[id] < 0) {
      codes_[id] = static_cast<int32_t>(used_.size());
      used_.push_back(id);
    }
    return codes_[id];
  }

  // The texts in order of their codes.
  std::vector<std::string> texts() const {
    std::vector<std::string> out;
    out.reserve(used_.size());
    for (const StringId id : used_) out.emplace_back(pool_.view(id));
    return out;
  }

 private:
  StringPool pool_;             // has "" as its first string, asked for or not
  std::vector<int32_t> codes_;  // by the pool's id
  std::vector<StringId> used_;  // by code
};

}  // namespace stepscope

#endif  // STEPSCOPE_API_TEXT_ENCODER_H_
