#include "query/scan_function.h"

#include <atomic>
#include <vector>

namespace stepscope {
namespace {

// Shared by the threads of one scan.
struct Scan {
  std::vector<size_t> columns;  // projected; columns.size() of the table and more: row numbers only
  std::atomic<size_t> next_block{0};
};

const ScanTable& table_of(void* extra) { return *static_cast<const ScanTable*>(extra); }

duckdb_type plain_type(Type type) {
  switch (type) {
    case Type::kInt64:
      return DUCKDB_TYPE_BIGINT;
    case Type::kFloat64:
      return DUCKDB_TYPE_DOUBLE;
    case Type::kText:
      return DUCKDB_TYPE_VARCHAR;
    case Type::kBool:
      return DUCKDB_TYPE_BOOLEAN;
  }
  return DUCKDB_TYPE_INVALID;
}

void bind(duckdb_bind_info info) {
  const ScanTable& table = table_of(duckdb_bind_get_extra_info(info));
  for (const ScanColumn& column : table.columns()) {
    if (column.members != nullptr) {
      duckdb_bind_add_result_column(info, column.name.c_str(), column.members->type());
      continue;
    }
    duckdb_logical_type type = duckdb_create_logical_type(plain_type(column.type));
    duckdb_bind_add_result_column(info, column.name.c_str(), type);
    duckdb_destroy_logical_type(&type);
  }
  duckdb_bind_set_cardinality(info, table.rows(), true);
}

void start(duckdb_init_info info) {
  const ScanTable& table = table_of(duckdb_init_get_extra_info(info));
  auto* scan = new Scan;
  for (idx_t i = 0; i < duckdb_init_get_column_count(info); ++i) {
    scan->columns.push_back(duckdb_init_get_column_index(info, i));
  }
  duckdb_init_set_max_threads(info, table.block_count() == 0 ? 1 : table.block_count());
  duckdb_init_set_init_data(info, scan, [](void* data) { delete static_cast<Scan*>(data); });
}

void start_thread(duckdb_init_info info) {
  duckdb_init_set_init_data(info, new ScanState,
                            [](void* data) { delete static_cast<ScanState*>(data); });
}

void produce(duckdb_function_info info, duckdb_data_chunk output) {
  const ScanTable& table = table_of(duckdb_function_get_extra_info(info));
  auto& scan = *static_cast<Scan*>(duckdb_function_get_init_data(info));
  auto& state = *static_cast<ScanState*>(duckdb_function_get_local_init_data(info));
  const size_t block = scan.next_block.fetch_add(1, std::memory_order_relaxed);
  if (block >= table.block_count()) {
    duckdb_data_chunk_set_size(output, 0);
    return;
  }
  for (size_t i = 0; i < scan.columns.size(); ++i) {
    if (scan.columns[i] >= table.columns().size()) continue;  // count(*) needs no values
    const Status status =
        table.read(block, scan.columns[i], state, duckdb_data_chunk_get_vector(output, i));
    if (!status) {
      duckdb_function_set_error(info, status.error().message().c_str());
      return;
    }
  }
  duckdb_data_chunk_set_size(output, table.rows_in_block(block));
}

}  // namespace

Status register_scan(duckdb_connection connection, const std::string& function_name,
                     const ScanTable& table) {
  duckdb_table_function function = duckdb_create_table_function();
  duckdb_table_function_set_name(function, function_name.c_str());
  duckdb_table_function_set_extra_info(function, const_cast<ScanTable*>(&table), nullptr);
  duckdb_table_function_set_bind(function, bind);
  duckdb_table_function_set_init(function, start);
  duckdb_table_function_set_local_init(function, start_thread);
  duckdb_table_function_set_function(function, produce);
  duckdb_table_function_supports_projection_pushdown(function, true);
  const duckdb_state state = duckdb_register_table_function(connection, function);
  duckdb_destroy_table_function(&function);
  if (state == DuckDBSuccess) return {};
  return Error{ErrorCode::kUnsupported, "cannot prepare SQL", table.name(),
               "DuckDB refused the table", "use the DuckDB version that Stepscope was built with"};
}

}  // namespace stepscope
