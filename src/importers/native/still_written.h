// Whether the program of a raw file still records into it: that file has no end either, as that of
// a program which was killed.
#ifndef STEPSCOPE_IMPORTERS_NATIVE_STILL_WRITTEN_H_
#define STEPSCOPE_IMPORTERS_NATIVE_STILL_WRITTEN_H_

#include <cstdint>
#include <optional>
#include <string>

namespace stepscope {

// Whether process `pid` of machine `host` has the file open to write; empty when that cannot be
// seen: it is another machine, or the process is another user's. Ask before reading the file,
// because a program may end meanwhile. Costs a look at each open file of that process. A container
// that has the machine's name and numbers its processes by itself is taken for the machine.
std::optional<bool> is_open_in_process(const std::string& path, const std::string& host,
                                       int64_t pid);

// For what cannot be seen: the recorder writes twice a second, also where nothing happens.
// `written_ns`: when it read the calendar clock last.
bool is_written_lately(int64_t written_ns);

}  // namespace stepscope

#endif  // STEPSCOPE_IMPORTERS_NATIVE_STILL_WRITTEN_H_
