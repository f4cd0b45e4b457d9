// The program's version, written once in the top CMakeLists.txt.
#ifndef STEPSCOPE_CLI_VERSION_H_
#define STEPSCOPE_CLI_VERSION_H_

namespace stepscope {

inline constexpr const char* kVersion = STEPSCOPE_VERSION;

}  // namespace stepscope

#endif  // STEPSCOPE_CLI_VERSION_H_
