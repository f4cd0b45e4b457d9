// The public schema, version 1: the one description of every table. The store's sections, the SQL
// tables, the Python columns, docs/schema.md and the TypeScript types are all derived from
// `tables()`.
#ifndef STEPSCOPE_STORE_SCHEMA_H_
#define STEPSCOPE_STORE_SCHEMA_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

namespace stepscope {

inline constexpr int kSchemaVersion = 1;
inline constexpr int64_t kNull = std::numeric_limits<int64_t>::min();  // NULL in any stored column

// A double as it is stored. Minus zero has the bits of kNull, so it is stored as zero.
inline int64_t float_bits(double value) { return value == 0 ? 0 : std::bit_cast<int64_t>(value); }

enum class Type : uint8_t {
  kInt64,
  kFloat64,  // stored as the bit pattern
  kText,     // stored as a string id
  kBool,
};

// Where a column's values come from when a row is read.
enum class Origin : uint8_t {
  kStored,    // a column section of the table
  kRow,       // the row's own global number
  kRank,      // the rank whose segment the row is in
  kSlice,     // stored: a row of `slices` of the same rank; read as its global id
  kTrack,     // stored: a row of `tracks` of the same rank; read as its global id
  kViaSlice,  // the column of the same name of the row's slice (the table's first kSlice column)
  kArgs,      // JSON text fetched from the input or the store's args section
};

struct Column {
  std::string_view name;
  Type type;
  Origin origin;
  std::string_view doc;
};

enum class Table : uint8_t {
  kRanks,
  kTracks,
  kSlices,
  kKernels,
  kOps,
  kCommunications,
  kSteps,
  kFlows,
  kCounters,
  kMemory,
  kQueues,
  kStages,
  kQuality,
  kSources,
  kTotalsByName,
  kTotalsByStep,
};
inline constexpr size_t kTableCount = 16;

struct TableSpec {
  std::string_view name;
  std::string_view doc;
  std::span<const Column> columns;
};

std::span<const TableSpec, kTableCount> tables();
inline const TableSpec& table_spec(Table table) { return tables()[static_cast<size_t>(table)]; }
// kTableCount when there is none.
size_t find_table(std::string_view name);
// columns.size() when there is none.
size_t find_column(const TableSpec& table, std::string_view name);

// slices.flags and the conditions they record. A flag marks a row; the quality table says how many
// and what it means.
enum SliceFlag : uint32_t {
  kFlagImpossible = 1u << 0,    // negative duration or unreadable time: left out of totals
  kFlagUnfinished = 1u << 1,    // no end in the input: drawn to the end of the trace
  kFlagInstant = 1u << 2,       // a point in time, not a range
  kFlagBeforeLaunch = 1u << 3,  // device work that starts before the call that launched it
  kFlagOverlap = 1u << 4,       // overlaps an earlier slice of its track without being nested in it
  kFlagOutlivesParent = 1u << 5,  // ends after the slice it is nested in
  kFlagFlowStart = 1u << 6,       // the input marks it as the start of a launch arrow
  kFlagFlowEnd = 1u << 7,         // the input marks it as the end of a launch arrow
  kFlagOutsideWindow = 1u << 8,   // device work whose launch is not in the input
};

}  // namespace stepscope

#endif  // STEPSCOPE_STORE_SCHEMA_H_
