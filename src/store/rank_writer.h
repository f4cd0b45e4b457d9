// Turns a filled RankBuilder into the sections of one rank: layout, links, steps, totals, tiles,
// columns.
#ifndef STEPSCOPE_STORE_RANK_WRITER_H_
#define STEPSCOPE_STORE_RANK_WRITER_H_

#include <cstdint>

#include "base/result.h"

namespace stepscope {

class RankBuilder;
class StoreWriter;

Status write_rank(StoreWriter& store, uint32_t position, RankBuilder& rank, unsigned threads);

}  // namespace stepscope

#endif  // STEPSCOPE_STORE_RANK_WRITER_H_
