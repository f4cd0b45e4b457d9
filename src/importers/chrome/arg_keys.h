// The argument names that mean something to the model, all spellings, found by one hash.
#ifndef STEPSCOPE_IMPORTERS_CHROME_ARG_KEYS_H_
#define STEPSCOPE_IMPORTERS_CHROME_ARG_KEYS_H_

#include <array>
#include <cstdint>
#include <string_view>

namespace stepscope {

enum class ArgKey : uint8_t {
  kUnknown,
  kCorrelation,
  kExternalId,
  kSequenceNumber,
  kForwardThread,
  kInputDims,
  kInputTypes,
  kCallStack,
  kModule,
  kGrid,
  kBlock,
  kRegisters,
  kSharedMemory,
  kOccupancy,
  kBytes,
  kCollectiveName,
  kInElements,
  kOutElements,
  kGroupSize,
  kDataType,
  kGroupName,
  kSequence,
  kSrcRank,
  kDstRank,
  kAddress,
  kTotalAllocated,
  kTotalReserved,
  kDeviceType,
  kDeviceId,
  kFinished,
  kTaskType,
  kAcceleratorCore,
  kTransport,
  kLinkType,
  kBandwidth,
  kAlgorithm,
  kCount,
};

struct ArgKeyName {
  std::string_view name;
  ArgKey key;
};

inline constexpr ArgKeyName kArgKeyNames[] = {
    {"correlation", ArgKey::kCorrelation},
    {"connection_id", ArgKey::kCorrelation},
    {"correlation_id", ArgKey::kCorrelation},
    {"External id", ArgKey::kExternalId},
    {"external id", ArgKey::kExternalId},
    {"Sequence number", ArgKey::kSequenceNumber},
    {"Fwd thread id", ArgKey::kForwardThread},
    {"Input Dims", ArgKey::kInputDims},
    {"Input dims", ArgKey::kInputDims},
    {"Input type", ArgKey::kInputTypes},
    {"Call stack", ArgKey::kCallStack},
    {"Module Hierarchy", ArgKey::kModule},
    {"grid", ArgKey::kGrid},
    {"block", ArgKey::kBlock},
    {"registers per thread", ArgKey::kRegisters},
    {"shared memory", ArgKey::kSharedMemory},
    {"est. achieved occupancy %", ArgKey::kOccupancy},
    {"bytes", ArgKey::kBytes},
    {"size", ArgKey::kBytes},
    {"size(Byte)", ArgKey::kBytes},
    {"size(B)", ArgKey::kBytes},
    {"data size(Byte)", ArgKey::kBytes},
    {"Bytes", ArgKey::kBytes},
    {"Collective name", ArgKey::kCollectiveName},
    {"In msg nelems", ArgKey::kInElements},
    {"In msg size", ArgKey::kInElements},
    {"Out msg nelems", ArgKey::kOutElements},
    {"Out msg size", ArgKey::kOutElements},
    {"Group size", ArgKey::kGroupSize},
    {"rank size", ArgKey::kGroupSize},
    {"dtype", ArgKey::kDataType},
    {"data_type", ArgKey::kDataType},
    {"data type", ArgKey::kDataType},
    {"Process Group Name", ArgKey::kGroupName},
    {"Seq", ArgKey::kSequence},
    {"Src Rank", ArgKey::kSrcRank},
    {"src rank", ArgKey::kSrcRank},
    {"Dst Rank", ArgKey::kDstRank},
    {"dst rank", ArgKey::kDstRank},
    {"Addr", ArgKey::kAddress},
    {"Total Allocated", ArgKey::kTotalAllocated},
    {"Total Reserved", ArgKey::kTotalReserved},
    {"Device Type", ArgKey::kDeviceType},
    {"Device Id", ArgKey::kDeviceId},
    {"finished", ArgKey::kFinished},
    {"Task Type", ArgKey::kTaskType},
    {"task type", ArgKey::kTaskType},
    {"Accelerator Core", ArgKey::kAcceleratorCore},
    {"transport type", ArgKey::kTransport},
    {"link type", ArgKey::kLinkType},
    {"bandwidth(GB/s)", ArgKey::kBandwidth},
    {"alg_type", ArgKey::kAlgorithm},
    {"count", ArgKey::kCount},
};

class ArgKeyTable {
 public:
  constexpr ArgKeyTable() {
    for (const ArgKeyName& entry : kArgKeyNames) {
      size_t slot = hash(entry.name);
      while (!slots_[slot].name.empty()) slot = (slot + 1) % kSlots;
      slots_[slot] = entry;
    }
  }
  constexpr ArgKey find(std::string_view name) const {
    if (name.empty()) return ArgKey::kUnknown;
    for (size_t slot = hash(name); !slots_[slot].name.empty(); slot = (slot + 1) % kSlots) {
      if (slots_[slot].name == name) return slots_[slot].key;
    }
    return ArgKey::kUnknown;
  }

 private:
  static constexpr size_t kSlots = 256;
  static constexpr size_t hash(std::string_view name) {
    return (name.size() * 37 + static_cast<unsigned char>(name.front()) * 11 +
            static_cast<unsigned char>(name.back()) * 5 +
            static_cast<unsigned char>(name[name.size() / 2]) * 3) %
           kSlots;
  }
  std::array<ArgKeyName, kSlots> slots_{};
};

inline constexpr ArgKeyTable kArgKeys;

}  // namespace stepscope

#endif  // STEPSCOPE_IMPORTERS_CHROME_ARG_KEYS_H_
