// Calculation quantity: FLOPs of operators, steps and the model, the rates reached, and what part
// of the device's peak that is. From hardware counters or the input's own table where there are
// any, otherwise from shapes; each number says where it comes from.
#ifndef STEPSCOPE_ANALYSES_FLOPS_FLOPS_H_
#define STEPSCOPE_ANALYSES_FLOPS_FLOPS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/common/rank_rows.h"
#include "analyses/common/reason.h"
#include "analyses/common/result_table.h"
#include "analyses/flops/device_peaks.h"
#include "analyses/operators/op_tree.h"
#include "analyses/steps/step_row.h"
#include "store/store_reader.h"

namespace stepscope {

inline constexpr std::string_view kFromCounters = "counter";
inline constexpr std::string_view kFromShapes = "shape";
inline constexpr std::string_view kFromFile = "file";

// Text points into the store or is constant.
struct FlopRow {
  int64_t rank = 0;
  int64_t window = 0;
  std::string_view category;
  std::string_view name;
  std::optional<std::string_view> module;
  std::optional<std::string_view> input_shapes;
  std::optional<std::string_view> input_types;
  std::string_view kind;
  std::string_view data_type;
  std::string_view source;
  int64_t count = 0;
  double flops = 0;
  std::optional<double> bytes;
  int64_t time_ns = 0;
  std::optional<double> flops_per_second;
  std::optional<double> utilisation;
  std::optional<double> bytes_per_second;
  std::optional<double> memory_utilisation;
  std::optional<double> intensity;
  std::optional<std::string_view> bound;
  std::optional<double> roofline_share;
};
inline constexpr Field<FlopRow> kFlopFields[] = {
    field<&FlopRow::rank>("rank", Unit::kNone, "rank"),
    field<&FlopRow::window>("window", Unit::kNone, "recording window of the rank"),
    field<&FlopRow::category>("category", Unit::kNone, "as in operators"),
    field<&FlopRow::name>("name", Unit::kNone, "operator or task"),
    field<&FlopRow::module>("module", Unit::kNone, "module or scope"),
    field<&FlopRow::input_shapes>("input_shapes", Unit::kNone, "shapes of the inputs"),
    field<&FlopRow::input_types>("input_types", Unit::kNone, "data types of the inputs"),
    field<&FlopRow::kind>("kind", Unit::kNone,
                          "matmul, convolution, attention, normalisation, softmax, elementwise, "
                          "reduction, embedding, copy; cube or vector for counters"),
    field<&FlopRow::data_type>("data_type", Unit::kNone,
                               "of the numbers that are multiplied; tf32 where 32-bit matrices run "
                               "on tensor cores"),
    field<&FlopRow::source>("source", Unit::kNone,
                            "counter, shape, or file (the input's own table)"),
    field<&FlopRow::count>("count", Unit::kCount, "calls"),
    field<&FlopRow::flops>("flops", Unit::kFlops, "FLOPs of all calls"),
    field<&FlopRow::bytes>("bytes", Unit::kBytes,
                           "inputs and outputs of all calls, each once; NULL when not known"),
    field<&FlopRow::time_ns>("time_ns", Unit::kNanoseconds,
                             "device time of the calls; their own on a CPU"),
    field<&FlopRow::flops_per_second>("flops_per_second", Unit::kFlopsPerSecond, "flops / time"),
    field<&FlopRow::utilisation>("utilisation", Unit::kShare,
                                 "of the peak for that kind of work and data type"),
    field<&FlopRow::bytes_per_second>("bytes_per_second", Unit::kBytesPerSecond, "bytes / time"),
    field<&FlopRow::memory_utilisation>("memory_utilisation", Unit::kShare, "of the memory's peak"),
    field<&FlopRow::intensity>("intensity", Unit::kNone, "flops / bytes"),
    field<&FlopRow::bound>("bound", Unit::kNone,
                           "what limits it on this device: compute or memory"),
    field<&FlopRow::roofline_share>("roofline_share", Unit::kShare, "of what that limit allows"),
};

// An edge of the tree of scopes; all edges together are the sankey diagram.
struct FlopScopeRow {
  int64_t rank = 0;
  int64_t window = 0;
  int64_t level = 0;
  std::string source;
  std::string target;
  std::string name;
  double flops = 0;
};
inline constexpr Field<FlopScopeRow> kFlopScopeFields[] = {
    field<&FlopScopeRow::rank>("rank", Unit::kNone, "rank"),
    field<&FlopScopeRow::window>("window", Unit::kNone, "recording window of the rank"),
    field<&FlopScopeRow::level>("level", Unit::kNone, "depth of the target; 1 below Total"),
    field<&FlopScopeRow::source>("source", Unit::kNone, "path of a scope, Total at the top"),
    field<&FlopScopeRow::target>("target", Unit::kNone, "path of a scope in it"),
    field<&FlopScopeRow::name>("name", Unit::kNone,
                               "last part of the target, with its top scope in brackets"),
    field<&FlopScopeRow::flops>("flops", Unit::kFlops, "FLOPs of everything in the target"),
};

struct FlopStepRow {
  int64_t rank = 0;
  int64_t window = 0;
  int64_t step = 0;
  int64_t step_ns = 0;
  double flops = 0;
  double matrix_flops = 0;
  std::optional<double> flops_per_second;
  std::optional<double> mfu;
};
inline constexpr Field<FlopStepRow> kFlopStepFields[] = {
    field<&FlopStepRow::rank>("rank", Unit::kNone, "rank"),
    field<&FlopStepRow::window>("window", Unit::kNone, "recording window of the rank"),
    field<&FlopStepRow::step>("step", Unit::kNone, "step"),
    field<&FlopStepRow::step_ns>("step_ns", Unit::kNanoseconds,
                                 "length of the step, as in step_budget"),
    field<&FlopStepRow::flops>("flops", Unit::kFlops, "FLOPs of the step"),
    field<&FlopStepRow::matrix_flops>("matrix_flops", Unit::kFlops,
                                      "FLOPs of its matrix products, convolutions and attention"),
    field<&FlopStepRow::flops_per_second>("flops_per_second", Unit::kFlopsPerSecond,
                                          "matrix_flops / step"),
    field<&FlopStepRow::mfu>("mfu", Unit::kShare,
                             "time that matrix_flops need at peak / step: model FLOPs utilisation"),
};

struct FlopSummaryRow {
  int64_t rank = 0;
  int64_t window = 0;
  std::string device;
  std::string_view source;
  double flops = 0;
  double matrix_flops = 0;
  int64_t steps = 0;
  std::optional<double> flops_per_step;
  int64_t time_ns = 0;
  double covered = 0;
  std::optional<double> matrix_time_share;
  std::optional<double> low_precision_share;
  int64_t span_ns = 0;
  std::optional<double> flops_per_second;
  std::optional<double> mfu;
  std::optional<double> busy_utilisation;
  std::optional<double> peak;
  std::string_view peak_data_type;
  std::string_view peak_source;
};
inline constexpr Field<FlopSummaryRow> kFlopSummaryFields[] = {
    field<&FlopSummaryRow::rank>("rank", Unit::kNone, "rank"),
    field<&FlopSummaryRow::window>("window", Unit::kNone, "recording window of the rank"),
    field<&FlopSummaryRow::device>("device", Unit::kNone, "name of the device"),
    field<&FlopSummaryRow::source>("source", Unit::kNone,
                                   "counter, shape, file; none when nothing could be counted"),
    field<&FlopSummaryRow::flops>("flops", Unit::kFlops, "FLOPs of the recording"),
    field<&FlopSummaryRow::matrix_flops>("matrix_flops", Unit::kFlops,
                                         "FLOPs of matrix products, convolutions and attention"),
    field<&FlopSummaryRow::steps>("steps", Unit::kCount, "steps with FLOPs"),
    field<&FlopSummaryRow::flops_per_step>("flops_per_step", Unit::kFlops,
                                           "matrix_flops of these steps / steps"),
    field<&FlopSummaryRow::time_ns>("time_ns", Unit::kNanoseconds,
                                    "device time of the operators that were counted"),
    field<&FlopSummaryRow::covered>(
        "covered", Unit::kShare,
        "of the device's time in computing and copies: has a number of FLOPs"),
    field<&FlopSummaryRow::matrix_time_share>(
        "matrix_time_share", Unit::kShare,
        "of the same time: operators that tensor cores or cubes can do, by name"),
    field<&FlopSummaryRow::low_precision_share>(
        "low_precision_share", Unit::kShare,
        "of matrix_flops: with numbers of 16 bits or fewer; NULL when types are not known"),
    field<&FlopSummaryRow::span_ns>("span_ns", Unit::kNanoseconds,
                                    "sum of the steps; the recording when there are none"),
    field<&FlopSummaryRow::flops_per_second>("flops_per_second", Unit::kFlopsPerSecond,
                                             "matrix FLOPs in the span / span"),
    field<&FlopSummaryRow::mfu>("mfu", Unit::kShare,
                                "time that these need at peak / span: model FLOPs utilisation"),
    field<&FlopSummaryRow::busy_utilisation>(
        "busy_utilisation", Unit::kShare,
        "time that matrix_flops need at peak / device time of the operators that have them"),
    field<&FlopSummaryRow::peak>("peak", Unit::kFlopsPerSecond,
                                 "of one device for the data type with most of the matrix FLOPs"),
    field<&FlopSummaryRow::peak_data_type>("peak_data_type", Unit::kNone, "that data type"),
    field<&FlopSummaryRow::peak_source>("peak_source", Unit::kNone,
                                        "option, table (of known devices), clock (of the input's "
                                        "description of the device) or unknown"),
};

struct FlopResults {
  std::vector<FlopRow> operators;  // by FLOPs
  std::vector<FlopScopeRow> scopes;
  std::vector<FlopStepRow> steps;
  std::vector<FlopSummaryRow> summaries;

  void append(FlopResults&& other);
};

// `peaks` replaces what is known about the device. Uses up the tree.
FlopResults rank_flops(const StoreReader& store, const RankId& rank, OpTree&& tree,
                       std::span<const StepRow> steps, const std::optional<PeakRates>& peaks);

// Tables that are empty or incomplete, and why.
std::vector<Reason> flop_reasons(const FlopResults& results);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_FLOPS_FLOPS_H_
