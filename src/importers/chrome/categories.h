// What the category word of an event means: the kind of slice, whether it is on a device, which
// args matter.
#ifndef STEPSCOPE_IMPORTERS_CHROME_CATEGORIES_H_
#define STEPSCOPE_IMPORTERS_CHROME_CATEGORIES_H_

#include <cstdint>
#include <string_view>

#include "store/rank_builder.h"

namespace stepscope {

enum class ArgsUse : uint8_t {
  kNone,    // kept by place only
  kLinks,   // correlation and external id
  kOp,      // links, shapes, sequence number, collective
  kDevice,  // links, launch configuration, bytes, collective
  kAscend,  // connection, task type, transfer (events of Ascend's tools carry no category)
};

struct CategoryRule {
  std::string_view word;
  SliceKind kind;
  bool on_device;
  ArgsUse args;
  WorkClass work_class = WorkClass::kCompute;
  std::string_view kernel_type = {};
};

// The rule of a category word, older spellings included, or nullptr for words this version does not
// know.
const CategoryRule* find_category(std::string_view word);

// Whether a device event's name says that it moves data between devices.
bool is_communication_name(std::string_view name);
// Whether a device event's name says that it copies or sets memory (devices that have no category
// for it).
bool is_memory_name(std::string_view name);
// Arrows from launching calls to device work, by any of their historical names.
bool is_launch_flow(std::string_view category);

}  // namespace stepscope

#endif  // STEPSCOPE_IMPORTERS_CHROME_CATEGORIES_H_
