// Test support: what a reader of Chrome JSON holds against a file. The rules are those of
// Perfetto's importer: what breaks one of them is dropped there, cut, or shown in another place.
#ifndef STEPSCOPE_TESTS_SUPPORT_CHROME_FORMAT_H_
#define STEPSCOPE_TESTS_SUPPORT_CHROME_FORMAT_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/decimal.h"
#include "json/json_tree.h"

namespace stepscope::testing {

// Reads a list of events, or an object with traceEvents. Each error has the event in it.
//
// Arrows that end before they start are allowed on request: clocks of a host and a device differ,
// and a recording has such arrows of its own. Viewers draw them backwards.
class ChromeFormat {
 public:
  static std::vector<std::string> errors(const nlohmann::json& trace, bool early_ends = false) {
    ChromeFormat format;
    format.early_ends_ = early_ends;
    const bool is_object = trace.is_object() && trace.contains("traceEvents");
    const nlohmann::json& events = is_object ? trace["traceEvents"] : trace;
    if (!events.is_array()) return {"neither a list of events nor an object with traceEvents"};
    for (const nlohmann::json& event : events) format.read(event);
    format.check_nesting();
    format.check_arrows();
    return std::move(format.errors_);
  }

 private:
  using Json = nlohmann::json;
  struct Span {
    int64_t start_ns;
    int64_t end_ns;
    const Json* event;
  };
  struct ArrowEnd {
    int64_t ts_ns;
    std::string lane;
    const Json* event;
  };

  void expect(bool holds, const char* rule, const Json& event) {
    if (!holds) errors_.push_back(std::string(rule) + ": " + write_json(event));
  }

  // Microseconds as a number, or as text where they need more digits than a number has.
  static std::optional<int64_t> nanoseconds(const Json& event, const char* key) {
    const auto found = event.find(key);
    if (found == event.end()) return std::nullopt;
    if (found->is_string()) return parse_us_as_ns(found->get_ref<const std::string&>());
    if (!found->is_number()) return std::nullopt;
    return std::llround(found->get<double>() * 1000);
  }
  static bool is_id(const Json& event, const char* key) {
    const auto found = event.find(key);
    return found != event.end() && (found->is_number_integer() || found->is_string());
  }
  static bool is_text(const Json& event, const char* key) {
    const auto found = event.find(key);
    return found != event.end() && found->is_string();
  }

  void read(const Json& event) {
    if (!event.is_object() || !is_text(event, "ph")) {
      return expect(false, "an event is an object with ph", event);
    }
    const auto& phase = event["ph"].get_ref<const std::string&>();
    expect(phase.size() == 1 && std::string_view("XBEMCisfbent").find(phase) != std::string::npos,
           "a known ph", event);
    const bool has_place = is_id(event, "pid") && is_id(event, "tid");
    expect(has_place, "pid and tid are numbers or text", event);
    if (!has_place) return;
    expect(is_text(event, "name"), "a name", event);
    if (phase == "M") return read_metadata(event);
    const auto ts_ns = nanoseconds(event, "ts");
    expect(ts_ns.has_value(), "ts is a time", event);
    if (!ts_ns) return;
    const std::string lane = write_json(event["pid"]) + " " + write_json(event["tid"]);
    if (phase == "X") {
      const auto dur_ns = nanoseconds(event, "dur");
      expect(dur_ns && *dur_ns >= 0, "X has dur >= 0", event);
      if (dur_ns && *dur_ns >= 0) spans_[lane].push_back({*ts_ns, *ts_ns + *dur_ns, &event});
    } else if (phase == "B") {
      ++open_[lane];
      spans_[lane].push_back({*ts_ns, INT64_MAX, &event});
    } else if (phase == "E") {
      expect(open_[lane]-- > 0, "E has its B before it", event);
    } else if (phase == "s" || phase == "f") {
      expect(is_id(event, "id") && is_text(event, "cat"), "an arrow has id and cat", event);
      expect(phase == "s" || event.value("bp", "") == "e", "an arrow ends in what encloses it",
             event);
      if (!is_id(event, "id") || !is_text(event, "cat")) return;
      const std::string id = write_json(event["cat"]) + " " + write_json(event["id"]);
      if (phase == "s") expect(starts_[id].empty(), "one start for an id and cat", event);
      (phase == "s" ? starts_ : ends_)[id].push_back({*ts_ns, lane, &event});
    } else if (phase == "C") {
      const bool has_args = event.contains("args") && event["args"].is_object();
      expect(has_args &&
                 std::ranges::all_of(event["args"], [](const Json& v) { return v.is_number(); }),
             "values of counters are numbers", event);
    } else if (phase == "i") {
      const std::string scope = event.value("s", "t");
      expect(scope == "t" || scope == "p" || scope == "g", "an instant has s of g, p, t", event);
    } else {
      expect(is_id(event, "id") && is_text(event, "cat"), "asynchronous events have id and cat",
             event);
    }
  }

  void read_metadata(const Json& event) {
    static const std::map<std::string, std::pair<const char*, bool>, std::less<>> kNames = {
        {"process_name", {"name", true}},
        {"thread_name", {"name", true}},
        {"process_labels", {"labels", true}},
        {"process_sort_index", {"sort_index", false}},
        {"thread_sort_index", {"sort_index", false}}};
    const auto known = kNames.find(event.value("name", ""));
    expect(known != kNames.end(), "a known name of metadata", event);
    if (known == kNames.end()) return;
    const auto& [key, is_name] = known->second;
    const bool has =
        event.contains("args") && event["args"].is_object() && event["args"].contains(key);
    expect(
        has && (is_name ? event["args"][key].is_string() : event["args"][key].is_number_integer()),
        "metadata has its value in args", event);
  }

  // On a lane, slices lie in each other or apart.
  void check_nesting() {
    for (auto& [lane, spans] : spans_) {
      std::stable_sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) {
        return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.end_ns > b.end_ns;
      });
      std::vector<int64_t> open;
      for (const Span& span : spans) {
        while (!open.empty() && open.back() <= span.start_ns) open.pop_back();
        const bool is_open = span.end_ns == INT64_MAX;  // it ends with what is around it
        expect(is_open || open.empty() || span.end_ns <= open.back(), "slices of a lane nest",
               *span.event);
        open.push_back(is_open && !open.empty() ? open.back() : span.end_ns);
      }
    }
  }

  void check_arrows() {
    const auto check_slice = [&](const ArrowEnd& end) {
      const auto spans = spans_.find(end.lane);
      expect(spans != spans_.end() && std::ranges::any_of(spans->second,
                                                          [&](const Span& span) {
                                                            return span.start_ns <= end.ts_ns &&
                                                                   end.ts_ns <= span.end_ns;
                                                          }),
             "an arrow begins and ends in a slice", *end.event);
    };
    for (const auto& [id, starts] : starts_) {
      for (const ArrowEnd& start : starts) check_slice(start);
    }
    for (const auto& [id, ends] : ends_) {
      const auto starts = starts_.find(id);
      for (const ArrowEnd& end : ends) {
        check_slice(end);
        expect(starts != starts_.end(), "an arrow that ends has a start", *end.event);
        if (starts == starts_.end() || early_ends_) continue;
        expect(starts->second.front().ts_ns <= end.ts_ns, "an arrow starts before it ends",
               *end.event);
      }
    }
  }

  bool early_ends_ = false;
  std::vector<std::string> errors_;
  std::map<std::string, std::vector<Span>> spans_;  // by lane
  std::map<std::string, int64_t> open_;
  std::map<std::string, std::vector<ArrowEnd>> starts_;  // by id and cat
  std::map<std::string, std::vector<ArrowEnd>> ends_;
};

}  // namespace stepscope::testing

#endif  // STEPSCOPE_TESTS_SUPPORT_CHROME_FORMAT_H_
