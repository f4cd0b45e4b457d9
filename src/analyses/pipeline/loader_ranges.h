// Ranges in which a torch program waits for its next batch: torch.profiler names them
// `enumerate(DataLoader)#<iterator>.__next__` and `enumerate(DataPipe)#<pipe>`.
#ifndef STEPSCOPE_ANALYSES_PIPELINE_LOADER_RANGES_H_
#define STEPSCOPE_ANALYSES_PIPELINE_LOADER_RANGES_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "store/store_reader.h"

namespace stepscope {

struct LoaderRange {
  int64_t name = 0;  // string id
  int64_t ts_ns = 0;
  int64_t dur_ns = 0;
  int64_t step = 0;
};

// By time. Only the outermost of nested ranges (pipes are called by pipes), only on the host (the
// profiler repeats ranges on the device's lanes), no impossible ones. Ranks without such names cost
// nothing; others one pass over the slices.
std::vector<LoaderRange> loader_ranges(const StoreReader& store, size_t rank);

// "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__" -> the iterator's name.
std::string_view loader_name(std::string_view range);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_PIPELINE_LOADER_RANGES_H_
