// What this machine can do for Stepscope, one check a line. Checks look and never change anything;
// vendor libraries are opened, asked for their version, and closed.
#ifndef STEPSCOPE_CLI_MACHINE_CHECKS_H_
#define STEPSCOPE_CLI_MACHINE_CHECKS_H_

#include <string>
#include <vector>

namespace stepscope {

enum class CheckState : uint8_t {
  kOk,
  kLimited,  // works, with less than it could
  kMissing,  // only needed for some jobs; `remedy` says which and how to get it
};

struct Check {
  std::string group;  // libraries, machine, NVIDIA, Ascend, permissions, Python
  std::string name;
  CheckState state = CheckState::kOk;
  std::string detail;
  std::string remedy;  // empty when nothing is to be done
};

std::vector<Check> check_libraries();
std::vector<Check> check_hardware();
std::vector<Check> check_nvidia();
std::vector<Check> check_ascend();
std::vector<Check> check_permissions();
std::vector<Check> check_python();

const char* check_state_name(CheckState state);

}  // namespace stepscope

#endif  // STEPSCOPE_CLI_MACHINE_CHECKS_H_
