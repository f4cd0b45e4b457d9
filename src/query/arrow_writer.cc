// The Arrow IPC file format, https://arrow.apache.org/docs/format/Columnar.html: a schema message,
// record batches of up to kBatchRows rows, a footer that says where they are.
#include <limits>

#include "query/flat_buffer.h"
#include "query/result_writer.h"

namespace stepscope {
namespace {

constexpr size_t kBatchRows = 64 * 1024;
constexpr size_t kBatchTextBytes = 256 << 20;  // offsets are 32 bits
constexpr size_t kAlignment = 8;
constexpr std::string_view kMagic = "ARROW1";
constexpr int16_t kVersion5 = 4;
// Numbers of the unions in Message.fbs and Schema.fbs.
constexpr uint8_t kSchemaHeader = 1;
constexpr uint8_t kRecordBatchHeader = 3;
constexpr uint8_t kTypeInt = 2;
constexpr uint8_t kTypeFloat = 3;
constexpr uint8_t kTypeUtf8 = 5;
constexpr uint8_t kTypeBool = 6;
constexpr int16_t kDoublePrecision = 2;

struct Block {
  int64_t offset;
  int32_t head_bytes;
  int32_t padding;
  int64_t body_bytes;
};
static_assert(sizeof(Block) == 24);

struct LongPair {
  int64_t first;
  int64_t second;
};

void pad(std::string& bytes, size_t alignment) {
  bytes.resize((bytes.size() + alignment - 1) / alignment * alignment, '\0');
}

FlatBuilder::Place build_schema(FlatBuilder& flat, const std::vector<ResultColumn>& columns) {
  std::vector<FlatBuilder::Place> fields;
  for (const ResultColumn& column : columns) {
    const auto name = flat.text(column.name);
    const auto children = flat.places({});
    uint8_t type = kTypeUtf8;
    flat.start_table();
    if (column.type == ValueType::kInt64 || column.type == ValueType::kInt128) {
      type = kTypeInt;
      flat.field<int32_t>(0, 64);
      flat.field<uint8_t>(1, 1);
    } else if (column.type == ValueType::kFloat64) {
      type = kTypeFloat;
      flat.field<int16_t>(0, kDoublePrecision);
    } else if (column.type == ValueType::kBool) {
      type = kTypeBool;
    }
    const auto details = flat.end_table();
    flat.start_table();
    flat.field_place(0, name);
    flat.field_place(3, details);
    flat.field_place(5, children);
    flat.field<uint8_t>(1, 1);  // nullable
    flat.field<uint8_t>(2, type);
    fields.push_back(flat.end_table());
  }
  const auto list = flat.places(fields);
  flat.start_table();
  flat.field_place(1, list);
  flat.field<int16_t>(0, 0);  // little-endian
  return flat.end_table();
}

std::string finish_message(FlatBuilder& flat, uint8_t kind, FlatBuilder::Place header,
                           int64_t body_bytes) {
  flat.start_table();
  flat.field<int64_t>(3, body_bytes);
  flat.field_place(2, header);
  flat.field<int16_t>(0, kVersion5);
  flat.field<uint8_t>(1, kind);
  std::string head = flat.finish(flat.end_table());
  pad(head, kAlignment);
  std::string out;
  const uint32_t marks[2] = {0xFFFFFFFFu, static_cast<uint32_t>(head.size())};
  out.append(reinterpret_cast<const char*>(marks), sizeof marks);
  return out + head;
}

// The rows of one column of the batch that is being filled.
struct ArrowColumn {
  std::string valid;  // bit mask
  std::string values;
  std::string offsets;
  int64_t nulls = 0;

  void set_bit(std::string& bits, size_t row, bool value) const {
    if (row % 8 == 0) bits += '\0';
    if (value) bits.back() = static_cast<char>(bits.back() | 1 << (row % 8));
  }
  template <typename Number>
  void push(std::string& out, Number value) const {
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
};

class ArrowFile {
 public:
  ArrowFile(const std::vector<ResultColumn>& columns, const Sink& sink)
      : results_(columns), sink_(sink), columns_(columns.size()) {}

  Status begin() {
    std::string out(kMagic);
    pad(out, kAlignment);
    FlatBuilder flat;
    const auto schema = build_schema(flat, results_);
    out += finish_message(flat, kSchemaHeader, schema, 0);
    return emit(out);
  }

  Status add(const ResultChunk& chunk) {
    for (size_t i = 0; i < columns_.size(); ++i) {
      for (size_t row = 0; row < chunk.rows(); ++row) {
        if (auto status = add_value(chunk, i, row); !status) return status;
      }
    }
    rows_ += chunk.rows();
    size_t largest = 0;
    for (const ArrowColumn& column : columns_) largest = std::max(largest, column.values.size());
    return rows_ >= kBatchRows || largest >= kBatchTextBytes ? flush() : Status();
  }

  Status finish() {
    if (rows_ > 0) {
      if (auto status = flush(); !status) return status;
    }
    std::string out;
    const uint32_t end[2] = {0xFFFFFFFFu, 0};
    out.append(reinterpret_cast<const char*>(end), sizeof end);
    FlatBuilder flat;
    const auto batches = flat.structs(blocks_.data(), blocks_.size(), sizeof(Block));
    const auto dictionaries = flat.structs(nullptr, 0, sizeof(Block));
    const auto schema = build_schema(flat, results_);
    flat.start_table();
    flat.field_place(1, schema);
    flat.field_place(2, dictionaries);
    flat.field_place(3, batches);
    flat.field<int16_t>(0, kVersion5);
    const std::string footer = flat.finish(flat.end_table());
    out += footer;
    const auto bytes = static_cast<int32_t>(footer.size());
    out.append(reinterpret_cast<const char*>(&bytes), sizeof bytes);
    out += kMagic;
    return emit(out);
  }

 private:
  Status add_value(const ResultChunk& chunk, size_t at, size_t row) {
    ArrowColumn& column = columns_[at];
    const size_t place = rows_ + row;
    const bool null = chunk.is_null(at, row);
    column.set_bit(column.valid, place, !null);
    column.nulls += null ? 1 : 0;
    switch (results_[at].type) {
      case ValueType::kBool:
        column.set_bit(column.values, place, !null && chunk.integers(at)[row] != 0);
        break;
      case ValueType::kInt64:
        column.push(column.values, null ? int64_t{0} : chunk.integers(at)[row]);
        break;
      case ValueType::kInt128: {
        const Int128 value = null ? Int128{0} : chunk.wide_integers(at)[row];
        if (value > std::numeric_limits<int64_t>::max() ||
            value < std::numeric_limits<int64_t>::min()) {
          return Error{ErrorCode::kLimit, "cannot write Arrow", "column " + results_[at].name,
                       int128_text(value) + " does not fit 64 bits", "cast it to DOUBLE"};
        }
        column.push(column.values, static_cast<int64_t>(value));
        break;
      }
      case ValueType::kFloat64:
        column.push(column.values, null ? 0.0 : chunk.floats(at)[row]);
        break;
      case ValueType::kText:
        if (column.offsets.empty()) column.push(column.offsets, int32_t{0});
        if (!null) column.values += chunk.texts(at)[row];
        if (column.values.size() > std::numeric_limits<int32_t>::max()) {
          return Error{ErrorCode::kLimit, "cannot write Arrow", "column " + results_[at].name,
                       "2,048 rows of it are longer than 2 GiB", "ask for less text"};
        }
        column.push(column.offsets, static_cast<int32_t>(column.values.size()));
        break;
    }
    return {};
  }

  Status flush() {
    std::vector<LongPair> nodes;
    std::vector<LongPair> buffers;
    std::string body;
    const auto add_buffer = [&](const std::string& bytes) {
      buffers.push_back({static_cast<int64_t>(body.size()), static_cast<int64_t>(bytes.size())});
      body += bytes;
      pad(body, kAlignment);
    };
    for (size_t i = 0; i < columns_.size(); ++i) {
      ArrowColumn& column = columns_[i];
      nodes.push_back({static_cast<int64_t>(rows_), column.nulls});
      add_buffer(column.nulls == 0 ? std::string() : column.valid);
      if (results_[i].type == ValueType::kText) add_buffer(column.offsets);
      add_buffer(column.values);
      column = ArrowColumn();
    }
    FlatBuilder flat;
    const auto buffer_list = flat.structs(buffers.data(), buffers.size(), sizeof(LongPair));
    const auto node_list = flat.structs(nodes.data(), nodes.size(), sizeof(LongPair));
    flat.start_table();
    flat.field<int64_t>(0, static_cast<int64_t>(rows_));
    flat.field_place(1, node_list);
    flat.field_place(2, buffer_list);
    const auto batch = flat.end_table();
    const std::string head =
        finish_message(flat, kRecordBatchHeader, batch, static_cast<int64_t>(body.size()));
    blocks_.push_back({static_cast<int64_t>(position_), static_cast<int32_t>(head.size()), 0,
                       static_cast<int64_t>(body.size())});
    rows_ = 0;
    if (auto status = emit(head); !status) return status;
    return emit(body);
  }

  Status emit(std::string_view bytes) {
    position_ += bytes.size();
    return sink_(bytes);
  }

  const std::vector<ResultColumn>& results_;
  const Sink& sink_;
  std::vector<ArrowColumn> columns_;
  std::vector<Block> blocks_;
  size_t rows_ = 0;
  uint64_t position_ = 0;
};

}  // namespace

Status write_arrow(QueryResult& result, const Sink& sink) {
  ArrowFile file(result.columns(), sink);
  if (auto status = file.begin(); !status) return status;
  while (true) {
    auto chunk = result.next();
    if (!chunk) return std::move(chunk.error());
    if (*chunk == nullptr) return file.finish();
    if (auto status = file.add(**chunk); !status) return status;
  }
}

}  // namespace stepscope
