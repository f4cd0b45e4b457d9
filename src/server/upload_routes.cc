// POST runs?name=FILE   the body is a trace: it becomes a file of the served folder, and a run
//
// The body is written as it comes, under a name that nothing looks at, and gets its own name when
// it is complete and an importer knows it. A name that is taken gets a number; nothing is ever
// overwritten, and nothing is written outside of the folder.
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/file.h"
#include "base/json_text.h"
#include "base/utf8.h"
#include "importers/discover.h"
#include "server/access.h"
#include "server/http_reply.h"
#include "server/routes.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLongestName = 200;
constexpr int kMostNumbers = 10'000;  // of files with one name
constexpr uint64_t kReadForTheAnswer = 16 << 20;

Status check_name(const std::string& name) {
  const auto bad = [&](std::string why) {
    return Error{ErrorCode::kBadInput, "cannot take the file",
                 repair_utf8(name.substr(0, kLongestName)), std::move(why),
                 "?name= is the plain name of the file"};
  };
  if (name.empty() || name.size() > kLongestName)
    return bad("its name must have 1 to " + std::to_string(kLongestName) + " bytes");
  if (name.front() == '.' || name.front() == ' ' || name.back() == ' ' || name.back() == '.')
    return bad("its name begins or ends with a dot or a space");
  for (const char c : name) {
    if (static_cast<unsigned char>(c) < 32 || c == 127 || c == '/' || c == '\\')
      return bad("its name has a slash or a control character");
  }
  if (!is_utf8(name)) return bad("its name is no UTF-8");
  if (is_own_store(name)) return bad("stores are made here, from what was recorded");
  return {};
}

Status check_space(const std::string& folder, uint64_t bytes) {
  struct statvfs about{};
  if (statvfs(folder.c_str(), &about) != 0) return {};
  const uint64_t free = static_cast<uint64_t>(about.f_bavail) * about.f_frsize;
  if (bytes <= free) return {};
  return Error{
      ErrorCode::kNoSpace, "cannot take the file", folder,
      "it has " + std::to_string(bytes) + " bytes, and " + std::to_string(free) + " are free there",
      "free some space"};
}

// "trace-2.json.gz" of "trace.json.gz".
std::string numbered(const std::string& name, int number) {
  if (number == 1) return name;
  const size_t dot = name.find('.');
  const std::string end = dot == std::string::npos ? "" : name.substr(dot);
  return name.substr(0, name.size() - end.size()) + "-" + std::to_string(number) + end;
}

// Gives a complete file its name, in the same folder; the name it got.
Result<std::string> put_in_place(const std::string& hidden, const std::string& folder,
                                 const std::string& name) {
  for (int number = 1; number <= kMostNumbers; ++number) {
    const std::string path = folder + "/" + numbered(name, number);
    if (link(hidden.c_str(), path.c_str()) == 0) return path;
    if (errno != EEXIST) return system_error("cannot take the file", path, errno);
  }
  return Error{ErrorCode::kLimit, "cannot take the file", name, "too many have this name",
               "give it another one"};
}

// Removes a file when it goes, whatever happened.
struct Removal {
  std::string path;
  ~Removal() { unlink(path.c_str()); }
};

Error too_large(const UploadOptions& options, const std::string& name) {
  return {ErrorCode::kLimit, "cannot take the file", name,
          "it is larger than " + std::to_string(options.largest_bytes) + " bytes",
          "put it into the folder by other means: it is imported there too"};
}

struct Place {
  std::string folder;
  std::string name;
};

// Where the file will be, when it may come at all. Nothing was read yet.
Result<Place> place_for(const RunCatalog& catalog, const UploadOptions& options,
                        const httplib::Request& request) {
  const std::string name = request.get_param_value("name");
  if (auto status = check_name(name); !status) return std::move(status.error());
  std::error_code problem;
  const std::string folder = fs::canonical(options.base, problem).string();
  if (problem || !catalog.takes_files())
    return Error{ErrorCode::kUnsupported, "cannot take the file", options.base,
                 "one run is served, not a folder", "serve a folder to add to it"};
  const uint64_t length = request.get_header_value<uint64_t>("Content-Length");
  if (length > options.largest_bytes) return too_large(options, name);
  if (auto status = check_space(folder, length); !status) return std::move(status.error());
  return Place{folder, name};
}

// The path of what was sent. `left` becomes false once all of it was read.
Result<std::string> receive(const UploadOptions& options, const httplib::Request& request,
                            const Place& place, const httplib::ContentReader& content, bool& left) {
  const auto& [folder, name] = place;
  const auto random = make_token();
  if (!random) return random.error();
  const std::string hidden = folder + "/.upload-" + *random + std::string(kStoreSuffix);
  auto file = OutputFile::create(hidden);
  if (!file) return std::move(file.error());
  Status written;
  left = !content([&](const char* data, size_t bytes) {
    if (file->position() + bytes > options.largest_bytes)
      written = too_large(options, name);
    else
      written = file->append(std::string_view(data, bytes));
    return written.ok();
  });
  if (!written) return std::move(written.error());
  const uint64_t length = request.get_header_value<uint64_t>("Content-Length");
  if (left || (request.has_header("Content-Length") && file->position() != length))
    return Error{ErrorCode::kCancelled, "the file was not sent completely", name,
                 "the connection ended before it did", "send it again"};
  if (file->position() == 0)
    return Error{ErrorCode::kBadInput, "cannot take the file", name, "it is empty",
                 "send it again when whoever writes it is done"};
  const Removal removal{hidden};
  if (auto status = file->commit(); !status) return std::move(status.error());
  auto path = put_in_place(hidden, folder, name);
  if (!path) return path;
  if (const auto known = discover({*path}, ""); !known) {
    unlink(path->c_str());
    return known.error();
  }
  return path;
}

}  // namespace

void add_upload_routes(httplib::Server& http, const std::string& prefix, RunCatalog& catalog,
                       const UploadOptions& options) {
  http.Post(prefix + "/runs", [&catalog, options](const httplib::Request& request,
                                                  httplib::Response& response,
                                                  const httplib::ContentReader& content) {
    bool left = true;
    const auto place = place_for(catalog, options, request);
    // Clients that are still sending do not see the answer: a short rest is read for them.
    if (!place && request.has_header("Content-Length") &&
        request.get_header_value<uint64_t>("Content-Length") <= kReadForTheAnswer)
      left = !content([](const char*, size_t) { return true; });
    const auto path = place ? receive(options, request, *place, content, left)
                            : Result<std::string>(place.error());
    if (!path) {
      reply_error(response, path.error());
      if (left) close_after(response);
      return;
    }
    const auto id = catalog.add(*path);
    if (!id) return reply_error(response, id.error());
    reply_json(response,
               JsonObject().add("id", *id).add("name", fs::path(*path).filename().string()).text());
  });
}

}  // namespace stepscope
