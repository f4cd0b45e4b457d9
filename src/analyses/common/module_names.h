// Which slices are passes of a module (nn.Module, Cell), and how the module is called: Kineto says
// it by the name ("nn.Module: Linear_0"), our own recordings by the category.
#ifndef STEPSCOPE_ANALYSES_COMMON_MODULE_NAMES_H_
#define STEPSCOPE_ANALYSES_COMMON_MODULE_NAMES_H_

#include <cstdint>
#include <string_view>

#include "store/store_reader.h"

namespace stepscope {

class ModuleNames {
 public:
  explicit ModuleNames(const StoreReader& store);

  // False when no slice of the store can be one: known without reading slices.
  bool any() const { return has_prefix_ || category_ != kNull; }
  bool is_module(int64_t name, int64_t category);
  // Of a name that is a module's.
  std::string_view label(int64_t name) const;

 private:
  const StoreReader& store_;
  bool has_prefix_ = false;
  int64_t category_ = kNull;  // the word "module"; kNull: the store does not have it
  int64_t last_ = kNull;      // neighbours often have one name
  bool last_has_prefix_ = false;
};

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_COMMON_MODULE_NAMES_H_
