#include <algorithm>
#include <bit>
#include <charconv>

#include "query/scan_table.h"

namespace stepscope {
namespace {

constexpr size_t kAbsent = static_cast<size_t>(-1);

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return out;
}

bool is_number(Type type) { return type == Type::kInt64 || type == Type::kFloat64; }

Type united(Type a, Type b) {
  if (a == b) return a;
  return is_number(a) && is_number(b) ? Type::kFloat64 : Type::kText;
}

std::string number_text(Type type, int64_t value) {
  if (type == Type::kBool) return value != 0 ? "true" : "false";
  char buffer[64];
  const auto end = type == Type::kFloat64
                       ? std::to_chars(buffer, buffer + sizeof buffer, std::bit_cast<double>(value))
                       : std::to_chars(buffer, buffer + sizeof buffer, value);
  return std::string(buffer, end.ptr);
}

class SourceScan final : public ScanTable {
 public:
  SourceScan(std::string_view name, const StoreReader& store, StoreStrings& strings)
      : store_(store), strings_(strings) {
    name_ = name;
  }

  void add_part(size_t rank, const SourceTableView& table) {
    Part& part = parts_.emplace_back(Part{rank, &table, {}});
    part.places.assign(inputs_.size(), kAbsent);
    for (size_t i = 0; i < table.columns.size(); ++i) {
      // Columns are the same when they have the same name and are the same occurrence of it.
      const auto& column = table.columns[i];
      size_t at = 0;
      while (at < inputs_.size() &&
             (inputs_[at].name != column.name || part.places[at] != kAbsent)) {
        ++at;
      }
      if (at == inputs_.size()) {
        inputs_.push_back({std::string(column.name), column.type});
        part.places.push_back(kAbsent);
      }
      inputs_[at].type = united(inputs_[at].type, column.type);
      part.places[at] = i;
    }
    for (uint64_t first = 0; first < table.rows; first += kBlockRows) {
      blocks_.push_back({parts_.size() - 1, static_cast<size_t>(first / kBlockRows),
                         static_cast<size_t>(std::min<uint64_t>(kBlockRows, table.rows - first))});
    }
    rows_ += table.rows;
  }

  // Names of SQL differ in more than case; the first column is the rank.
  void finish() {
    std::vector<std::string> taken;
    for (const Input& input : inputs_) taken.push_back(lower(input.name));
    const bool own = std::find(taken.begin(), taken.end(), "rank") == taken.end();
    columns_.push_back({own ? "rank" : "stepscope_rank", Type::kInt64, false, nullptr});
    for (size_t i = 0; i < inputs_.size(); ++i) {
      std::string name = inputs_[i].name.empty() ? "column" : inputs_[i].name;
      const auto used = [&](const std::string& candidate) {
        return std::any_of(columns_.begin(), columns_.end(), [&](const ScanColumn& column) {
          return lower(column.name) == lower(candidate);
        });
      };
      for (int number = 2; used(name); ++number) {
        name = inputs_[i].name + "_" + std::to_string(number);
      }
      columns_.push_back({name, inputs_[i].type, false, nullptr});
    }
  }

  size_t block_count() const override { return blocks_.size(); }
  size_t rows_in_block(size_t block) const override { return blocks_[block].rows; }

  Status read(size_t block, size_t column, ScanState& state, duckdb_vector vector) const override {
    const Block& place = blocks_[block];
    const Part& part = parts_[place.part];
    int64_t* values = state.values.get();
    const Type wanted = columns_[column].type;
    Type stored = wanted;
    const size_t source = column == 0                       ? kAbsent
                          : column - 1 < part.places.size() ? part.places[column - 1]
                                                            : kAbsent;
    if (column == 0) {
      std::fill_n(values, place.rows, store_.rank_number(part.rank));
    } else if (source == kAbsent) {
      std::fill_n(values, place.rows, kNull);
    } else {
      stored = part.table->columns[source].type;
      part.table->columns[source].values.decode(place.block, values);
    }
    mark_nulls(values, place.rows, vector);
    switch (wanted) {
      case Type::kText:
        if (stored == Type::kText) {
          fill_text(values, place.rows, strings_, vector);
          break;
        }
        for (size_t i = 0; i < place.rows; ++i) {
          if (values[i] == kNull) continue;
          const std::string text = number_text(stored, values[i]);
          duckdb_vector_assign_string_element_len(vector, i, text.data(), text.size());
        }
        break;
      case Type::kBool:
        for (size_t i = 0; i < place.rows; ++i) {
          static_cast<bool*>(duckdb_vector_get_data(vector))[i] = values[i] != 0;
        }
        break;
      case Type::kInt64:
        std::copy_n(values, place.rows, static_cast<int64_t*>(duckdb_vector_get_data(vector)));
        break;
      case Type::kFloat64: {
        auto* out = static_cast<double*>(duckdb_vector_get_data(vector));
        for (size_t i = 0; i < place.rows; ++i) {
          out[i] = stored == Type::kInt64 ? static_cast<double>(values[i])
                                          : std::bit_cast<double>(values[i]);
        }
        break;
      }
    }
    return {};
  }

 private:
  struct Input {
    std::string name;
    Type type;
  };
  struct Part {
    size_t rank;
    const SourceTableView* table;
    std::vector<size_t> places;  // by united column: the table's own column, or kAbsent
  };
  struct Block {
    size_t part;
    size_t block;
    size_t rows;
  };

  const StoreReader& store_;
  StoreStrings& strings_;
  std::vector<Input> inputs_;
  std::vector<Part> parts_;
  std::vector<Block> blocks_;
};

}  // namespace

std::vector<std::unique_ptr<ScanTable>> scan_source_tables(const StoreReader& store,
                                                           StoreStrings& strings) {
  std::vector<std::unique_ptr<SourceScan>> found;
  for (size_t rank = 0; rank < store.rank_count(); ++rank) {
    for (const SourceTableView& table : store.source_tables(rank)) {
      auto at = std::find_if(found.begin(), found.end(),
                             [&](const auto& scan) { return scan->name() == table.name; });
      if (at == found.end()) {
        found.push_back(std::make_unique<SourceScan>(table.name, store, strings));
        at = found.end() - 1;
      }
      (*at)->add_part(rank, table);
    }
  }
  std::vector<std::unique_ptr<ScanTable>> scans;
  for (auto& scan : found) {
    scan->finish();
    scans.push_back(std::move(scan));
  }
  return scans;
}

}  // namespace stepscope
