// CRC-32C against published vectors, and the interning hash's use of every byte.
#include "base/hash.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

namespace stepscope {
namespace {

TEST(Crc32c, PublishedVectors) {  // RFC 3720, B.4
  EXPECT_EQ(crc32c("123456789", 9), 0xE3069283u);
  EXPECT_EQ(crc32c("", 0), 0u);
  const std::string zeros(32, '\0');
  EXPECT_EQ(crc32c(zeros.data(), zeros.size()), 0x8A9136AAu);
  const std::string ones(32, '\xFF');
  EXPECT_EQ(crc32c(ones.data(), ones.size()), 0x62A8AB43u);
  std::string rising;
  for (char i = 0; i < 32; ++i) rising += i;
  EXPECT_EQ(crc32c(rising.data(), rising.size()), 0x46DD794Eu);
}

TEST(Crc32c, ContinuesFromASeedAtAnyCut) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += static_cast<char>(i * 37);
  const uint32_t whole = crc32c(text.data(), text.size());
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    EXPECT_EQ(crc32c(text.data() + cut, text.size() - cut, crc32c(text.data(), cut)), whole);
  }
}

TEST(HashBytes, EveryByteAndTheLengthMatter) {
  for (size_t length = 1; length < 70; ++length) {
    const std::string text(length, 'a');
    std::set<uint64_t> seen = {hash_bytes(text)};
    for (size_t at = 0; at < length; ++at) {
      std::string changed = text;
      changed[at] = 'b';
      EXPECT_TRUE(seen.insert(hash_bytes(changed)).second) << length << " " << at;
    }
    EXPECT_TRUE(seen.insert(hash_bytes(text + std::string(1, '\0'))).second) << length;
  }
}

TEST(Hash, GroupNamesAsAscendFilesHaveThem) {
  EXPECT_EQ(group_name_hash("group_name_5"), 5862276114690318097u);
  EXPECT_EQ(group_name_hash("group_name_19"), 3985310405473756128u);
}

}  // namespace
}  // namespace stepscope
