// Part of libstepscope_collector.so only: a program run by `stepscope record` that uses record.h is
// recorded from the moment the library is loaded. Not the GPU, which CUDA reports itself once the
// program uses it (injection.cc).
#include <cstdio>

#include "stepscope/record.h"

namespace {

__attribute__((constructor)) void start_if_asked() {
  if (stepscope_start_from_environment(0) < 0)
    std::fprintf(stderr, "stepscope: %s\n", stepscope_last_error());
}

}  // namespace
