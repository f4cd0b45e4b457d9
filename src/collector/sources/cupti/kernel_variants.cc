#include "collector/sources/cupti/kernel_variants.h"

#include <algorithm>
#include <cstdlib>

#include <cxxabi.h>

#include "collector/sources/cupti/device_tables.h"

namespace stepscope::cupti {
namespace {

// A program with shapes that never repeat must not fill the memory: past this the numbers are
// given anew, which costs bytes in the file and nothing else.
constexpr size_t kMostVariants = 1 << 18;
constexpr size_t kMostNames = 1 << 16;

std::string readable(const char* mangled) {
  int status = 0;
  char* const text = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
  std::string result = status == 0 && text != nullptr ? text : mangled;
  std::free(text);  // NOLINT: __cxa_demangle uses malloc
  return result;
}

}  // namespace

size_t KernelVariants::KeyHash::operator()(const Key& key) const {
  uint64_t words[sizeof(Key) / 8];
  static_assert(sizeof words == sizeof key);
  std::memcpy(words, &key, sizeof words);
  uint64_t hash = 0;
  for (const uint64_t word : words) {
    hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 29;
  }
  return hash;
}

uint32_t KernelVariants::name_of(const char* mangled, NameTable& names) {
  if (mangled == nullptr) return names.intern("kernel without a name");
  if (names_.size() > kMostNames) names_.clear();
  KnownName& known = names_[mangled];
  if (known.id != 0 && std::strcmp(known.mangled.c_str(), mangled) == 0) return known.id;
  known.mangled = mangled;
  known.id = names.intern(readable(mangled));
  return known.id;
}

int64_t KernelVariants::number(const KernelRecord& record, SourceOutput& output) {
  Key key;
  key.name = name_of(record.name, output.names);
  key.registers = record.registers;
  std::copy_n(record.grid, 3, key.grid);
  std::copy_n(record.block, 3, key.block);
  key.static_shared = record.static_shared;
  key.dynamic_shared = record.dynamic_shared;
  if (const auto found = numbers_.find(key); found != numbers_.end()) return found->second;
  if (numbers_.size() > kMostVariants) numbers_.clear();
  const int64_t number = next_number_++;
  numbers_.emplace(key, number);
  output.lasting.add(
      kKernelVariantsTable, 0,
      {number, key.name, key.grid[0], key.grid[1], key.grid[2], key.block[0], key.block[1],
       key.block[2], key.registers, key.static_shared, key.dynamic_shared});
  return number;
}

}  // namespace stepscope::cupti
