#include "server/slice_colour.h"

#include <cctype>
#include <string>

namespace stepscope {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

SliceColour slice_colour(std::string_view category, std::string_view name) {
  const std::string word = lower(category);
  const std::string label = lower(name);
  if (label.starts_with("profilerstep") || word == "step") return SliceColour::kStep;
  if (has(label, "dataloader") || has(label, "getnext") || has(word, "dataset") ||
      has(word, "pipeline"))
    return SliceColour::kData;
  if (has(label, "nccl") || has(label, "hcom") || has(label, "hccl") || has(label, "allreduce") ||
      has(word, "communication") || has(word, "hccl") || word == "collective_comm")
    return SliceColour::kCommunication;
  if (has(word, "memcpy") || has(word, "memset") || label.starts_with("memcpy") ||
      label.starts_with("memset"))
    return SliceColour::kMemory;
  if (has(word, "sync") || has(label, "synchronize") || has(label, "event_wait") ||
      has(label, "notify_wait") || has(label, "notify wait"))
    return SliceColour::kSync;
  if (has(word, "aicpu") || has(word, "ai_cpu")) return SliceColour::kAiCpu;
  if (has(word, "kernel") || has(word, "aicore") || has(word, "ai_core") ||
      has(word, "ai_vector") || has(word, "mix_ai") || has(word, "computing") ||
      has(word, "hpu_op") || has(word, "mtia_ccp"))
    return SliceColour::kComputing;
  if (has(word, "python")) return SliceColour::kPython;
  if (has(word, "runtime") || has(word, "driver") || has(word, "acl") || has(word, "cann"))
    return SliceColour::kRuntime;
  if (has(word, "op") || has(word, "annotation") || has(word, "range")) return SliceColour::kHost;
  if (label == "free") return SliceColour::kFree;
  return SliceColour::kOther;
}

uint8_t on_track(uint8_t colour, std::string_view track_kind) {
  if ((colour & 15) != static_cast<uint8_t>(SliceColour::kOther)) return colour;
  const SliceColour known = track_kind == "device"          ? SliceColour::kComputing
                            : track_kind == "communication" ? SliceColour::kCommunication
                                                            : SliceColour::kOther;
  return static_cast<uint8_t>((colour & ~15) | static_cast<uint8_t>(known));
}

uint8_t shaded(SliceColour colour, std::string_view name) {
  uint32_t hash = 2166136261u;  // FNV-1a
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return static_cast<uint8_t>(static_cast<uint32_t>(colour) | ((hash >> 13) % 8) << 4);
}

}  // namespace stepscope
