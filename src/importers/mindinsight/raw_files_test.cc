// Raw files of MindInsight's time that are read byte by byte: the memory plan, the framework's task
// descriptions, hardware counters, and HCCL's transfers.
#include <cstring>
#include <map>
#include <memory>

#include <gtest/gtest.h>

#include "importers/discover.h"
#include "importers/mindinsight/mindinsight_importer.h"
#include "importers/mindinsight/wire_reader.h"
#include "tests/support/imported_rank.h"

namespace stepscope {
namespace {

using testing::find_candidates;
using testing::ImportedRank;
using testing::TemporaryFolder;

template <typename T>
std::string bytes_of(T value) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}
std::string number_field(uint32_t number, uint64_t value) {
  return varint(number << 3) + varint(value);
}
std::string bytes_field(uint32_t number, const std::string& bytes) {
  return varint(number << 3 | 2) + varint(bytes.size()) + bytes;
}
std::string tensor(uint64_t id, uint64_t size, uint64_t start, uint64_t end,
                   const std::string& life) {
  return bytes_field(4, number_field(1, id) + number_field(2, size) + bytes_field(3, "Common") +
                            number_field(4, start) + number_field(5, end) + bytes_field(6, life));
}

class MindinsightRaw : public ::testing::Test {
 protected:
  std::unique_ptr<ImportedRank> import(const std::string& folder, int64_t device) {
    for (const Candidate& candidate : find_candidates(importer_, folder)) {
      if (candidate.path != folder || candidate.rank != device) continue;
      auto rank = std::make_unique<ImportedRank>(importer_, candidate);
      return rank->ok() ? std::move(rank) : nullptr;
    }
    ADD_FAILURE() << "no device " << device;
    return nullptr;
  }
  std::unique_ptr<ImportedRank> import() { return import(folder_.path(), 0); }

  MindinsightImporter importer_;
  TemporaryFolder folder_;
};

TEST_F(MindinsightRaw, MemoryPlan) {
  const std::string graph =
      number_field(1, 7) + number_field(2, 1000) +
      bytes_field(3, bytes_field(1, "Conv2D-op1") + number_field(2, 0) + bytes_field(3, varint(1)) +
                         bytes_field(4, varint(2) + varint(300)) +
                         bytes_field(5, varint(2) + varint(300))) +
      bytes_field(3, bytes_field(1, "ReLU-op2") + number_field(2, 1) + number_field(3, 2) +
                         number_field(4, 4)) +
      bytes_field(3, bytes_field(1, "Mul-op3") + number_field(2, 2) + number_field(4, 99)) +
      tensor(1, 10, 0, 0, "LifeLongGraphAll") + tensor(2, 200, 0, 1, "LifeLongNone") +
      tensor(300, 3000, 0, 0, "LifeLongNone") + tensor(4, 40, 1, 0, "LifeLongGraphEnd") +
      tensor(5, 5, 0, 1, "LifeLongGraphStart") + tensor(6, 6, 2, 1, "LifeLongNone") +
      tensor(7, 7, 0, 0, "another word") + bytes_field(5, "Conv2D-op1") + bytes_field(6, "Mul-op3");
  folder_.write("memory_usage_0.pb",
                bytes_field(1, graph) + number_field(2, 1u << 30) + number_field(9, 1));
  const auto rank = import();
  ASSERT_TRUE(rank);
  // Static, then what lives at each node: all of the plan has an order and no time.
  EXPECT_EQ(rank->integers(Table::kMemory, "total_allocated"),
            (std::vector<int64_t>{1000, 1000 + 10 + 200 + 3000 + 5, 1000 + 10 + 200 + 40 + 5,
                                  1000 + 10 + 40}));
  EXPECT_EQ(rank->integers(Table::kMemory, "ts"), std::vector<int64_t>(4, kNull));
  EXPECT_EQ(rank->texts(Table::kMemory, "name"),
            (std::vector<std::string>{"static memory", "Conv2D-op1", "ReLU-op2", "Mul-op3"}));
  EXPECT_EQ(rank->texts(Table::kMemory, "component")[0], "graph 7");
  EXPECT_EQ(rank->source_integers("memory_usage_graphs", "peak_bytes"), std::vector<int64_t>{4215});
  EXPECT_EQ(rank->source_integers("memory_usage_graphs", "device_bytes"),
            std::vector<int64_t>{1 << 30});
  EXPECT_EQ(rank->source_texts("memory_usage_graphs", "bp_end"),
            std::vector<std::string>{"Mul-op3"});
  EXPECT_EQ(rank->source_integers("memory_usage_nodes", "allocations"),
            (std::vector<int64_t>{2, 1, 1}));
  EXPECT_EQ(rank->source_integers("memory_usage_nodes", "allocated_bytes"),
            (std::vector<int64_t>{3200, 40, 0}));
  EXPECT_EQ(rank->source_integers("memory_usage_nodes", "change_bytes"),
            (std::vector<int64_t>{3215, -2960, -205}));
  EXPECT_EQ(rank->source_texts("memory_usage_nodes", "output_tensors")[0], "2,300");
  EXPECT_EQ(rank->source_texts("memory_usage_tensors", "source_node"),
            (std::vector<std::string>{"NULL", "Conv2D-op1", "Conv2D-op1", "ReLU-op2", "NULL",
                                      "NULL", "NULL"}));
  EXPECT_EQ(rank->source_integers("memory_usage_tensors", "first_position"),
            (std::vector<int64_t>{0, 0, 0, 1, 0, kNull, kNull}));
  EXPECT_EQ(rank->source_integers("memory_usage_tensors", "last_position"),
            (std::vector<int64_t>{2, 1, 0, 2, 1, kNull, kNull}));
  EXPECT_EQ(rank->quality("inconsistent_counts"), 3);  // tensors 6, 7, and 99 that nobody has
  EXPECT_EQ(rank->quality("not_understood"), 1);       // field 9
}

TEST_F(MindinsightRaw, DamagedMemoryPlansKeepWhatWasReadable) {
  const std::string node = bytes_field(3, bytes_field(1, "Add-op1"));
  const std::string good = bytes_field(1, number_field(1, 1) + node);
  const std::pair<const char*, std::string> damaged[] = {
      {"cut", good + "\x0A\x7F\x01"},
      {"group", good + "\x0B"},
      {"number 0", good + std::string(2, '\0')},
      {"endless varint", good + std::string(20, '\xFF')},
      {"size beyond all", good + bytes_field(1, number_field(2, ~0ull))},
  };
  for (const auto& [what, bytes] : damaged) {
    folder_.write("memory_usage_0.pb", bytes);
    const auto rank = import();
    ASSERT_TRUE(rank) << what;
    EXPECT_EQ(rank->source_texts("memory_usage_nodes", "node_name"),
              std::vector<std::string>{"Add-op1"})
        << what;
    EXPECT_EQ(rank->quality("unparsable_event") + rank->quality("bad_number"), 1) << what;
  }
}

TEST(WireReader, FieldsOfEveryForm) {
  using mindinsight::WireField;
  const std::string bytes = number_field(1, ~0ull) + varint(2 << 3 | 1) + bytes_of(uint64_t{77}) +
                            varint(3 << 3 | 5) + bytes_of(uint32_t{88}) + bytes_field(4, "text");
  mindinsight::WireReader reader(bytes, 100);
  WireField field;
  ASSERT_TRUE(reader.next(field));
  EXPECT_EQ(field.value, ~0ull);
  ASSERT_TRUE(reader.next(field));
  EXPECT_EQ(field.value, 77u);
  ASSERT_TRUE(reader.next(field));
  EXPECT_EQ(field.value, 88u);
  ASSERT_TRUE(reader.next(field));
  EXPECT_EQ(field.bytes, "text");
  EXPECT_EQ(reader.bytes_position(field), 100 + bytes.size() - 4);
  EXPECT_FALSE(reader.next(field));
  EXPECT_FALSE(reader.damaged());
}

std::string mixed(const std::string& text, size_t size) {
  std::string bytes = std::string(8, '\0') + text;
  bytes.resize(size);
  return bytes;
}
std::string hashed(uint64_t hash, size_t size) {
  std::string bytes = std::string(1, '\1') + std::string(7, '\0') + bytes_of(hash);
  bytes.resize(size);
  return bytes;
}
std::string task_record(const std::string& name, const std::string& type, uint32_t stream,
                        uint32_t task) {
  return bytes_of(uint16_t{0x5A5A}) + bytes_of(uint16_t{1}) + bytes_of(uint32_t{2}) + name + type +
         bytes_of(uint64_t{3}) + bytes_of(uint64_t{123456}) + bytes_of(uint32_t{0}) +
         bytes_of(uint32_t{32}) + bytes_of(uint32_t{9}) + bytes_of(stream) + bytes_of(task) +
         bytes_of(uint32_t{55}) + std::string(16, '\0');
}

TEST_F(MindinsightRaw, BinaryFrameworkFilesNameAndDescribeTasks) {
  constexpr uint64_t kHash = 18446744073709551557ull;  // beyond a signed number
  folder_.write("Framework.hash_dic.0.slice_0",
                std::to_string(kHash) + ":Default/Mul-op2\n12:Mul\nbroken\n");
  folder_.write("Framework.task_desc_info.0.slice_0",
                task_record(mixed("Default/Conv2D-op1", 128), mixed("Conv2D", 64), 4, 11) +
                    task_record(hashed(kHash, 128), hashed(12, 64), 4, 12) +
                    task_record(hashed(99, 128), mixed("Add", 64), 4, 13) + "cut");
  std::string step = bytes_of(uint16_t{0x5A5A}) + bytes_of(uint16_t{0}) + bytes_of(uint32_t{9}) +
                     bytes_of(uint32_t{4}) + bytes_of(uint32_t{11}) + bytes_of(uint64_t{1000}) +
                     bytes_of(uint64_t{1}) + bytes_of(uint32_t{55}) + std::string(1, '\2');
  step.resize(64);
  folder_.write("Framework.step_info.0.slice_0", step);
  const auto shape = [](uint32_t type, uint32_t first, uint32_t second) {
    std::string one = bytes_of(type) + bytes_of(uint32_t{3}) + bytes_of(uint32_t{43}) +
                      bytes_of(first) + bytes_of(second);
    one.resize(44);
    return one;
  };
  const auto tensors = [](uint64_t iteration, uint8_t count, const std::string& list) {
    std::string record = bytes_of(uint16_t{0x5A5A}) + bytes_of(uint16_t{0}) +
                         bytes_of(uint32_t{9}) + bytes_of(iteration) + bytes_of(uint32_t{4}) +
                         bytes_of(uint32_t{11}) + bytes_of(count) + std::string(3, '\0') + list;
    record.resize(256);
    return record;
  };
  folder_.write("Framework.tensor_data_info.0.slice_0",
                tensors(1, 3, shape(0, 32, 3) + shape(0, 8, 0) + shape(1, 32, 8)) +
                    tensors(2, 1, shape(0, 1, 1)) + tensors(2, 6, ""));
  folder_.write("Framework.new_kind.0.slice_0", "?");
  const auto task = [](uint8_t type, uint16_t id, uint64_t count) {
    std::string record = bytes_of(type) + bytes_of(uint8_t{0}) + bytes_of(uint16_t{0}) +
                         bytes_of(uint16_t{0}) + bytes_of(id) + bytes_of(count) +
                         bytes_of(uint32_t{4});
    record.resize(64);
    return record;
  };
  folder_.write("hwts.data.0.slice_0", task(0, 11, 100) + task(1, 11, 150));
  std::string counters = std::string(6, '\0') + bytes_of(uint16_t{12}) + std::string(8, '\0');
  for (uint64_t i = 0; i < 10; ++i) counters += bytes_of(1000 + i);
  counters += bytes_of(uint32_t{4});
  counters.resize(128);
  folder_.write("aicore.data.0.slice_0", counters + "cut");
  const auto rank = import();
  ASSERT_TRUE(rank);
  EXPECT_EQ(rank->source_texts("framework_tasks", "full_op_name"),
            (std::vector<std::string>{"Default/Conv2D-op1", "Default/Mul-op2", "hash 99"}));
  EXPECT_EQ(rank->source_texts("framework_tasks", "op_type"),
            (std::vector<std::string>{"Conv2D", "Mul", "Add"}));
  EXPECT_EQ(rank->source_integers("framework_tasks", "block_dim")[0], 32);
  EXPECT_EQ(rank->source_integers("framework_tasks", "iteration")[0], 3);
  EXPECT_EQ(rank->source_integers("framework_tasks", "time_stamp")[0], 123456);
  EXPECT_EQ(rank->source_integers("framework_tasks", "thread_id")[0], 55);
  EXPECT_EQ(rank->source_integers("framework_steps", "tag"), std::vector<int64_t>{2});
  EXPECT_EQ(rank->source_texts("framework_steps", "op_name"),
            std::vector<std::string>{"Default/Conv2D-op1"});
  EXPECT_EQ(rank->source_texts("framework_tensors", "shape"),
            (std::vector<std::string>{"[32, 3]", "[8]", "[32, 8]", "[1, 1]"}));
  EXPECT_EQ(rank->texts(Table::kKernels, "name"), std::vector<std::string>{"Default/Conv2D-op1"});
  EXPECT_EQ(rank->texts(Table::kKernels, "op_type"), std::vector<std::string>{"Conv2D"});
  EXPECT_EQ(rank->texts(Table::kKernels, "input_shapes"),
            std::vector<std::string>{"[[32, 3], [8]]"});
  EXPECT_EQ(rank->texts(Table::kKernels, "output_shapes"), std::vector<std::string>{"[[32, 8]]"});
  EXPECT_EQ(rank->source_texts("aicore_counters", "op_name"),
            std::vector<std::string>{"Default/Mul-op2"});
  EXPECT_EQ(rank->source_integers("aicore_counters", "total_cycles"), std::vector<int64_t>{1000});
  EXPECT_EQ(rank->source_integers("aicore_counters", "counter_0"), std::vector<int64_t>{1002});
  EXPECT_EQ(rank->source_integers("aicore_counters", "counter_7"), std::vector<int64_t>{1009});
  EXPECT_EQ(rank->source_integers("aicore_counters", "stream_id"), std::vector<int64_t>{4});
  EXPECT_EQ(rank->quality("truncated_input"), 2);
  EXPECT_EQ(rank->quality("unparsable_event"), 2);  // a line of hashes, six tensors
  EXPECT_EQ(rank->quality("not_understood"), 2);    // hash 99, the new kind
}

TEST_F(MindinsightRaw, TransfersBelongToTheirCollective) {
  folder_.write("step_trace_raw_0_detail_time.csv",
                "step_num,start_point,end_point,total,fp_point,bp_point,iteration_interval,"
                "fp_and_bp,tail,stream_24_0_AllReduce-op3_start_point,"
                "stream_24_0_AllReduce-op3_end_point,stream_24_0_AllReduce-op3\n"
                "1,0,100000,100000,0,90000,0,90000,10000,20000,40000,20000\n");
  const auto event = [](const char* ts, const char* rest) {
    return std::string(R"({"tid":2,"pid":"0","ph":"X","ts":)") + ts + rest;
  };
  folder_.write("hccl_info/allReduce_1_1/iter1.trace",
                R"({"device id":"0","iteration":1,"traceEvents":[)" +
                    event("250.001", R"(,"dur":2.5,"name":"Memcpy","args":{"task type":"Memcpy",
                      "src rank":1,"dst rank":0,"transport type":"SDMA","size":"0x100"}},)") +
                    event("253", R"(,"dur":1,"name":"Notify Wait","args":{"task type":
                      "Notify Wait","src rank":4294967295,"dst rank":0,"size":null,"deep":{"ts":9,"list":[1]}}},)") +
                    event("\"x\"", R"(,"dur":1,"args":{}})") + "]}");
  folder_.write("hccl_info/broadcast_1_1/iter1.trace",
                R"({"device id":"0","traceEvents":[)" +
                    event("900.5", R"(,"dur":1.5,"name":"RDMASend","args":{"task type":"RDMASend",
                      "src rank":0,"dst rank":8,"transport type":"RDMA","size":64}},{"tid":2,"ts)"));
  folder_.write("hccl_info/broadcast_1_1/iter2.trace", "not json");
  folder_.write("hccl_info/broadcast_1_1/notes.txt", "mine");
  folder_.write("PROF_1/device_0/empty", "");  // lets discovery look into the folders
  const auto rank = import();
  ASSERT_TRUE(rank);
  const auto names = rank->texts(Table::kCommunications, "name");
  const auto levels = rank->texts(Table::kCommunications, "level");
  const auto ids = rank->integers(Table::kCommunications, "id");
  const auto of = rank->integers(Table::kCommunications, "of");
  std::map<std::string, size_t> row;
  for (size_t i = 0; i < names.size(); ++i) row[names[i]] = i;
  ASSERT_EQ(names.size(), 5u);
  const auto value = [&](const char* name, const char* column) {
    return rank->integers(Table::kCommunications, column)[row.at(name)];
  };
  EXPECT_EQ(value("Memcpy", "ts"), 250'001);
  EXPECT_EQ(value("Memcpy", "dur"), 2'500);
  EXPECT_EQ(value("Memcpy", "bytes"), 256);
  EXPECT_EQ(value("Memcpy", "transit"), 2'500);
  EXPECT_EQ(value("Notify Wait", "wait"), 1'000);
  EXPECT_EQ(value("Notify Wait", "src_rank"), 0);
  EXPECT_EQ(value("Memcpy", "of"), ids[row.at("stream_24_0_AllReduce-op3")]);
  EXPECT_EQ(value("RDMASend", "of"), ids[row.at("broadcast_1_1")]);
  EXPECT_EQ(value("broadcast_1_1", "dur"), 1'500);
  EXPECT_EQ(levels[row.at("RDMASend")], "task");
  EXPECT_EQ(levels[row.at("broadcast_1_1")], "op");
  EXPECT_EQ(rank->quality("unparsable_event"), 1);
  EXPECT_EQ(rank->quality("truncated_input"), 1);
  EXPECT_EQ(rank->quality("unreadable_file"), 1);
  EXPECT_EQ(rank->quality("ignored_file"), 1);
  // The files are part of the folder, no traces of their own.
  const auto sources = discover({folder_.path()}, "");
  ASSERT_TRUE(sources.ok());
  EXPECT_EQ(sources->size(), 1u);
}

// shared/data/mindinsight/EXPECTED.md section 8.
TEST_F(MindinsightRaw, TransfersOfTheSharedData) {
  const std::string root = testing::shared_data_at("mindinsight");
  if (root.empty()) GTEST_SKIP() << testing::kNoSharedData;
  const auto rank = import(root + "/mindspore/tests/ut/data/profiler_data/profiler", 6);
  ASSERT_TRUE(rank);
  const auto levels = rank->texts(Table::kCommunications, "level");
  const auto ops = rank->texts(Table::kCommunications, "op");
  const auto steps = rank->integers(Table::kCommunications, "step");
  const auto sources = rank->integers(Table::kCommunications, "src_rank");
  const auto targets = rank->integers(Table::kCommunications, "dst_rank");
  const auto lengths = rank->integers(Table::kCommunications, "dur");
  const auto waits = rank->integers(Table::kCommunications, "wait");
  const auto bytes = rank->integers(Table::kCommunications, "bytes");
  const auto of = rank->integers(Table::kCommunications, "of");
  const auto names = rank->texts(Table::kSlices, "name");
  std::map<std::pair<int64_t, std::string>, std::pair<int64_t, int64_t>> links;  // ns, bytes
  std::map<int64_t, int64_t> waited;
  size_t tasks = 0;
  for (size_t i = 0; i < levels.size(); ++i) {
    if (levels[i] != "task") continue;
    ++tasks;
    ASSERT_NE(of[i], kNull);
    EXPECT_EQ(names[static_cast<size_t>(of[i])], "stream_24_0_AllReduce-op3143");
    if (waits[i] != kNull) waited[steps[i]] += waits[i];
    if (bytes[i] == kNull) continue;
    auto& link = links[{steps[i], std::to_string(sources[i]) + "-" + std::to_string(targets[i])}];
    link.first += lengths[i];
    link.second += bytes[i];
  }
  EXPECT_EQ(tasks, 38u);
  EXPECT_EQ((links[{1, "1-0"}]), (std::pair<int64_t, int64_t>{4'365'660, 94'356'992}));
  EXPECT_EQ((links[{1, "0-0"}]), (std::pair<int64_t, int64_t>{150'710, 47'178'496}));
  EXPECT_EQ((links[{2, "1-0"}]), (std::pair<int64_t, int64_t>{4'368'450, 94'356'992}));
  EXPECT_EQ((links[{2, "0-0"}]), (std::pair<int64_t, int64_t>{150'810, 47'178'496}));
  EXPECT_EQ(waited[1], 40);
  EXPECT_EQ(waited[2], 70);
}

}  // namespace
}  // namespace stepscope
