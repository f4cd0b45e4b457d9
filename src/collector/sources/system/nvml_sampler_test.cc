// GPUs' figures from a stand-in for NVIDIA's management library.
#include "collector/sources/system/nvml_sampler.h"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "collector/sources/system/nvml_library.h"
#include "collector/sources/system/system_source.h"
#include "tests/support/built_file.h"
#include "tests/support/file_text.h"
#include "tests/support/temporary_folder.h"

namespace stepscope {
namespace {

// Between samples, so that there is one; and for a thread's end, as the environment is set after
// it.
constexpr int64_t kLongMs = 30'000;

class NvmlSamplerTest : public ::testing::Test {
 protected:
  NvmlSamplerTest() {
    ::setenv("STEPSCOPE_NVML", testing::built_file("tests/libstepscope_fake_nvml.so").c_str(), 1);
    ::setenv("FAKE_NVML_LOG", folder_.path("calls").c_str(), 1);
    for (const char* const name : {"FAKE_NVML_FAIL", "FAKE_NVML_WAIT", "CUDA_VISIBLE_DEVICES"})
      ::unsetenv(name);
  }
  ~NvmlSamplerTest() override {
    ::unsetenv("STEPSCOPE_NVML");
    ::unsetenv("CUDA_VISIBLE_DEVICES");
  }

  // Samples until there is a whole one, and returns the last values.
  static std::map<std::string, double> sampled() {
    NvmlSampler sampler;
    sampler.start(kLongMs);
    std::map<std::string, double> values;
    for (int tries = 0; tries < 3000 && values.empty(); ++tries) {
      ::usleep(10'000);
      for (const SystemValue& value : sampler.take().values) values[value.series] = value.value;
    }
    sampler.stop(kLongMs);
    for (const SystemValue& value : sampler.take().values) values[value.series] = value.value;
    return values;
  }
  // A file of that name in the test's folder that is the library; its path.
  std::string another(const std::string& name, const std::string& library) const {
    std::filesystem::create_symlink(std::filesystem::absolute(testing::built_file(library)),
                                    folder_.path(name));
    return folder_.path(name);
  }
  std::string calls() const { return testing::file_text(folder_.path("calls")); }

  testing::TemporaryFolder folder_;
};

TEST_F(NvmlSamplerTest, EveryFigureOfEveryGpu) {
  const std::map<std::string, double> expected = {
      {"gpu 0 utilisation %", 90},        {"gpu 1 utilisation %", 89},
      {"gpu 0 memory utilisation %", 40}, {"gpu 1 memory utilisation %", 40},
      {"gpu 0 SM clock MHz", 1980},       {"gpu 1 SM clock MHz", 1980},
      {"gpu 0 memory clock MHz", 3201},   {"gpu 1 memory clock MHz", 3201},
      {"gpu 0 power W", 350.5},           {"gpu 1 power W", 350.5},
      {"gpu 0 memory used bytes", 600},   {"gpu 1 memory used bytes", 600},
      {"gpu 0 temperature C", 61},        {"gpu 1 temperature C", 61},
      {"gpu 0 throttle reasons", 0x24},   {"gpu 1 throttle reasons", 0x24}};
  EXPECT_EQ(sampled(), expected);
  EXPECT_EQ(calls(), "init\nshutdown\n");
}

TEST_F(NvmlSamplerTest, WhatAGpuDoesNotAnswerIsLeftOutAlone) {
  ::setenv("FAKE_NVML_FAIL", "power", 1);
  const auto values = sampled();
  EXPECT_EQ(values.size(), 15u);
  EXPECT_TRUE(values.contains("gpu 0 power W"));
  EXPECT_FALSE(values.contains("gpu 1 power W"));
}

TEST_F(NvmlSamplerTest, OnlyGpusThatTheProgramMayUse) {
  const struct {
    const char* visible;
    size_t first;  // values of the first and second GPU
    size_t second;
  } kTable[] = {{"1", 0, 8},      {"0,1", 8, 8},   {"GPU-aaaa", 0, 8},
                {"1,-1,0", 0, 8}, {"0,5,1", 8, 0}, {"1,1", 0, 8},
                {"", 0, 0},       {"-1", 0, 0},    {"nonsense", 0, 0}};
  for (const auto& row : kTable) {
    ::setenv("CUDA_VISIBLE_DEVICES", row.visible, 1);
    size_t first = 0;
    size_t second = 0;
    NvmlSampler sampler;
    sampler.start(kLongMs);
    if (row.first + row.second > 0) {
      for (int tries = 0; tries < 3000 && first + second < row.first + row.second; ++tries) {
        ::usleep(10'000);
        for (const SystemValue& value : sampler.take().values)
          ++(value.series.starts_with("gpu 0") ? first : second);
      }
    }
    sampler.stop(kLongMs);
    for (const SystemValue& value : sampler.take().values)
      ++(value.series.starts_with("gpu 0") ? first : second);
    EXPECT_EQ(first, row.first) << row.visible;
    EXPECT_EQ(second, row.second) << row.visible;
  }
}

TEST_F(NvmlSamplerTest, WithoutNvmlOrADriverThereIsNothing) {
  for (const char* const failure : {"init", "count"}) {
    ::setenv("FAKE_NVML_FAIL", failure, 1);
    NvmlSampler sampler;
    sampler.start(kLongMs);
    sampler.stop(kLongMs);
    EXPECT_TRUE(sampler.take().values.empty()) << failure;
  }
  ::setenv("STEPSCOPE_NVML", "/nowhere/libnvidia-ml.so.1", 1);
  NvmlSampler sampler;
  sampler.start(kLongMs);
  sampler.stop(kLongMs);
  EXPECT_TRUE(sampler.take().values.empty());
}

TEST_F(NvmlSamplerTest, AGpuThatHangsIsLeftBehind) {
  ::setenv("FAKE_NVML_WAIT", "1500", 1);
  NvmlSampler sampler;
  sampler.start(kLongMs);
  sampler.stop(20);
  EXPECT_TRUE(sampler.take().values.size() < 16);
  sampler.stop(kLongMs);  // for its end: the next test has the library for itself
  EXPECT_EQ(calls(), "init\nshutdown\n");
}

TEST_F(NvmlSamplerTest, WaitsForCudaThatIsLoadedAndNotInitialised) {
  void* const cuda = ::dlopen(another("libcuda.so.1", "tests/libstepscope_fake_cuda.so").c_str(),
                              RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(cuda, nullptr) << ::dlerror();
  {
    NvmlSampler ends_before;
    ends_before.start(100);
    ::usleep(100'000);
  }
  EXPECT_EQ(calls(), "");
  NvmlSampler sampler;
  sampler.start(100);
  reinterpret_cast<void (*)()>(::dlsym(cuda, "fake_cuda_initialise"))();
  bool any = false;
  for (int tries = 0; tries < 3000 && !any; ++tries) {
    ::usleep(10'000);
    any = !sampler.take().values.empty();
  }
  sampler.stop(kLongMs);
  EXPECT_TRUE(any);
  EXPECT_EQ(calls(), "init\nshutdown\n");
  ::dlclose(cuda);
}

// What `inside` returns in a forked child.
template <typename Function>
int in_forked_child(Function inside) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(inside());
  int status = -1;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(NvmlSamplerTest, IsSearchedForOnce) {
  ::setenv("STEPSCOPE_NVML", folder_.path("late.so").c_str(), 1);
  NvmlLibrary library;
  EXPECT_EQ(library.open(), NvmlAnswer::kMissing);
  another("late.so", "tests/libstepscope_fake_nvml.so");
  EXPECT_EQ(library.open(), NvmlAnswer::kMissing);
  // A child knows it too, and has nothing to say.
  EXPECT_EQ(in_forked_child([] { return NvmlSampler().start(kLongMs).empty() ? 0 : 1; }), 0);
}

TEST_F(NvmlSamplerTest, AForkedChildHasWhatItsParentOpenedAndDoesNotSearch) {
  ::setenv("STEPSCOPE_NVML", another("first.so", "tests/libstepscope_fake_nvml.so").c_str(), 1);
  const auto answer = [] {
    NvmlLibrary library;
    return static_cast<int>(library.open());
  };
  EXPECT_EQ(in_forked_child(answer), static_cast<int>(NvmlAnswer::kNotAsked));
  EXPECT_EQ(answer(), static_cast<int>(NvmlAnswer::kThere));
  EXPECT_EQ(in_forked_child(answer), static_cast<int>(NvmlAnswer::kThere));
}

TEST_F(NvmlSamplerTest, AForkedChildThatDoesNotSearchSaysSo) {
  ::setenv("STEPSCOPE_NVML", another("first.so", "tests/libstepscope_fake_nvml.so").c_str(), 1);
  const int said = in_forked_child([] {
    SystemSource source({100, "/proc", 0});
    if (!source.start().ok()) return 2;
    source.stop();
    ChunkBuilder chunk;
    NameTable names;
    LastingRows lasting(chunk);
    SourceOutput output{chunk, names, lasting};
    source.collect(output);
    return output.problems.size() == 1 && output.problems[0].find("NVML") != std::string::npos ? 0
                                                                                               : 1;
  });
  EXPECT_EQ(said, 0);
}

TEST_F(NvmlSamplerTest, WhatTheWriterLeavesTooLongIsCountedAndSaidOnce) {
  SystemSourceOptions options{100, "/proc", 0};
  options.most_waiting_of_gpus = 10;
  SystemSource source(options);
  ASSERT_TRUE(source.start().ok());
  ChunkBuilder chunk;
  NameTable names;
  LastingRows lasting(chunk);
  SourceOutput output{chunk, names, lasting};
  for (int tries = 0; tries < 300 && output.not_recorded < 12; ++tries) {
    ::usleep(200'000);  // a sample has 16 values
    source.collect(output);
  }
  source.stop();
  EXPECT_GE(output.not_recorded, 12) << "in two looks at least";
  ASSERT_EQ(output.problems.size(), 1u);
  EXPECT_NE(output.problems[0].find("samples are missing"), std::string::npos);
}

TEST_F(NvmlSamplerTest, TheSystemSourceHandsThemOver) {
  SystemSource source({100, "/proc", 0});
  ASSERT_TRUE(source.start().ok());
  bool seen = false;
  for (int tries = 0; tries < 3000 && !seen; ++tries) {
    ::usleep(10'000);
    ChunkBuilder chunk;
    NameTable names;
    LastingRows lasting(chunk);
    SourceOutput output{chunk, names, lasting};
    source.collect(output);
    names.visit_from(0, [&](uint32_t, std::string_view text) { seen |= text == "gpu 1 power W"; });
  }
  source.stop();
  EXPECT_TRUE(seen);
}

}  // namespace
}  // namespace stepscope
