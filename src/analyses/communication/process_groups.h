// Which ranks of the job make up a process group, as far as the input says so: sources number the
// members of a group from 0.
#ifndef STEPSCOPE_ANALYSES_COMMUNICATION_PROCESS_GROUPS_H_
#define STEPSCOPE_ANALYSES_COMMUNICATION_PROCESS_GROUPS_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace stepscope {

class ProcessGroups {
 public:
  // `parallel`: the column of that name of `ranks`, JSON as the source has it. Anything that is not
  // understood is left out.
  explicit ProcessGroups(std::string_view parallel);

  // Empty when the members are not known.
  const std::vector<int64_t>& members(std::string_view group) const;
  // The rank in the job of a member; the number itself where the group is not known. What stands
  // there instead would be nothing, and in a group of the whole job the two are the same.
  int64_t global_rank(std::string_view group, int64_t member) const;

 private:
  std::map<std::string, std::vector<int64_t>, std::less<>> groups_;
};

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_COMMUNICATION_PROCESS_GROUPS_H_
