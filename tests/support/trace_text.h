// Test support: small Chrome traces as text.
#ifndef STEPSCOPE_TESTS_SUPPORT_TRACE_TEXT_H_
#define STEPSCOPE_TESTS_SUPPORT_TRACE_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stepscope::testing {

// {"schemaVersion": 1, "traceEvents": [ ... ], "traceName": "t"}
inline std::string trace_of(const std::vector<std::string>& events,
                            std::string_view properties = "\"schemaVersion\": 1") {
  std::string text = "{\n  " + std::string(properties) + ",\n  \"traceEvents\": [\n";
  for (size_t i = 0; i < events.size(); ++i) text += (i == 0 ? "  " : ",\n  ") + events[i];
  return text + "\n  ],\n  \"traceName\": \"t\"\n}\n";
}

// A complete event; `name` and `args` go in as they are.
inline std::string event(std::string_view name, int64_t ts, std::string_view args = "",
                         std::string_view cat = "cpu_op") {
  std::string text = "{\"ph\": \"X\", \"cat\": \"" + std::string(cat) + "\", \"name\": \"" +
                     std::string(name) +
                     "\", \"pid\": 10, \"tid\": 11, \"ts\": " + std::to_string(ts) + ", \"dur\": 5";
  if (!args.empty()) text += ", \"args\": {" + std::string(args) + "}";
  return text + "}";
}

}  // namespace stepscope::testing

#endif  // STEPSCOPE_TESTS_SUPPORT_TRACE_TEXT_H_
