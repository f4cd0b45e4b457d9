// Small stores with known content, written through RankBuilder as importers do, for tests of what
// reads stores.
#ifndef STEPSCOPE_TESTS_SUPPORT_SAMPLE_STORE_H_
#define STEPSCOPE_TESTS_SUPPORT_SAMPLE_STORE_H_

#include <string>

#include "store/rank_builder.h"
#include "tests/support/temporary_folder.h"

namespace stepscope::testing {

// One rank, all times in ns after 1700000000000000000:
//   host thread 100: ProfilerStep#7 0..10000; aten::mm 1000..3000 (external id 5) with
//     cudaLaunchKernel 1500..1600 (correlation 11); aten::add 4000..4500 (6) with cudaLaunchKernel
//     4100..4200 (12); an instant "marker \"quoted\"" at 5000; broken -50 long at 6000 (impossible)
//   stream 7: gemm_kernel 2000..3500 (11), add_kernel 3000..5200 (12), which overlaps it
//   flows: ac2g 11 and 12, fwdbwd aten::mm -> aten::add
//   a counter, two memory events, a queue sample, a step, a source table op_statistic
// Ranks other than 0 take (1000 * number) ns longer for gemm_kernel.
void fill_sample_rank(RankBuilder& rank, int64_t number, int64_t world_size);

// Writes a store of that many sample ranks and returns its path.
std::string write_sample_store(const TemporaryFolder& folder, int64_t ranks);

}  // namespace stepscope::testing

#endif  // STEPSCOPE_TESTS_SUPPORT_SAMPLE_STORE_H_
