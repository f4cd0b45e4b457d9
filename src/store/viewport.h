// What a lane shows on a screen of so many pixels between two times: the query behind the timeline.
//
// Cost is bound by the pixels, not by the events: two binary searches, then a sequential read of
// tiles (or of slices when there are few) and about one item per pixel at most. Tens of
// microseconds for 1,920 pixels at 100 million events.
#ifndef STEPSCOPE_STORE_VIEWPORT_H_
#define STEPSCOPE_STORE_VIEWPORT_H_

#include <cstdint>
#include <vector>

#include "store/store_reader.h"

namespace stepscope {

struct Viewport {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  uint32_t pixels = 1920;
};

// A slice, or several that are too short to be told apart: then the longest of them stands for
// `count`, and the times are right to about a pixel. A slice that stands for itself has its own.
// One that is longer than two pixels is an item of its own, whatever lies on its first.
struct ViewportItem {
  int64_t start_ns = 0;
  int64_t end_ns = 0;      // of the last one it stands for
  uint64_t slice_row = 0;  // of the (longest) slice, in the rank
  int64_t name = kNull;    // of that slice
  uint64_t count = 0;
};

// Appends the items of lane number `lane` of a rank (see StoreReader::lanes), left to right. The
// counts of all items together are the number of slices that overlap the viewport.
void query_viewport(const StoreReader& store, size_t rank, size_t lane, const Viewport& viewport,
                    std::vector<ViewportItem>& items);

}  // namespace stepscope

#endif  // STEPSCOPE_STORE_VIEWPORT_H_
