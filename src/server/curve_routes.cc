// GET runs/ID/timeline/series                                  curves there are
// GET runs/ID/timeline/curves?from=&to=&width=&series=0,1      what they show, as typed arrays
#include "base/json_text.h"
#include "server/http_reply.h"
#include "server/request_values.h"
#include "server/routes.h"

namespace stepscope {
namespace {

constexpr size_t kMostSeries = 400;
constexpr uint32_t kMagic = 0x31435353;  // "SSC1"

Status send_series(OpenRun& run, const httplib::Request&, httplib::Response& response) {
  std::string json = "{\"series\":[";
  for (size_t i = 0; i < run.curves().size(); ++i) {
    const NamedCurve& named = run.curves()[i];
    JsonObject one;
    one.add("series", static_cast<int64_t>(i))
        .add("position", static_cast<int64_t>(named.rank_position))
        .add("rank", run.store().rank_number(named.rank_position))
        .add("kind", curve_kind_name(named.kind))
        .add("group", named.group)
        .add("name", named.name)
        .add("unit", named.unit)
        .add("samples", static_cast<int64_t>(named.curve.samples()))
        .add("low", named.curve.low())
        .add("high", named.curve.high())
        .add("first", named.curve.first_ns() - run.origin_ns())
        .add("last", named.curve.last_ns() - run.origin_ns());
    json += (i == 0 ? "" : ",") + one.text();
  }
  reply_json(response, json + "]}");
  return {};
}

Status send_curves(OpenRun& run, const httplib::Request& request, httplib::Response& response) {
  const int64_t origin = run.origin_ns();
  const auto viewport = viewport_value(request, origin);
  if (!viewport) return viewport.error();
  const auto series = number_list(request, "series", kMostSeries);
  if (!series) return series.error();

  std::vector<uint32_t> rows;
  std::vector<double> times, lows, highs, lasts;
  std::vector<CurveItem> items;
  for (const uint64_t number : *series) {
    if (number >= run.curves().size())
      return not_in_run("series", number, "runs/ID/timeline/series");
    items.clear();
    run.curves()[number].curve.query(*viewport, items);
    rows.push_back(static_cast<uint32_t>(number));
    rows.push_back(static_cast<uint32_t>(items.size()));
    for (const CurveItem& item : items) {
      times.push_back(static_cast<double>(item.ts_ns - origin));
      lows.push_back(item.low);
      highs.push_back(item.high);
      lasts.push_back(item.last);
    }
  }
  std::string out;
  append_array(out, std::vector<uint32_t>{kMagic, static_cast<uint32_t>(rows.size() / 2),
                                          static_cast<uint32_t>(times.size()), 0});
  append_array(out, rows);
  append_array(out, times);
  append_array(out, lows);
  append_array(out, highs);
  append_array(out, lasts);
  response.set_header("Cache-Control", "no-store");
  response.set_content(std::move(out), "application/octet-stream");
  return {};
}

}  // namespace

void add_curve_routes(httplib::Server& http, const std::string& prefix, RunCatalog& catalog) {
  const std::string run = prefix + "/runs/([0-9a-f]{16})/timeline";
  http.Get(run + "/series", on_run(catalog, send_series));
  http.Get(run + "/curves", on_run(catalog, send_curves));
}

}  // namespace stepscope
