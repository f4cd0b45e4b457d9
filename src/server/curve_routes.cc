// GET runs/ID/timeline/series                                  curves there are
// GET runs/ID/timeline/curves?from=&to=&width=&series=0,1      what they show, as typed arrays
#include <limits>

#include "base/json_text.h"
#include "server/http_reply.h"
#include "server/request_values.h"
#include "server/routes.h"

namespace stepscope {
namespace {

constexpr size_t kMostSeries = 400;
constexpr int64_t kWidest = 16'384;
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

template <class T>
void append(std::string& out, const std::vector<T>& values) {
  out.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  out.append((8 - out.size() % 8) % 8, '\0');
}

Status send_curves(OpenRun& run, const httplib::Request& request, httplib::Response& response) {
  constexpr int64_t kFar = std::numeric_limits<int64_t>::max() / 4;
  const auto from = integer_value(request, "from", 0, -kFar, kFar);
  if (!from) return from.error();
  const auto to = integer_value(request, "to", kFar, -kFar, kFar);
  if (!to) return to.error();
  const auto width = integer_value(request, "width", 1920, 1, kWidest);
  if (!width) return width.error();
  const auto series = number_list(request, "series", kMostSeries);
  if (!series) return series.error();

  const int64_t origin = run.origin_ns();
  const Viewport viewport{origin + *from, origin + *to, static_cast<uint32_t>(*width)};
  std::vector<uint32_t> rows;
  std::vector<double> times, lows, highs, lasts;
  std::vector<CurveItem> items;
  for (const uint64_t number : *series) {
    if (number >= run.curves().size())
      return Error{ErrorCode::kNotFound, "no such series", std::to_string(number), "", ""};
    items.clear();
    run.curves()[number].curve.query(viewport, items);
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
  append(out, std::vector<uint32_t>{kMagic, static_cast<uint32_t>(rows.size() / 2),
                                    static_cast<uint32_t>(times.size()), 0});
  append(out, rows);
  append(out, times);
  append(out, lows);
  append(out, highs);
  append(out, lasts);
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
