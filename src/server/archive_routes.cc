// GET runs/ID/timeline/archive?rank=&from=&to=   ranks as Chrome trace JSON in a zip archive,
//   streamed; all of them, or one; all of the time, or what touches a part of it
#include <limits>

#include "deliverables/chrome_trace.h"
#include "server/download.h"
#include "server/request_values.h"
#include "server/routes.h"
#include "server/zip_stream.h"

namespace stepscope {
namespace {

struct Wanted {
  std::vector<size_t> ranks;  // positions
  ChromeTraceOptions options;
};

Result<Wanted> wanted_of(const OpenRun& run, const httplib::Request& request) {
  constexpr int64_t kFar = std::numeric_limits<int64_t>::max() / 4;
  const auto rank = optional_integer(request, "rank");
  if (!rank) return rank.error();
  const auto from = integer_value(request, "from", 0, -kFar, kFar);
  if (!from) return from.error();
  const auto to = integer_value(request, "to", 0, -kFar, kFar);
  if (!to) return to.error();
  Wanted wanted;
  if (request.has_param("from")) wanted.options.from_ns = run.origin_ns() + *from;
  if (request.has_param("to")) wanted.options.to_ns = run.origin_ns() + *to;
  for (size_t position = 0; position < run.store().rank_count(); ++position) {
    if (!*rank || run.store().rank_number(position) == **rank) wanted.ranks.push_back(position);
  }
  if (wanted.ranks.empty()) return not_in_run("rank", rank->value_or(0), "runs/ID");
  return wanted;
}

Status write_archive(const StoreReader& store, const Wanted& wanted, const ZipStream::Sink& sink) {
  ZipStream zip(sink);
  for (const size_t rank : wanted.ranks) {
    // Positions tell the windows of a rank apart.
    const std::string name = "rank_" + std::to_string(store.rank_number(rank)) + "_" +
                             std::to_string(rank) + ".pt.trace.json";
    if (auto status = zip.begin_file(name); !status) return status;
    auto written = write_chrome_trace(store, rank, wanted.options,
                                      [&](std::string_view text) { return zip.write(text); });
    if (!written) return written;
    if (auto status = zip.end_file(); !status) return status;
  }
  return zip.finish();
}

Status send_archive(OpenRun& run, const httplib::Request& request, httplib::Response& response) {
  auto wanted = wanted_of(run, request);
  if (!wanted) return std::move(wanted.error());
  stream_download(
      response, "timeline.zip", "application/zip",
      [run = run.shared_from_this(), wanted = std::move(*wanted)](const ZipStream::Sink& sink) {
        return write_archive(run->store(), wanted, sink);
      });
  return {};
}

}  // namespace

void add_archive_routes(httplib::Server& http, const std::string& prefix, RunCatalog& catalog) {
  http.Get(prefix + "/runs/([0-9a-f]{16})/timeline/archive", on_run(catalog, send_archive));
}

}  // namespace stepscope
