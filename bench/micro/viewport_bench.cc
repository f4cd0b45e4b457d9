// What a timeline asks of a store: open it, search names, and draw one track at every zoom, at 100
// million events.
//
//   build/bench/viewport_bench [EVENTS [TRACKS STORE]]
//
// EVENTS: 100,000,000 unless said; 48 bytes of memory an event while building. With a STORE, events
// on so many tracks are written there and nothing is measured: bench/server/load.py does it.
//
// Printed beside the machine's own limit: the time to read as many bytes as the answer has from
// memory.
#include "store/viewport.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "store/store_reader.h"
#include "store/store_writer.h"

namespace stepscope {
namespace {

constexpr uint32_t kPixels = 1920;
constexpr int kViews = 200;
constexpr int kNames = 1000;

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

[[noreturn]] void fail(const Error& error) {
  std::fprintf(stderr, "viewport_bench: %s\n", error.message().c_str());
  std::exit(1);
}

// Streams: bursts of short kernels with gaps between steps.
void make_store(const std::string& path, uint64_t events, uint64_t tracks) {
  RankBuilder rank;
  std::vector<StringId> names;
  for (int i = 0; i < kNames; ++i) {
    names.push_back(
        rank.strings.intern("void kernel_" + std::to_string(i) + "<float, long name>(Params)"));
  }
  uint64_t random = 88172645463325252ull;
  for (uint64_t stream = 0; stream < tracks; ++stream) {
    TrackInfo info;
    info.kind = TrackKind::kDevice;
    info.stream = static_cast<int64_t>(stream);
    const TrackId track = rank.add_track(info);
    int64_t ts_ns = 1'790'000'000'000'000'000;
    for (uint64_t i = 0; i < events / tracks; ++i) {
      random ^= random << 13, random ^= random >> 7, random ^= random << 17;
      SliceRecord slice;
      slice.ts_ns = ts_ns;
      slice.dur_ns = 500 + static_cast<int64_t>(random % 10'000);
      slice.name = names[(random >> 20) % kNames];
      rank.add_slice(track, slice);
      ts_ns +=
          slice.dur_ns + (i % 4000 == 0 ? 2'000'000 : static_cast<int64_t>((random >> 50) % 2000));
    }
  }
  auto writer = StoreWriter::create(path, 1);
  if (!writer) fail(writer.error());
  if (auto status = (*writer)->add_rank(0, rank, available_cpus()); !status) fail(status.error());
  if (auto status = (*writer)->finish("{}"); !status) fail(status.error());
}

struct Times {
  double median_us = 0;
  double p99_us = 0;
};

Times summarise(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  return {seconds[seconds.size() / 2] * 1e6, seconds[seconds.size() * 99 / 100] * 1e6};
}

int main_program(int count, char** words) {
  const uint64_t events = count > 1 ? std::strtoull(words[1], nullptr, 10) : 100'000'000;
  if (count > 3) {
    make_store(words[3], events, std::max(1ull, std::strtoull(words[2], nullptr, 10)));
    return 0;
  }
  const auto folder = std::filesystem::temp_directory_path() /
                      ("stepscope-viewport-bench-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const std::string path = (folder / "bench.stepscope").string();
  make_store(path, events, 1);

  double start = now_s();
  auto opened = StoreReader::open(path);
  if (!opened) fail(opened.error());
  const StoreReader& store = **opened;
  std::printf("%llu events, store %.1f MB (%.2f bytes an event), opened in %.2f ms\n",
              static_cast<unsigned long long>(events),
              static_cast<double>(store.file_bytes()) / 1e6,
              static_cast<double>(store.file_bytes()) / static_cast<double>(events),
              (now_s() - start) * 1e3);
  start = now_s();
  const size_t found = store.find_strings("KERNEL_77").size();
  std::printf("name search: %zu of %zu strings in %.3f ms\n", found, store.string_count(),
              (now_s() - start) * 1e3);

  const int64_t first_ns = store.column(Table::kRanks, "first_ns", 0).at(0);
  const int64_t last_ns = store.column(Table::kRanks, "last_ns", 0).at(0);
  const std::vector<std::byte> memory(kPixels * sizeof(ViewportItem), std::byte{1});
  std::mt19937_64 random(1);
  std::printf("%-14s %12s %12s %10s\n", "view", "median us", "p99 us", "items");
  for (int zoom = 0; zoom <= 24; zoom += 3) {
    std::vector<double> seconds;
    size_t items_seen = 0;
    for (int view = 0; view < kViews; ++view) {
      const int64_t length = std::max<int64_t>((last_ns - first_ns) >> zoom, 1);
      const auto room = static_cast<uint64_t>(last_ns - first_ns - length);
      const int64_t from = first_ns + static_cast<int64_t>(room == 0 ? 0 : random() % room);
      std::vector<ViewportItem> items;
      items.reserve(kPixels + 2);
      const double begin = now_s();
      query_viewport(store, 0, 0, {from, from + length, kPixels}, items);
      seconds.push_back(now_s() - begin);
      items_seen = std::max(items_seen, items.size());
    }
    const Times times = summarise(seconds);
    std::printf("1/%-12llu %12.1f %12.1f %10zu\n", 1ull << zoom, times.median_us, times.p99_us,
                items_seen);
  }
  std::vector<double> seconds;
  unsigned sum = 0;
  for (int round = 0; round < kViews; ++round) {
    const double begin = now_s();
    for (const std::byte byte : memory) sum += static_cast<unsigned>(byte);
    seconds.push_back(now_s() - begin);
  }
  std::printf("limit: reading an answer of %u items from memory %.1f us (%u)\n", kPixels,
              summarise(seconds).median_us, sum & 1);
  std::filesystem::remove_all(folder);
  return 0;
}

}  // namespace
}  // namespace stepscope

int main(int count, char** words) { return stepscope::main_program(count, words); }
