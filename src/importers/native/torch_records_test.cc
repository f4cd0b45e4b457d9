// What PyTorch's callbacks record: arrows from forward to backward operators, allocator events.
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "importers/native/native_importer.h"
#include "stepscope/record.h"
#include "tests/support/imported_rank.h"
#include "tests/support/temporary_folder.h"

namespace stepscope {
namespace {

using testing::ImportedRank;
using testing::TemporaryFolder;

constexpr uint64_t kForwardThread = 3;  // by torch's count

uint32_t name_of(std::string_view text) { return stepscope_name(text.data(), text.size()); }

void start(const std::string& folder) {
  std::filesystem::create_directories(folder);
  ASSERT_EQ(stepscope_start(folder.c_str(), nullptr), 0) << stepscope_last_error();
}

ImportedRank import_only(const std::string& folder) {
  const NativeImporter importer;
  const auto found = testing::find_candidates(importer, folder);
  EXPECT_EQ(found.size(), 1u);
  return ImportedRank(importer, found.at(0));
}

// `sequence` is torch's; -1: none.
void put_operator(const char* name, uint64_t start, uint64_t end, int64_t sequence,
                  uint64_t forward_thread = 0) {
  stepscope_put(start, end - start, STEPSCOPE_OPERATOR | STEPSCOPE_VALUES, name_of(name), 0,
                static_cast<uint64_t>(sequence + 1) | forward_thread << 48);
}

void say_thread(uint64_t number) {
  const std::string note = "{\"thread\":" + std::to_string(::syscall(SYS_gettid)) +
                           ",\"number\":" + std::to_string(number) + "}";
  stepscope_metadata("torch_thread", note.c_str());
}

TEST(TorchRecords, BackwardOperatorsAreJoinedToTheForwardOnesThatCausedThem) {
  const TemporaryFolder folder;
  start(folder.path("run"));
  say_thread(kForwardThread);
  const uint64_t t = stepscope_ticks();
  // Records come when an operator ends, so the inner one comes first; it made the node.
  put_operator("aten::addmm", t + 2000, t + 8000, 7);
  put_operator("aten::linear", t + 1000, t + 9000, 7);
  put_operator("aten::relu", t + 10000, t + 19000, 8);
  std::thread([&] {
    say_thread(5);
    // A forward operator of the same number on another thread is not meant.
    put_operator("aten::mul", t + 11000, t + 12000, 7);
    put_operator("ReluBackward0", t + 31000, t + 32000, 8, kForwardThread);
    put_operator("evaluate ReluBackward0", t + 30000, t + 33000, 8, kForwardThread);
    put_operator("AddmmBackward0", t + 40000, t + 41000, 7, kForwardThread);
    // Its forward pass was before the recording.
    put_operator("MmBackward0", t + 50000, t + 51000, 2, kForwardThread);
  }).join();
  stepscope_stop();

  ImportedRank run = import_only(folder.path());
  ASSERT_TRUE(run.ok());
  const auto ids = run.integers(Table::kSlices, "id");
  const auto names = run.texts(Table::kSlices, "name");
  const auto name_of_slice = [&](int64_t id) {
    for (size_t i = 0; i < ids.size(); ++i) {
      if (ids[i] == id) return names[i];
    }
    return std::string("none");
  };
  std::vector<std::string> arrows;
  const auto from = run.integers(Table::kFlows, "from_slice");
  const auto to = run.integers(Table::kFlows, "to_slice");
  const auto kinds = run.texts(Table::kFlows, "kind");
  for (size_t i = 0; i < from.size(); ++i)
    arrows.push_back(kinds[i] + ": " + name_of_slice(from[i]) + " -> " + name_of_slice(to[i]));
  std::ranges::sort(arrows);
  EXPECT_EQ(arrows, (std::vector<std::string>{"fwdbwd: aten::addmm -> AddmmBackward0",
                                              "fwdbwd: aten::relu -> evaluate ReluBackward0"}));
  EXPECT_EQ(run.quality("flow_end_without_start"), 0);
}

TEST(TorchRecords, AllocatorEventsBecomeRowsOfTheTableMemory) {
  constexpr uint64_t kManyBytes = 70ull << 30;  // above 32 bits
  const TemporaryFolder folder;
  start(folder.path("run"));
  const uint64_t t = stepscope_ticks();
  const uint32_t kind = STEPSCOPE_MEMORY | STEPSCOPE_VALUES;
  const uint32_t reserved = STEPSCOPE_MEMORY_RESERVED | STEPSCOPE_VALUES;
  const uint32_t cpu = 0 << 8 | 0;
  const uint32_t second_gpu = 1 << 8 | 2;
  stepscope_put(t, 4096, kind, cpu, 0x7f0000001000, 4096);
  stepscope_put(t + 9000, kManyBytes, kind, second_gpu, 0x7e0000000000, 512);
  stepscope_put(t + 9000, 0, reserved, second_gpu, 2 * kManyBytes, 0);
  stepscope_put(t + 18000, 0, kind, cpu, 0x7f0000001000, static_cast<uint64_t>(int64_t{-4096}));
  stepscope_stop();

  ImportedRank run = import_only(folder.path());
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run.texts(Table::kMemory, "device_kind"),
            (std::vector<std::string>{"CPU", "CUDA", "CPU"}));
  EXPECT_EQ(run.integers(Table::kMemory, "device"), (std::vector<int64_t>{-1, 1, -1}));
  EXPECT_EQ(run.integers(Table::kMemory, "address"),
            (std::vector<int64_t>{0x7f0000001000, 0x7e0000000000, 0x7f0000001000}));
  EXPECT_EQ(run.integers(Table::kMemory, "bytes"), (std::vector<int64_t>{4096, 512, -4096}));
  EXPECT_EQ(run.integers(Table::kMemory, "total_allocated"),
            (std::vector<int64_t>{4096, int64_t{kManyBytes}, 0}));
  EXPECT_EQ(run.integers(Table::kMemory, "total_reserved"),
            (std::vector<int64_t>{kNull, int64_t{2 * kManyBytes}, kNull}));
}

// with record_function("A"): a = torch.empty(1000); del a
TEST(TorchRecords, AllocatorEventsBelongToTheInnermostRange) {
  const TemporaryFolder folder;
  start(folder.path("run"));
  const uint64_t t = stepscope_ticks();
  const uint32_t kind = STEPSCOPE_MEMORY | STEPSCOPE_VALUES;
  stepscope_put(t, 90'000, STEPSCOPE_USER, name_of("A"), 0, 0);
  stepscope_put(t + 10'000, 30'000, STEPSCOPE_OPERATOR, name_of("aten::empty"), 0, 0);
  stepscope_put(t + 20'000, 4000, kind, 0, 0x7f0000001000, 4000);
  stepscope_put(t + 60'000, 0, kind, 0, 0x7f0000001000, static_cast<uint64_t>(int64_t{-4000}));
  stepscope_put(t + 120'000, 8000, kind, 0, 0x7f0000002000, 8000);
  stepscope_stop();

  ImportedRank run = import_only(folder.path());
  ASSERT_TRUE(run.ok());
  const auto names = run.texts(Table::kSlices, "name");
  const auto row_of = [&](std::string_view name) {
    return std::ranges::find(names, name) - names.begin();
  };
  EXPECT_EQ(run.integers(Table::kMemory, "slice"),
            (std::vector<int64_t>{row_of("aten::empty"), row_of("A"), kNull}));
  EXPECT_EQ(run.texts(Table::kMemory, "name"),
            (std::vector<std::string>{"aten::empty", "NULL", "NULL"}))
      << "a range is no operator";
}

}  // namespace
}  // namespace stepscope
