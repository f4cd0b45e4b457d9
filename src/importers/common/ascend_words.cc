#include "importers/common/ascend_words.h"

#include <array>
#include <utility>

#include "base/decimal.h"

namespace stepscope {

void append_json_text(std::string_view text, std::string& into) {
  static constexpr char kHex[] = "0123456789abcdef";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      into += '\\';
      into += c;
    } else if (byte < 0x20) {
      into += "\\u00";
      into += kHex[byte >> 4];
      into += kHex[byte & 15];
    } else {
      into += c;
    }
  }
}

bool is_copy_task(std::string_view name) {
  return name.starts_with("MEMCPY") || name.starts_with("MEMSET") || name == "PCIE_DMA_SQE";
}

bool is_compute_task_type(std::string_view type) {
  for (const std::string_view start : {"KERNEL_", "AI_", "AIV", "AIC", "MIX_", "DSA", "DVPP",
                                       "FFTS_PLUS", "FUSION", "STARS_COMMON"}) {
    if (type.starts_with(start)) return true;
  }
  return false;
}

int64_t element_bytes(std::string_view type) {
  static constexpr std::array<std::pair<std::string_view, int64_t>, 18> kTypes = {{{"INT8", 1},
                                                                                   {"UINT8", 1},
                                                                                   {"FP8E4M3", 1},
                                                                                   {"FP8E5M2", 1},
                                                                                   {"FP8E8M0", 1},
                                                                                   {"HIF8", 1},
                                                                                   {"INT16", 2},
                                                                                   {"UINT16", 2},
                                                                                   {"FP16", 2},
                                                                                   {"BFP16", 2},
                                                                                   {"BF16", 2},
                                                                                   {"INT32", 4},
                                                                                   {"UINT32", 4},
                                                                                   {"FP32", 4},
                                                                                   {"INT64", 8},
                                                                                   {"UINT64", 8},
                                                                                   {"FP64", 8},
                                                                                   {"INT128", 16}}};
  for (const auto& [name, bytes] : kTypes) {
    if (name == type) return bytes;
  }
  return 0;
}

void describe_collective(StringId name, CommunicationDetail& detail, RankBuilder& rank) {
  const std::string text(rank.strings.view(name));
  const size_t split = text.find("__");
  detail.op = rank.strings.intern(text.substr(0, split));
  if (split != std::string::npos) {
    const size_t from = text.find('_', split + 2);
    const size_t to = from == std::string::npos ? from : text.find('_', from + 1);
    if (from != std::string::npos) {
      const auto number = parse_integer(text.substr(from + 1, to - from - 1));
      if (number && *number >= 0) detail.sequence = *number;
    }
  }
  if (detail.data_type == kNoString || detail.elements == kNull) return;
  int64_t bytes = 0;
  const int64_t each = element_bytes(rank.strings.view(detail.data_type));
  if (each > 0 && !__builtin_mul_overflow(each, detail.elements, &bytes)) detail.bytes = bytes;
}

StringId valid_type(StringId type, const RankBuilder& rank) {
  if (type == kNoString) return kNoString;
  const std::string_view text = rank.strings.view(type);
  return text.empty() || text == "N/A" || text == "INVALID_TYPE" || text == "RESERVED" ? kNoString
                                                                                       : type;
}

void time_transfer(int64_t dur_ns, const RankBuilder& rank, CommunicationDetail& detail) {
  const auto text = [&](StringId id) {
    return id == kNoString ? std::string_view() : rank.strings.view(id);
  };
  const std::string_view op = text(detail.op);
  const std::string_view transport = text(detail.transport);
  if (op == "Notify_Wait") {
    detail.wait_ns = dur_ns;
  } else if ((transport == "SDMA" || transport == "RDMA") && op != "Notify_Record" &&
             text(detail.link) != "ON_CHIP") {
    detail.transit_ns = dur_ns;
  }
}

std::optional<int64_t> profiler_step_number(std::string_view name) {
  constexpr std::string_view kMark = "ProfilerStep#";
  const size_t at = name.find(kMark);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view digits = name.substr(at + kMark.size());
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos) {
    return std::nullopt;
  }
  return parse_integer(digits);
}

int32_t device_of(std::string_view cell) {
  const size_t colon = cell.find_last_of(':');
  const auto number =
      parse_integer(colon == std::string_view::npos ? cell : cell.substr(colon + 1));
  return number && *number >= 0 && *number < (1 << 20) ? static_cast<int32_t>(*number) : -1;
}

}  // namespace stepscope
