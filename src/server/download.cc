#include "server/download.h"

#include <cerrno>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <utility>

namespace stepscope {
namespace {

namespace fs = std::filesystem;

constexpr size_t kPieceBytes = 256 << 10;

void name_file(httplib::Response& response, const std::string& file_name) {
  response.set_header("Content-Disposition", "attachment; filename=\"" + file_name + "\"");
  response.set_header("Cache-Control", "no-store");
}

}  // namespace

std::string_view download_type(std::string_view format) {
  if (format == "csv") return "text/csv; charset=utf-8";
  if (format == "json") return "application/json";
  if (format == "jsonl") return "application/x-ndjson";
  if (format == "parquet") return "application/vnd.apache.parquet";
  if (format == "arrow") return "application/vnd.apache.arrow.file";
  return {};
}

void stream_download(httplib::Response& response, const std::string& file_name,
                     std::string_view type, WriteDownload write) {
  name_file(response, file_name);
  response.set_chunked_content_provider(
      std::string(type), [write = std::move(write)](size_t, httplib::DataSink& sink) {
        // Many small pieces would be many small packets.
        std::string held;
        const auto pass_on = [&]() -> Status {
          if (held.empty() || sink.write(held.data(), held.size())) {
            held.clear();
            return {};
          }
          return Error{ErrorCode::kCancelled, "the client went away", "", "", ""};
        };
        // The library does not catch what is thrown here: memory may be short.
        try {
          auto status = write([&](std::string_view text) -> Status {
            held += text;
            return held.size() < kPieceBytes ? Status() : pass_on();
          });
          if (status) status = pass_on();
          if (!status) return false;
        } catch (const std::exception&) {
          return false;  // the client sees that the end is missing
        }
        sink.done();
        return true;
      });
}

Result<std::shared_ptr<SpoolFile>> SpoolFile::create() {
  std::error_code problem;
  const fs::path folder = fs::temp_directory_path(problem);
  std::string pattern = (problem ? fs::path("/tmp") : folder) / "stepscope.XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr)
    return system_error("cannot write the file to send", pattern, errno);
  std::shared_ptr<SpoolFile> file(new SpoolFile);
  file->folder_ = pattern;
  file->path_ = pattern + "/file";
  return file;
}

SpoolFile::~SpoolFile() {
  std::error_code ignored;
  fs::remove(path_, ignored);
  fs::remove(folder_, ignored);
}

Status send_file(httplib::Response& response, const std::string& file_name, std::string_view type,
                 std::shared_ptr<SpoolFile> spool) {
  auto opened = InputFile::open(spool->path());
  if (!opened) return std::move(opened.error());
  auto file = std::make_shared<InputFile>(std::move(*opened));
  name_file(response, file_name);
  response.set_content_provider(
      file->size(), std::string(type),
      [file, spool = std::move(spool)](size_t offset, size_t bytes, httplib::DataSink& sink) {
        std::string piece(std::min(bytes, kPieceBytes), '\0');
        const auto got = file->read_at(offset, piece.data(), piece.size());
        return got.ok() && *got > 0 && sink.write(piece.data(), *got);
      });
  return {};
}

}  // namespace stepscope
