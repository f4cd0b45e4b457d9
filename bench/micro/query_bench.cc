// SQL over a store of 20 million slices: filter + group by name + order by sum, in ns per row,
// beside the machine's own limit, a plain scan of the same bytes in memory.
//
//   build/bench/query_bench [ROWS] [THREADS]
//
// The store is made through RankBuilder, as an importer would, in a temporary folder.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "query/database.h"
#include "store/rank_builder.h"
#include "store/store_reader.h"
#include "store/store_writer.h"

namespace stepscope {
namespace {

constexpr int kRounds = 5;
constexpr int kNames = 400;
constexpr int kTracks = 8;

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

[[noreturn]] void fail(const Error& error) {
  std::fprintf(stderr, "query_bench: %s\n", error.message().c_str());
  std::exit(1);
}

// Kernels on a few streams, names of 20 to 120 characters, a tenth of the rows of another category.
void make_store(const std::string& path, uint64_t rows) {
  RankBuilder rank;
  rank.info.source_format = "bench";
  std::vector<StringId> names;
  for (int i = 0; i < kNames; ++i) {
    std::string name = "void kernel_" + std::to_string(i) + "<float, ";
    name.append(static_cast<size_t>(i) % 100, 'x');
    names.push_back(rank.strings.intern(name + ">"));
  }
  const StringId cats[] = {rank.strings.intern("kernel"), rank.strings.intern("gpu_memcpy")};
  uint64_t random = 88172645463325252ull;
  for (int track = 0; track < kTracks; ++track) {
    TrackInfo info;
    info.kind = TrackKind::kDevice;
    info.device = 0;
    info.stream = track;
    info.tid = rank.strings.intern("stream " + std::to_string(track));
    info.thread = info.tid;
    const TrackId id = rank.add_track(info);
    int64_t ts_ns = 1'700'000'000'000'000'000;
    for (uint64_t row = 0; row < rows / kTracks; ++row) {
      random ^= random << 13, random ^= random >> 7, random ^= random << 17;
      SliceRecord slice;
      slice.ts_ns = ts_ns;
      slice.dur_ns = 1000 + static_cast<int64_t>(random % 100'000);
      slice.name = names[(random >> 20) % kNames];
      slice.cat = cats[(random >> 40) % 10 == 0];
      slice.correlation = rank.pack_id(static_cast<int64_t>(row));
      slice.kind = SliceKind::kKernel;
      rank.add_slice(id, slice);
      ts_ns += slice.dur_ns + static_cast<int64_t>((random >> 50) % 5000);
    }
  }
  auto writer = StoreWriter::create(path, 1);
  if (!writer) fail(writer.error());
  if (auto status = (*writer)->add_rank(0, rank, available_cpus()); !status) fail(status.error());
  if (auto status = (*writer)->finish("{}"); !status) fail(status.error());
}

// Best of a few rounds, in ns per row.
template <typename Work>
double measure(uint64_t rows, const Work& work) {
  double best = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    const double start = now_s();
    work();
    best = std::min(best, now_s() - start);
  }
  return best * 1e9 / static_cast<double>(rows);
}

uint64_t run(Database& database, const std::string& sql) {
  auto result = database.query(sql);
  if (!result) fail(result.error());
  uint64_t rows = 0;
  while (true) {
    auto chunk = (*result)->next();
    if (!chunk) fail(chunk.error());
    if (*chunk == nullptr) return rows;
    rows += (*chunk)->rows();
  }
}

// Reads as many bytes as the three columns take in memory, on the same number of threads.
double plain_scan(uint64_t rows, unsigned threads) {
  constexpr uint64_t kBytesPerRow = 8 + 4 + 4;
  const std::vector<uint64_t> memory(rows * kBytesPerRow / 8, 1);
  std::vector<uint64_t> sums(threads);
  return measure(rows, [&] {
    parallel_for(threads, threads, [&](size_t part) {
      const size_t share = memory.size() / threads;
      const uint64_t* first = memory.data() + part * share;
      sums[part] += std::accumulate(first, first + share, uint64_t{0});
    });
    if (sums[0] == 0) std::puts("");
  });
}

int main_program(int count, char** words) {
  const uint64_t rows = count > 1 ? std::strtoull(words[1], nullptr, 10) : 20'000'000;
  const unsigned threads =
      count > 2 ? static_cast<unsigned>(std::strtoul(words[2], nullptr, 10)) : available_cpus();
  const auto folder = std::filesystem::temp_directory_path() /
                      ("stepscope-query-bench-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const std::string path = (folder / "bench.stepscope").string();
  make_store(path, rows);

  double start = now_s();
  auto store = StoreReader::open(path);
  if (!store) fail(store.error());
  const double open_store_s = now_s() - start;
  start = now_s();
  DatabaseOptions options;
  options.threads = threads;
  auto database = Database::open(*store, options);
  if (!database) fail(database.error());
  std::printf("%llu rows, %u threads; opening: store %.1f ms, SQL %.1f ms\n",
              static_cast<unsigned long long>(rows), threads, open_store_s * 1e3,
              (now_s() - start) * 1e3);
  start = now_s();
  run(**database, "select count(*) from slices");
  std::printf("first answer (count) %.1f ms\n", (now_s() - start) * 1e3);

  const struct {
    const char* what;
    const char* sql;
  } queries[] = {
      {"slices: filter + group + order",
       "select name, count(*), sum(dur) as total from slices where cat = 'kernel' group by name "
       "order by total desc"},
      {"slices: same, on text instead of ENUM",
       "select name::varchar as n, count(*), sum(dur) as total from slices where cat::varchar = "
       "'kernel' group by n order by total desc"},
      {"kernels: filter + group + order",
       "select name, count(*), sum(dur) as total from kernels where cat = 'kernel' group by name "
       "order by total desc"},
      {"slices: filter on a time range, sum",
       "select sum(dur) from slices where ts between 1700000001000000000 and 1700000002000000000"},
      {"slices: count of a name pattern", "select count(*) from slices where name like '%39<%'"},
  };
  for (const auto& query : queries) {
    std::printf("%-42s %6.2f ns/row\n", query.what,
                measure(rows, [&] { run(**database, query.sql); }));
  }
  std::printf("%-42s %6.2f ns/row\n", "limit: plain scan of 16 bytes a row",
              plain_scan(rows, threads));
  database->reset();
  std::filesystem::remove_all(folder);
  return 0;
}

}  // namespace
}  // namespace stepscope

int main(int count, char** words) { return stepscope::main_program(count, words); }
