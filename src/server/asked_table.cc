#include "server/asked_table.h"

#include <limits>
#include <span>

#include "server/request_values.h"

namespace stepscope {
namespace {

// Blocks of a moment; the rest is one row.
constexpr size_t kMostOwners = 1000;

template <class Row>
AskedTable own_table(std::string_view name, std::string_view doc, std::vector<Row> rows,
                     std::span<const Field<Row>> fields) {
  auto kept = std::make_shared<const std::vector<Row>>(std::move(rows));
  return {make_table<Row>(name, doc, *kept, fields), kept};
}

Result<AskedTable> cpu_of_steps(RunAnalyses& run, const httplib::Request& request) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const auto first = integer_value(request, "first_step", kLeast, kLeast, kMost);
  if (!first) return first.error();
  const auto last = integer_value(request, "last_step", kMost, kLeast, kMost);
  if (!last) return last.error();
  return own_table<CpuRow>("cpu", "Processor use in a range of steps.", run.cpu_in({*first, *last}),
                           kCpuFields);
}

Result<AskedTable> curve_of_range(RunAnalyses& run, const httplib::Request& request) {
  CurveRange range;
  const auto from = integer_value(request, "from", range.first_ns, INT64_MIN, INT64_MAX);
  if (!from) return from.error();
  const auto to = integer_value(request, "to", range.last_ns, INT64_MIN, INT64_MAX);
  if (!to) return to.error();
  range.first_ns = *from;
  range.last_ns = *to;
  return own_table<MemoryPoint>("memory_curve", "Memory in a part of the recording.",
                                run.memory_curve_in(range), kMemoryPointFields);
}

Result<AskedTable> owners_at(RunAnalyses& run, const httplib::Request& request) {
  const auto at = optional_integer(request, "at");
  if (!at) return at.error();
  const auto rank = asked_rank(run, request);
  if (!rank) return rank.error();
  const auto device = optional_integer(request, "device");
  if (!device) return device.error();
  const auto is = [&](const char* name, const std::string& value) {
    return !request.has_param(name) || request.get_param_value(name) == value;
  };
  for (const MemoryRow& pool : run.memory().overview) {
    if ((*rank && **rank != pool.rank) || (*device && **device != pool.device)) continue;
    if (!is("device_kind", std::string(pool.device_kind)) ||
        !is("component", std::string(pool.component)))
      continue;
    return own_table<MemoryOwnerRow>("memory_owners", "The largest blocks at a moment.",
                                     run.memory_owners_at(pool, **at, kMostOwners),
                                     kMemoryOwnerFields);
  }
  return Error{ErrorCode::kNotFound, "no such memory pool", "memory_owners", "",
               "the table memory has the pools of this run"};
}

// The tables of the critical path of a step that is named, and of a change of it.
Result<AskedTable> path_of_step(RunAnalyses& run, const std::string& name,
                                const httplib::Request& request) {
  const auto rank = asked_rank(run, request);
  if (!rank) return rank.error();
  const auto step = optional_integer(request, "step");
  if (!step) return step.error();
  const StepChoice choice{*rank, *step};
  if (name == "what_if") {
    const auto change = parse_what_if(request.get_param_value("change"));
    if (!change) return change.error();
    auto rows = run.what_if(*change, choice);
    if (!rows) return std::move(rows.error());
    return own_table<WhatIfRow>("what_if", "A step with a change.", std::move(*rows),
                                kWhatIfFields);
  }
  if (name == "critical_path_segments") {
    auto rows = run.critical_path_segments_of(choice);
    if (!rows) return std::move(rows.error());
    return own_table<PathSegment>("critical_path_segments",
                                  "The critical path of a step, piece by piece.", std::move(*rows),
                                  kPathSegmentFields);
  }
  auto rows = run.critical_path_of(choice);
  if (!rows) return std::move(rows.error());
  return own_table<CriticalPathRow>("critical_path", "What the length of a step consists of.",
                                    std::move(*rows), kCriticalPathFields);
}

}  // namespace

Result<std::optional<int64_t>> asked_rank(const RunAnalyses& run, const httplib::Request& request) {
  if (request.get_param_value("rank") != "first") return optional_integer(request, "rank");
  // A run without ranks has no rows either.
  return std::optional<int64_t>(run.store().rank_count() > 0 ? run.store().rank_number(0) : 0);
}

Result<AskedTable> asked_table(RunAnalyses& run, const std::string& name,
                               const httplib::Request& request) {
  if (name == "cpu" && (request.has_param("first_step") || request.has_param("last_step")))
    return cpu_of_steps(run, request);
  if (name == "memory_curve" && (request.has_param("from") || request.has_param("to")))
    return curve_of_range(run, request);
  if (name == "memory_owners" && request.has_param("at")) return owners_at(run, request);
  const bool of_step = name == "critical_path" || name == "critical_path_segments";
  if ((of_step && request.has_param("step")) || (name == "what_if" && request.has_param("change")))
    return path_of_step(run, name, request);
  auto table = run.table(name);
  if (!table) return std::move(table.error());
  return AskedTable{std::move(*table), nullptr};
}

}  // namespace stepscope
