#include "api/table_columns.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "api/text_encoder.h"
#include "base/parallel.h"
#include "store/table_reader.h"

namespace stepscope {
namespace {

constexpr size_t kMorselsATask = 16;  // 32,768 rows: enough to make a thread worth its while

Error cancelled() { return {ErrorCode::kCancelled, "cancelled", "", "", ""}; }

// Every value of the column as it is stored. Rows of all ranks follow each other, so a morsel's
// first row is its place. False when cancelled.
bool decode_all(const TableReader& reader, size_t column, unsigned threads,
                const Progress& progress, PodVector<int64_t>& values) {
  // A block more than needed: reading takes that much room for the last one too.
  values.resize_uninitialised(reader.rows() + kBlockRows);
  const auto& morsels = reader.morsels();
  const size_t tasks = (morsels.size() + kMorselsATask - 1) / kMorselsATask;
  parallel_for(tasks, threads, [&](size_t task) {
    if (progress.cancelled()) return;
    int64_t block[kBlockRows];
    const size_t end = std::min(morsels.size(), (task + 1) * kMorselsATask);
    for (size_t at = task * kMorselsATask; at < end; ++at) {
      const Morsel& morsel = morsels[at];
      int64_t* place = values.data() + morsel.first_row;
      if (morsel.rows == kBlockRows) {
        reader.read(morsel, column, place);
      } else {  // what lies behind a short block is another thread's
        reader.read(morsel, column, block);
        std::memcpy(place, block, morsel.rows * sizeof(int64_t));
      }
    }
  });
  values.resize_uninitialised(reader.rows());
  return !progress.cancelled();
}

void set_nulls(const PodVector<int64_t>& values, PodVector<uint8_t>& nulls) {
  bool any = false;
  for (const int64_t value : values) any |= value == kNull;
  if (!any) return;
  nulls.resize_uninitialised(values.size());
  for (size_t i = 0; i < values.size(); ++i) nulls[i] = values[i] == kNull ? 1 : 0;
}

void take_integers(PodVector<int64_t> values, ColumnData& column) {
  set_nulls(values, column.nulls);
  for (size_t i = 0; i < column.nulls.size(); ++i) {
    if (column.nulls[i] != 0) values[i] = 0;
  }
  column.integers = std::move(values);
}

void take_bools(const PodVector<int64_t>& values, ColumnData& column) {
  set_nulls(values, column.nulls);
  column.bools.resize_uninitialised(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    column.bools[i] = values[i] != 0 && values[i] != kNull ? 1 : 0;
  }
}

void take_floats(const PodVector<int64_t>& bits, ColumnData& column) {
  set_nulls(bits, column.nulls);
  column.floats.resize_uninitialised(bits.size());
  if (bits.empty()) return;
  std::memcpy(column.floats.data(), bits.data(), bits.size() * sizeof(double));
  for (size_t i = 0; i < column.nulls.size(); ++i) {
    if (column.nulls[i] != 0) column.floats[i] = std::numeric_limits<double>::quiet_NaN();
  }
}

void take_text(const StoreReader& store, const PodVector<int64_t>& ids, ColumnData& column) {
  constexpr int32_t kUnseen = -1;
  TextEncoder encoder;
  std::vector<int32_t> code_of_id(store.string_count(), kUnseen);
  column.codes.resize_uninitialised(ids.size());
  for (size_t i = 0; i < ids.size(); ++i) {
    const auto id = static_cast<uint64_t>(ids[i]);
    if (id >= code_of_id.size()) {  // NULL
      column.codes[i] = -1;
      continue;
    }
    if (code_of_id[id] == kUnseen) code_of_id[id] = encoder.code(store.string(ids[i]));
    column.codes[i] = code_of_id[id];
  }
  column.categories = encoder.texts();
}

// One thread: pieces of a compressed input are unpacked in order, each once.
Status take_args(const TableReader& reader, size_t position, const Progress& progress,
                 ColumnData& column) {
  TextEncoder encoder;
  ArgsCache cache;
  int64_t has_args[kBlockRows];
  column.codes.resize_uninitialised(reader.rows());
  for (const Morsel& morsel : reader.morsels()) {
    if (progress.cancelled()) return cancelled();
    reader.read(morsel, position, has_args);
    for (size_t i = 0; i < morsel.rows; ++i) {
      int32_t& code = column.codes[morsel.first_row + i];
      code = -1;
      if (has_args[i] == kNull) continue;
      auto text = reader.args(morsel, i, &cache);
      if (!text) return std::move(text.error());
      code = encoder.code(*text);
    }
  }
  column.categories = encoder.texts();
  return {};
}

}  // namespace

Result<TableData> read_table_columns(const StoreReader& store, Table table,
                                     const std::vector<size_t>& columns, unsigned threads,
                                     const Progress& progress) {
  const TableReader reader(store, table);
  TableData data;
  data.rows = reader.rows();
  for (const size_t position : columns) {
    const Column& spec = table_spec(table).columns[position];
    ColumnData& column = data.columns.emplace_back();
    column.name = spec.name;
    if (spec.origin == Origin::kArgs) {
      column.type = ColumnType::kText;
      if (auto status = take_args(reader, position, progress, column); !status)
        return std::move(status.error());
      continue;
    }
    PodVector<int64_t> values;
    if (!decode_all(reader, position, threads, progress, values)) return cancelled();
    switch (spec.type) {
      case Type::kInt64:
        column.type = ColumnType::kInt64;
        take_integers(std::move(values), column);
        break;
      case Type::kFloat64:
        column.type = ColumnType::kFloat64;
        take_floats(values, column);
        break;
      case Type::kBool:
        column.type = ColumnType::kBool;
        take_bools(values, column);
        break;
      case Type::kText:
        column.type = ColumnType::kText;
        take_text(store, values, column);
        break;
    }
  }
  return data;
}

}  // namespace stepscope
