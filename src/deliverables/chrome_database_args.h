// What an NPU's database keeps of operators, collectives and transfers in columns of its own, as
// args: in the words of a timeline, where readers look for it.
#ifndef STEPSCOPE_DELIVERABLES_CHROME_DATABASE_ARGS_H_
#define STEPSCOPE_DELIVERABLES_CHROME_DATABASE_ARGS_H_

#include <cstdint>
#include <string>
#include <unordered_map>

#include "deliverables/chrome_rank.h"

namespace stepscope {

class ChromeDatabaseArgs {
 public:
  explicit ChromeDatabaseArgs(const ChromeRank& rank);

  // Completes the args of a slice: a JSON object, or "" for none. Nothing is added where the source
  // is a timeline.
  void complete(uint64_t slice, std::string& args) const;

 private:
  const ChromeRank& rank_;
  struct Place {
    Table table;
    uint64_t row;
  };
  std::unordered_map<uint64_t, Place> places_;  // by slice
};

}  // namespace stepscope

#endif  // STEPSCOPE_DELIVERABLES_CHROME_DATABASE_ARGS_H_
