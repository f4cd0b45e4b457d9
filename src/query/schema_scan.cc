#include <algorithm>

#include "query/scan_table.h"

namespace stepscope {
namespace {

// False when an id is no member.
template <typename Small>
bool fill_enum(const int64_t* ids, size_t count, bool has_nulls, const StringEnum& members,
               duckdb_vector vector) {
  auto* out = static_cast<Small*>(duckdb_vector_get_data(vector));
  const uint16_t* positions = members.positions().data();
  const size_t known = members.positions().size();
  bool all_known = true;
  for (size_t i = 0; i < count; ++i) {
    const auto id = static_cast<uint64_t>(ids[i]);
    const uint16_t position = id < known ? positions[id] : StringEnum::kUnknown;
    all_known &= position != StringEnum::kUnknown;
    out[i] = static_cast<Small>(position);
  }
  if (all_known || !has_nulls) return all_known;
  for (size_t i = 0; i < count; ++i) {
    const auto id = static_cast<uint64_t>(ids[i]);
    if (ids[i] == kNull) {
      out[i] = 0;
    } else if (id >= known || positions[id] == StringEnum::kUnknown) {
      return false;
    }
  }
  return true;
}

class SchemaScan final : public ScanTable {
 public:
  SchemaScan(const StoreReader& store, StoreStrings& strings, const SliceEnums& enums, Table table)
      : store_(store), strings_(strings), reader_(store, table) {
    const TableSpec& spec = table_spec(table);
    name_ = spec.name;
    rows_ = reader_.rows();
    const bool of_slices =
        table == Table::kSlices || table == Table::kTotalsByName || table == Table::kTotalsByStep;
    for (const Column& column : spec.columns) {
      ScanColumn& scan = columns_.emplace_back();
      scan.name = column.name;
      scan.type = column.type;
      scan.is_args = column.origin == Origin::kArgs;
      if (!of_slices && column.origin != Origin::kViaSlice) continue;
      const StringEnum* members = column.name == "name"  ? enums.name.get()
                                  : column.name == "cat" ? enums.cat.get()
                                                         : nullptr;
      if (members != nullptr && members->usable()) scan.members = members;
    }
  }

  size_t block_count() const override { return reader_.morsels().size(); }
  size_t rows_in_block(size_t block) const override { return reader_.morsels()[block].rows; }

  Status read(size_t block, size_t column, ScanState& state, duckdb_vector vector) const override {
    const Morsel& morsel = reader_.morsels()[block];
    const ScanColumn& scan = columns_[column];
    if (scan.type == Type::kInt64 || scan.type == Type::kFloat64) {
      auto* out = static_cast<int64_t*>(duckdb_vector_get_data(vector));
      reader_.read(morsel, column, out);
      mark_nulls(out, morsel.rows, vector);
      return {};
    }
    int64_t* values = state.values.get();
    reader_.read(morsel, column, values);
    const bool has_nulls = mark_nulls(values, morsel.rows, vector);
    if (scan.type == Type::kBool) {
      auto* out = static_cast<bool*>(duckdb_vector_get_data(vector));
      for (size_t i = 0; i < morsel.rows; ++i) out[i] = values[i] != 0;
      return {};
    }
    if (scan.is_args) return fill_args(morsel, state, vector);
    if (scan.members == nullptr) {
      fill_text(values, morsel.rows, strings_, vector);
      return {};
    }
    const StringEnum& members = *scan.members;
    if (members.one_byte() ? fill_enum<uint8_t>(values, morsel.rows, has_nulls, members, vector)
                           : fill_enum<uint16_t>(values, morsel.rows, has_nulls, members, vector)) {
      return {};
    }
    return Error{ErrorCode::kBadInput, "cannot read the store", store_.path(),
                 "a " + scan.name + " of " + name_ + " is missing in totals_by_name",
                 "delete it and import the trace again"};
  }

 private:
  Status fill_args(const Morsel& morsel, ScanState& state, duckdb_vector vector) const {
    for (size_t i = 0; i < morsel.rows; ++i) {
      if (state.values[i] == kNull) continue;
      auto text = reader_.args(morsel, i, &state.args);
      if (!text) return std::move(text.error());
      duckdb_vector_assign_string_element_len(vector, i, text->data(), text->size());
    }
    return {};
  }

  const StoreReader& store_;
  StoreStrings& strings_;
  TableReader reader_;
};

// The distinct values of a column of string ids.
class IdSet {
 public:
  explicit IdSet(size_t strings) : seen_(strings) {}
  void add(int64_t id) {
    if (id >= 0 && static_cast<uint64_t>(id) < seen_.size()) seen_[static_cast<size_t>(id)] = true;
  }
  std::vector<StringId> ids() const {
    std::vector<StringId> ids;
    for (size_t id = 0; id < seen_.size(); ++id) {
      if (seen_[id]) ids.push_back(static_cast<StringId>(id));
    }
    return ids;
  }

 private:
  std::vector<bool> seen_;
};

}  // namespace

bool mark_nulls(const int64_t* values, size_t count, duckdb_vector vector) {
  // NULL is negative, and most columns have no negative values: that is quicker to see.
  int64_t bits = 0;
  for (size_t i = 0; i < count; ++i) bits |= values[i];
  if (bits >= 0) return false;
  bool any = false;
  for (size_t i = 0; i < count; ++i) any |= values[i] == kNull;
  if (!any) return false;
  duckdb_vector_ensure_validity_writable(vector);
  uint64_t* mask = duckdb_vector_get_validity(vector);
  for (size_t first = 0; first < count; first += 64) {
    const size_t end = std::min(count, first + 64);
    uint64_t valid = ~0ull;
    for (size_t i = first; i < end; ++i) {
      valid &= ~(static_cast<uint64_t>(values[i] == kNull) << (i - first));
    }
    mask[first / 64] = valid;
  }
  return true;
}

void fill_text(const int64_t* ids, size_t count, StoreStrings& strings, duckdb_vector vector) {
  auto* out = static_cast<duckdb_string_t*>(duckdb_vector_get_data(vector));
  const std::vector<duckdb_string_t>& values = strings.values();
  for (size_t i = 0; i < count; ++i) {
    const auto id = static_cast<uint64_t>(ids[i]);
    out[i] = id < values.size() ? values[id] : duckdb_string_t{};
  }
}

SliceEnums slice_enums(const StoreReader& store, StoreStrings& strings) {
  IdSet names(store.string_count());
  IdSet cats(store.string_count());
  // What totals leave out: such names may be nowhere else.
  constexpr int64_t kNotInTotals = kFlagImpossible | kFlagInstant;
  int64_t flags[kBlockRows];
  for (size_t rank = 0; rank < store.rank_count(); ++rank) {
    const ColumnView& total_names = store.column(Table::kTotalsByName, "name", rank);
    const ColumnView& total_cats = store.column(Table::kTotalsByName, "cat", rank);
    for (uint64_t row = 0; row < total_names.rows(); ++row) {
      names.add(total_names.at(row));
      cats.add(total_cats.at(row));
    }
    const ColumnView& slice_flags = store.column(Table::kSlices, "flags", rank);
    const ColumnView& slice_names = store.column(Table::kSlices, "name", rank);
    const ColumnView& slice_cats = store.column(Table::kSlices, "cat", rank);
    for (size_t block = 0; block < slice_flags.block_count(); ++block) {
      if (slice_flags.is_constant(block) && (slice_flags.base(block) & kNotInTotals) == 0) continue;
      const size_t rows = slice_flags.decode(block, flags);
      for (size_t i = 0; i < rows; ++i) {
        if ((flags[i] & kNotInTotals) == 0) continue;
        names.add(slice_names.at(block * kBlockRows + i));
        cats.add(slice_cats.at(block * kBlockRows + i));
      }
    }
  }
  return {std::make_unique<StringEnum>(strings, names.ids()),
          std::make_unique<StringEnum>(strings, cats.ids())};
}

std::unique_ptr<ScanTable> scan_schema_table(const StoreReader& store, StoreStrings& strings,
                                             const SliceEnums& enums, Table table) {
  return std::make_unique<SchemaScan>(store, strings, enums, table);
}

}  // namespace stepscope
