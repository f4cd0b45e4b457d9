// From a GPU recording, made on the stand-in for CUPTI, to the store's tables; and files that no
// collector writes.
#include "importers/native/device_tables.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "format/chunk_builder.h"
#include "importers/native/native_importer.h"
#include "stepscope/record.h"
#include "tests/support/built_file.h"
#include "tests/support/fake_cupti/fake_cupti.h"
#include "tests/support/imported_rank.h"
#include "tests/support/temporary_folder.h"

namespace stepscope {
namespace {

using testing::ImportedRank;
using testing::TemporaryFolder;

template <typename Function>
Function* in_fake(const char* name, Function*) {
  static void* const kHandle = [] {
    const std::string path = testing::built_file("tests/libstepscope_fake_cupti.so");
    ::setenv("STEPSCOPE_CUPTI", path.c_str(), 1);
    return ::dlopen(path.c_str(), RTLD_NOW);
  }();
  if (kHandle == nullptr) std::abort();
  return reinterpret_cast<Function*>(::dlsym(kHandle, name));
}

#define FAKE(name) in_fake(#name, static_cast<decltype(&::name)>(nullptr))

uint32_t name_of(std::string_view text) { return stepscope_name(text.data(), text.size()); }

ImportedRank import_only(const std::string& folder) {
  const NativeImporter importer;
  const auto found = testing::find_candidates(importer, folder);
  EXPECT_EQ(found.size(), 1u);
  return ImportedRank(importer, found.at(0));
}

void launch(const char* kernel, uint32_t stream, uint32_t graph = 0) {
  const FakeLaunch work{kernel, 0, stream, 264, graph, graph == 0 ? 0u : 11u, 50'000};
  FAKE(fake_cupti_launch)(&work);
}

// An operator of PyTorch: what it launches lies inside of it.
void run_operator(std::string_view name, const char* kernel) {
  const uint64_t start = stepscope_ticks();
  launch(kernel, 7);
  stepscope_range(start, STEPSCOPE_OPERATOR, name_of(name));
}

TEST(DeviceTables, AGpuRecordingBecomesTheStoresTables) {
  const TemporaryFolder folder;
  const std::string path = folder.path("run/FRAMEWORK");
  std::filesystem::create_directories(path);
  FAKE(fake_cupti_reset)(1300);
  stepscope_options options{};
  options.size = sizeof options;
  options.gpu_tier = 3;
  options.min_free_mb = 1;
  ASSERT_EQ(stepscope_start(path.c_str(), &options), 0) << stepscope_last_error();
  stepscope_step(1);
  run_operator("aten::mm", "_Z4gemmPf");
  run_operator("aten::add", "_Z3addPf");
  launch("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 20);
  launch("_Z4gemmPf", 7, 5);
  FAKE(fake_cupti_copy)(1 << 20, 1);
  FAKE(fake_cupti_memset)(4096);
  FAKE(fake_cupti_allocate)(0x1000, 1 << 20);
  FAKE(fake_cupti_allocate)(0x9000, 1 << 21);
  FAKE(fake_cupti_allocate)(0x1000, -(1 << 20));
  FAKE(fake_cupti_synchronize)(7);
  stepscope_end_step();
  stepscope_stop();

  ImportedRank run = import_only(folder.path());
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run.builder().info.device_kind, "NVIDIA GPU");
  EXPECT_EQ(run.builder().info.device_name, "NVIDIA Fake");
  EXPECT_EQ(run.builder().info.device_count, 1);
  ASSERT_EQ(run.rows(Table::kKernels), 6u);
  const auto names = run.texts(Table::kKernels, "name");
  const auto at = [&](std::string_view name) {
    return static_cast<size_t>(std::ranges::find(names, name) - names.begin());
  };
  const size_t add = at("add(float*)");
  const size_t reduce = at("ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  const size_t copy = at("Memcpy HtoD (Pinned -> Device)");
  const size_t set = at("Memset (Device)");
  ASSERT_LT(std::max({add, reduce, copy, set}), names.size());
  EXPECT_EQ(std::ranges::count(names, "gemm(float*)"), 2);
  EXPECT_EQ(run.texts(Table::kKernels, "class")[add], "compute");
  EXPECT_EQ(run.texts(Table::kKernels, "class")[reduce], "communication");
  EXPECT_EQ(run.texts(Table::kKernels, "class")[copy], "memory");
  EXPECT_EQ(run.texts(Table::kKernels, "class")[set], "memory");
  EXPECT_EQ(run.integers(Table::kKernels, "bytes")[copy], 1 << 20);
  EXPECT_EQ(run.texts(Table::kKernels, "grid")[add], "[264,1,1]");
  EXPECT_EQ(run.texts(Table::kKernels, "block")[add], "[128,1,1]");
  EXPECT_EQ(run.integers(Table::kKernels, "registers")[add], 32);
  EXPECT_EQ(run.integers(Table::kKernels, "shared_memory")[add], 3072);
  // Two blocks of 128 threads for each of the 132 multiprocessors, which hold 2048.
  EXPECT_EQ(run.integers(Table::kKernels, "occupancy")[add], 13);
  // Every piece of device work has its launching call, and those in operators have theirs.
  for (const int64_t launching : run.integers(Table::kKernels, "launch"))
    EXPECT_NE(launching, kNull);
  const auto slices = run.texts(Table::kSlices, "name");
  const auto op = run.integers(Table::kKernels, "op");
  ASSERT_NE(op[add], kNull);
  EXPECT_EQ(op[reduce], kNull);
  EXPECT_EQ(std::ranges::count(slices, "cudaLaunchKernel"), 3);
  EXPECT_EQ(std::ranges::count(slices, "cudaGraphLaunch"), 1);
  EXPECT_EQ(std::ranges::count(slices, "Stream Sync"), 1);
  const auto totals = run.integers(Table::kMemory, "total_allocated");
  EXPECT_EQ(totals, (std::vector<int64_t>{1 << 20, 3 << 20, 2 << 20}));
  EXPECT_EQ(run.quality("dropped_records"), 0);
  EXPECT_EQ(run.quality("unknown_category"), 0);
  EXPECT_EQ(run.quality("kernel_before_launch"), 0);
}

TEST(DeviceTables, WithoutCallsNoLaunchIsMissing) {
  const TemporaryFolder folder;
  const std::string path = folder.path("run/FRAMEWORK");
  std::filesystem::create_directories(path);
  FAKE(fake_cupti_reset)(1300);
  stepscope_options options{};
  options.size = sizeof options;
  options.gpu_tier = 2;
  options.min_free_mb = 1;
  ASSERT_EQ(stepscope_start(path.c_str(), &options), 0) << stepscope_last_error();
  launch("_Z4gemmPf", 7);
  stepscope_stop();
  ImportedRank run = import_only(folder.path());
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run.rows(Table::kKernels), 1u);
  EXPECT_EQ(run.quality("launch_outside_window"), 0);
}

// Nonsense in every column must end in the quality report, not in a crash.
TEST(DeviceTables, RowsThatNoCollectorWritesDoNoHarm) {
  const TemporaryFolder folder;
  ChunkBuilder chunk;
  chunk.add_note("recording", R"({"rank":0})");
  chunk.add_note("device", R"({"id":"x","multiprocessors":-1,"name":7,"memory_bytes":1e300})");
  chunk.add_note("device", R"([1,2])");
  static constexpr std::string_view kClock[] = {"ticks", "monotonic_ns", "realtime_ns"};
  auto& clocks = chunk.table({"clocks", kClock}, 0);
  clocks.add({0, 0, 0});
  clocks.add({1000, 1000, 1000});
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  static constexpr std::string_view kVariant[] = {
      "variant", "name",    "grid_x",    "grid_y",        "grid_z",        "block_x",
      "block_y", "block_z", "registers", "static_shared", "dynamic_shared"};
  auto& variants = chunk.table({"kernel_variants", kVariant}, 0);
  variants.add({1, kMost, kMost, kMost, kMost, kMost, kMost, kMost, kMost, kMost, kMost});
  variants.add({2, -1, kLeast, 0, -1, 0, 0, 0, kLeast, kLeast, kLeast});
  static constexpr std::string_view kKernel[] = {"start_ticks", "duration_ticks", "stream",
                                                 "correlation", "variant"};
  for (const int64_t device : {int64_t{0}, kLeast, kMost}) {
    auto& kernels = chunk.table({"kernels", kKernel}, device);
    for (const int64_t value : {int64_t{0}, int64_t{1}, int64_t{2}, kMost, kLeast})
      kernels.add({value, value, value, value, value});
    kernels.add({10, kMost, 7, kMost, 1});
    kernels.add({10, kLeast, 7, kLeast, 2});
  }
  static constexpr std::string_view kTooFew[] = {"start_ticks"};
  chunk.table({"graph_kernels", kTooFew}, 0).add({1});
  chunk.table({"runtime_calls", kTooFew}, kLeast).add({1});
  static constexpr std::string_view kCopy[] = {
      "start_ticks", "duration_ticks", "stream", "correlation", "bytes", "copy_kind", "from", "to"};
  for (const int64_t value : {kMost, kLeast, int64_t{-1}, int64_t{11}})
    chunk.table({"copies", kCopy}, value)
        .add({value, value, value, value, value, value, value, value});
  static constexpr std::string_view kMemory[] = {"ticks", "bytes", "address", "memory_kind"};
  for (const int64_t value : {kMost, kMost, kLeast})
    chunk.table({"device_memory", kMemory}, kMost).add({value, value, value, value});
  static constexpr std::string_view kSync[] = {"type", "start_ticks", "duration_ticks", "stream",
                                               "correlation"};
  chunk.table({"synchronizations", kSync}, kMost).add({kMost, kMost, kMost, kMost, kMost});
  static constexpr std::string_view kOverhead[] = {"start_ticks", "duration_ticks", "kind"};
  chunk.table({"overheads", kOverhead}, kLeast).add({kLeast, kLeast, kLeast});
  std::filesystem::create_directories(folder.path("run"));
  {
    std::ofstream file(folder.path("run/stepscope.raw"), std::ios::binary);
    file << kRawFileMagic;
    const auto bytes = chunk.pack(0);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
  ImportedRank run = import_only(folder.path());
  ASSERT_TRUE(run.ok());
  EXPECT_GT(run.rows(Table::kKernels), 0u);
  EXPECT_GT(run.quality("unparsable_event"), 0);
}

TEST(Occupancy, IsLimitedByWhateverRunsOutFirst) {
  const MultiprocessorLimits h100{132, 32, 64, 32, 65'536, 233'472, 9};
  // Enough blocks for all: 256 threads with 32 registers fill it.
  EXPECT_EQ(estimated_occupancy(h100, {1'000'000, 256, 32, 0}), 100);
  EXPECT_EQ(estimated_occupancy(h100, {1'000'000, 256, 64, 0}), 50) << "registers";
  EXPECT_EQ(estimated_occupancy(h100, {1'000'000, 128, 32, 100'000}), 13) << "shared memory";
  EXPECT_EQ(estimated_occupancy(h100, {1'000'000, 32, 16, 0}), 50) << "blocks";
  EXPECT_EQ(estimated_occupancy(h100, {66, 1024, 32, 0}), 25) << "too few blocks";
  EXPECT_EQ(estimated_occupancy({}, {1, 32, 1, 0}), -1) << "unknown device";
  EXPECT_EQ(estimated_occupancy(h100, {1, 0, 1, 0}), -1);
  EXPECT_EQ(estimated_occupancy(h100, {1, std::numeric_limits<int64_t>::max(), 1, 1}), -1);
}

}  // namespace
}  // namespace stepscope
