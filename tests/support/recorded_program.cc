// A program to be recorded by `stepscope record`: three ranges and, with the word `gpu`, what CUDA
// would do in a process that uses a device: load the injected library and launch two kernels.
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>

#include "stepscope/record.h"
#include "tests/support/fake_cupti/fake_cupti.h"

int main(int count, char** words) {
  const bool gpu = count > 1 && std::strcmp(words[1], "gpu") == 0;
  if (gpu) {
    const char* const path = std::getenv("CUDA_INJECTION64_PATH");
    void* const injected = path == nullptr ? nullptr : ::dlopen(path, RTLD_NOW);
    if (injected == nullptr) return 3;
    reinterpret_cast<int (*)()>(::dlsym(injected, "InitializeInjection"))();
  }
  for (int i = 0; i < 3; ++i) {
    STEPSCOPE_SCOPE("work");
  }
  if (gpu) {
    void* const fake = ::dlopen(std::getenv("STEPSCOPE_CUPTI"), RTLD_NOW);
    if (fake == nullptr) return 4;
    const auto launch =
        reinterpret_cast<decltype(&fake_cupti_launch)>(::dlsym(fake, "fake_cupti_launch"));
    const FakeLaunch kernel{"_Z4gemmPf", 0, 7, 1, 0, 0, 1000};
    launch(&kernel);
    launch(&kernel);
  }
  return count > 2 ? std::atoi(words[2]) : 0;
}
