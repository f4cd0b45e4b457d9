// What the writer thread pays for a record of CUPTI: reading, naming, columns, zeroing the buffer;
// packing and writing the chunk are apart. The records come from the stand-in for CUPTI, so this
// needs no GPU. Run: build/bench/cupti_bench
#include <dlfcn.h>

#include <chrono>
#include <cstdlib>
#include <string>

#include <benchmark/benchmark.h>

#include "collector/sources/cupti/cupti_source.h"
#include "tests/support/fake_cupti/fake_cupti.h"

namespace {

namespace cupti = stepscope::cupti;
using Clock = std::chrono::steady_clock;

constexpr int kLaunches = 30'000;  // fit one buffer of 8 MiB as kernels and calls

void decode_records(benchmark::State& state) {
  ::setenv("STEPSCOPE_CUPTI", STEPSCOPE_FAKE_CUPTI, 1);
  void* const handle = ::dlopen(STEPSCOPE_FAKE_CUPTI, RTLD_NOW);
  const auto reset =
      reinterpret_cast<decltype(&fake_cupti_reset)>(::dlsym(handle, "fake_cupti_reset"));
  const auto launch =
      reinterpret_cast<decltype(&fake_cupti_launch)>(::dlsym(handle, "fake_cupti_launch"));
  const std::string names[] = {"_Z4gemmPf", "_Z3addPf", "_ZN2at6nativeL6kernelIfEEvPT_"};
  stepscope::WriterBell bell;
  int64_t events = 0;
  double seconds = 0;
  double pack_seconds = 0;
  for (auto _ : state) {
    reset(1300);
    cupti::CuptiOptions options;
    options.tier = static_cast<cupti::Tier>(state.range(0));
    cupti::CuptiSource source(options, bell);
    if (!source.start().ok()) return state.SkipWithError("the stand-in does not start");
    for (int i = 0; i < kLaunches; ++i) {
      const FakeLaunch kernel{names[i % 3].c_str(), 0, 7, i % 50 + 1, 0, 0, 5000};
      launch(&kernel);
    }
    source.stop();
    stepscope::ChunkBuilder chunk;
    stepscope::NameTable table;
    stepscope::LastingRows lasting(chunk);
    stepscope::SourceOutput output{chunk, table, lasting};
    const auto began = Clock::now();
    while (source.waiting()) source.collect(output);
    const auto decoded = Clock::now();
    benchmark::DoNotOptimize(chunk.pack(0).data());
    const auto packed = Clock::now();
    seconds += std::chrono::duration<double>(decoded - began).count();
    pack_seconds += std::chrono::duration<double>(packed - decoded).count();
    events += output.events;
    state.SetIterationTime(std::chrono::duration<double>(packed - began).count());
  }
  const auto count = static_cast<double>(events);
  state.counters["decode_ns"] = seconds * 1e9 / count;
  state.counters["pack_ns"] = pack_seconds * 1e9 / count;
}
BENCHMARK(decode_records)->Arg(2)->Arg(3)->UseManualTime()->Iterations(30);

}  // namespace
