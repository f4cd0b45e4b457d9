// Test support: work in a process of its own, for limits, privileges and memory that are a
// process's.
#ifndef STEPSCOPE_TESTS_SUPPORT_CHILD_PROCESS_H_
#define STEPSCOPE_TESTS_SUPPORT_CHILD_PROCESS_H_

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <functional>
#include <string>

#include "base/sanitizers.h"

namespace stepscope::testing {

// Memory and time are then not the program's own.
inline constexpr bool kSanitized = kAddressSanitizer || kThreadSanitizer;

struct ChildResult {
  std::string text;  // what the work returned
  bool exited_well = false;
  uint64_t peak_bytes = 0;  // of resident memory
};

// Runs `work` in a child. The caller must have no other threads.
inline ChildResult run_in_child(const std::function<std::string()>& work) {
  ChildResult result;
  int ends[2];
  if (::pipe(ends) != 0) return result;
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    const std::string text = work();
    for (size_t done = 0; done < text.size();) {
      const ssize_t wrote = ::write(ends[1], text.data() + done, text.size() - done);
      if (wrote <= 0) break;
      done += static_cast<size_t>(wrote);
    }
    ::_exit(0);
  }
  ::close(ends[1]);
  char buffer[4096];
  for (ssize_t got = 0; (got = ::read(ends[0], buffer, sizeof buffer)) > 0;)
    result.text.append(buffer, static_cast<size_t>(got));
  ::close(ends[0]);
  int status = 0;
  struct rusage usage{};
  ::wait4(child, &status, 0, &usage);
  result.exited_well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  result.peak_bytes = static_cast<uint64_t>(usage.ru_maxrss) * 1024;
  return result;
}

}  // namespace stepscope::testing

#endif  // STEPSCOPE_TESTS_SUPPORT_CHILD_PROCESS_H_
