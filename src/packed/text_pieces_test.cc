#include "packed/text_pieces.h"

#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include "tests/support/temporary_folder.h"

namespace stepscope {
namespace {

std::string gzip(const std::string& text) {
  z_stream stream = {};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

// Some that repeats from far and near, and some that does not.
std::string sample_text(size_t bytes) {
  std::string text;
  uint64_t random = 7;
  while (text.size() < bytes) {
    random = random * 6364136223846793005ull + 1442695040888963407ull;
    text += "{\"name\": \"aten::mm\", \"ts\": " + std::to_string(random >> (random % 40)) + "}, ";
  }
  text.resize(bytes);
  return text;
}

constexpr size_t kPiece = TextPieces::kPieceBytes;

std::unique_ptr<TextPieces> pieces_of(const std::string& path) {
  auto source = TextSource::open(path);
  EXPECT_TRUE(source.ok());
  return source.ok() ? TextPieces::of(**source) : nullptr;
}

void expect_piece(TextPieces& pieces, const std::string& text, uint64_t piece) {
  std::string got = "before";
  const Status status = pieces.read(piece, got);
  ASSERT_TRUE(status.ok());
  const size_t start = piece * kPiece;
  const std::string want = start < text.size() ? text.substr(start, kPiece) : "";
  EXPECT_TRUE(got == "before" + want) << "piece " << piece << ", " << got.size() << " bytes";
}

TEST(TextPieces, AnyPieceInAnyOrder) {
  const testing::TemporaryFolder folder;
  const std::string text = sample_text(21 * kPiece + 12'345);
  const std::string two =
      gzip(text.substr(0, 5 * kPiece + 77)) + gzip(text.substr(5 * kPiece + 77));
  for (const std::string& packed : {gzip(text), two}) {
    const auto pieces = pieces_of(folder.write("a.gz", packed));
    ASSERT_NE(pieces, nullptr);
    for (const uint64_t piece : {20u, 3u, 4u, 5u, 0u, 21u, 22u, 1000u, 16u, 7u, 8u, 9u, 21u, 0u})
      expect_piece(*pieces, text, piece);
  }
}

TEST(TextPieces, OfSeveralThreads) {
  const testing::TemporaryFolder folder;
  const std::string text = sample_text(12 * kPiece);
  const auto pieces = pieces_of(folder.write("a.gz", gzip(text)));
  ASSERT_NE(pieces, nullptr);
  std::vector<std::thread> threads;
  for (unsigned number = 0; number < 3; ++number) {
    threads.emplace_back([&, number] {
      for (uint64_t i = 0; i < 13; ++i)
        expect_piece(*pieces, text, (i * (number + 1) + 5 * number) % 13);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(TextPieces, AFileThatIsCutOffEndsThere) {
  const testing::TemporaryFolder folder;
  const std::string text = sample_text(4 * kPiece);
  const std::string packed = gzip(text);
  const auto pieces = pieces_of(folder.write("a.gz", packed.substr(0, packed.size() / 2)));
  ASSERT_NE(pieces, nullptr);
  expect_piece(*pieces, text, 0);
  std::string last;
  ASSERT_TRUE(pieces->read(3, last).ok());
  EXPECT_EQ(last, "");
}

TEST(TextPieces, NotOfPlainFilesAndZstd) {
  const testing::TemporaryFolder folder;
  EXPECT_EQ(pieces_of(folder.write("a.json", "{}")), nullptr);
  const std::string text = sample_text(1000);
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 1));
  EXPECT_EQ(pieces_of(folder.write("a.zst", packed)), nullptr);
}

}  // namespace
}  // namespace stepscope
