// Something that a result table lacks, and why: "no memory events: record with
// profile_memory=True".
#ifndef STEPSCOPE_ANALYSES_COMMON_REASON_H_
#define STEPSCOPE_ANALYSES_COMMON_REASON_H_

#include <string>

namespace stepscope {

struct Reason {
  std::string table;
  std::string why;
};

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_COMMON_REASON_H_
