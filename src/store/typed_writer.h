// Writes the typed tables that point into slices: kernels, operators, communications. Independent
// of SliceWriter, so the two run side by side.
#ifndef STEPSCOPE_STORE_TYPED_WRITER_H_
#define STEPSCOPE_STORE_TYPED_WRITER_H_

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "base/string_pool.h"
#include "store/rank_links.h"
#include "store/store_writer.h"

namespace stepscope {

class TypedWriter {
 public:
  TypedWriter(StoreWriter& store, uint32_t position, const LaidOutRank& laid_out,
              const RankLinks& links, const StringRemap& strings);

  Status write();

 private:
  struct PendingCommunication {
    uint32_t row;
    uint32_t detail;
    int64_t ts_ns;
    int64_t end_ns;
    StringId name;
  };

  void write_kernel(TrackId track, uint32_t index, uint32_t row);
  SlicePlace operator_of(const SliceRecord& kernel, const SlicePlace& launch) const;
  void write_op(const SliceRecord& slice, uint32_t row);
  void note_communication(const SliceRecord& slice, uint32_t row, uint32_t detail);
  Status write_communications();
  int64_t text(StringId id) const {
    return id == kNoString ? kNull : static_cast<int64_t>(strings_(id));
  }

  StoreWriter& store_;
  const uint32_t position_;
  const LaidOutRank& laid_out_;
  const RankBuilder& rank_;
  const RankLinks& links_;
  const StringRemap& strings_;
  TableWriter kernels_;
  TableWriter ops_;
  std::vector<PendingCommunication> communications_;
  int64_t class_names_[3];  // by WorkClass
};

}  // namespace stepscope

#endif  // STEPSCOPE_STORE_TYPED_WRITER_H_
