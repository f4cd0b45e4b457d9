// The routes of the API, by what they are about. Each adds its handlers to the server; `prefix` is
// "/stepscope/api/v1" or the like.
#ifndef STEPSCOPE_SERVER_ROUTES_H_
#define STEPSCOPE_SERVER_ROUTES_H_

#include <functional>
#include <string>

#include <httplib.h>

#include "server/open_run.h"
#include "server/run_catalog.h"
#include "server/run_tags.h"

namespace stepscope {

void add_run_routes(httplib::Server& http, const std::string& prefix, RunCatalog& catalog,
                    RunTags& tags, bool uploads);
void add_analysis_routes(httplib::Server& http, const std::string& prefix, RunCatalog& catalog);
void add_timeline_routes(httplib::Server& http, const std::string& prefix, RunCatalog& catalog);
void add_archive_routes(httplib::Server& http, const std::string& prefix, RunCatalog& catalog);
void add_curve_routes(httplib::Server& http, const std::string& prefix, RunCatalog& catalog);
void add_search_routes(httplib::Server& http, const std::string& prefix, RunCatalog& catalog);
void add_slice_routes(httplib::Server& http, const std::string& prefix, RunCatalog& catalog);
// `seconds`: the longest that a statement may take.
void add_query_routes(httplib::Server& http, const std::string& prefix, RunCatalog& catalog,
                      double seconds);
class TrainingControl;
void add_control_routes(httplib::Server& http, const std::string& prefix, TrainingControl& control,
                        const RunCatalog& catalog);
struct UploadOptions {
  std::string base;
  uint64_t largest_bytes = 0;
};
void add_upload_routes(httplib::Server& http, const std::string& prefix, RunCatalog& catalog,
                       const UploadOptions& options);
void add_page_routes(httplib::Server& http, const std::string& prefix);

// A handler for a route below /runs/ID/, with the run open; errors become replies. The header
// Server-Timing has the milliseconds until the answer was there, or its stream could begin.
using RunHandler = std::function<Status(OpenRun&, const httplib::Request&, httplib::Response&)>;
httplib::Server::Handler on_run(RunCatalog& catalog, RunHandler handler);

}  // namespace stepscope

#endif  // STEPSCOPE_SERVER_ROUTES_H_
