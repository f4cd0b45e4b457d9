#include "collector/sources/mindspore/window_files.h"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>

#include "base/decimal.h"
#include "base/file.h"
#include "collector/sources/mindspore/token_reader.h"

namespace stepscope {
namespace {

constexpr int64_t kLatestNs = int64_t{1} << 62;
constexpr int kMillisecondDigits = 6;

std::optional<int64_t> not_negative(std::optional<int64_t> value) {
  if (!value || *value < 0 || *value > kLatestNs) return std::nullopt;
  return value;
}

// "start,duration,thread"; the thread is optional and always 0.
bool read_execution(std::string_view text, MindsporeOperator& op) {
  const size_t comma = text.find(',');
  if (comma == std::string_view::npos) return false;
  const std::string_view rest = text.substr(comma + 1);
  const auto start_ns = not_negative(parse_integer(text.substr(0, comma)));
  const auto duration_ns =
      not_negative(parse_scaled(rest.substr(0, rest.find(',')), kMillisecondDigits));
  if (!start_ns || !duration_ns) return false;
  op.start_ns = *start_ns;
  op.duration_ns = *duration_ns;
  return true;
}

std::string_view last_part(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

struct Launch {
  StringId name = kEmptyString;  // "" in most lines of PyNative mode
  uint32_t input_shapes = 0;
};

// "input_1:[32, 1]", "input_2:NoShape" -> "[[32, 1], []]", the form other sources use.
void append_shape(std::string& shapes, std::string_view field) {
  const size_t colon = field.find(':');
  if (colon == std::string_view::npos) return;
  const std::string_view shape = field.substr(colon + 1);
  shapes += shapes.empty() ? "[" : ", ";
  shapes += shape.starts_with('[') ? shape : "[]";
}

std::vector<Launch> read_launches(TokenReader& reader, NameTable& names, StringPool& short_names,
                                  MindsporeWindow& window) {
  std::vector<Launch> launches;
  launches.reserve(window.operators.size());
  // Every launch of an operator has the same text again and again: its name is looked up in a
  // small map of our own, without the name table's lock.
  StringPool texts;
  std::vector<uint32_t> name_of_text{0};
  std::string shapes;
  std::string_view field;
  Launch launch;
  size_t column = 0;
  while (reader.next(";\n", field)) {
    if (column == 1) launch.name = short_names.intern(field);
    if (column > 2) append_shape(shapes, field);
    ++column;
    if (reader.end() != '\n') continue;
    if (column > 2) {
      if (!shapes.empty()) {
        const StringId text = texts.intern(shapes += "]");
        if (text == name_of_text.size()) name_of_text.push_back(names.intern(shapes));
        launch.input_shapes = name_of_text[text];
      }
      if (launches.size() < MindsporeWindow::kMostOperators) launches.push_back(launch);
    } else if (column > 1 || !field.empty()) {
      ++window.unreadable;
    }
    launch = {};
    shapes.clear();
    column = 0;
  }
  return launches;
}

}  // namespace

void read_mindspore_operators(const std::string& path, NameTable& names, StringPool& short_names,
                              MindsporeWindow& window) {
  auto reader = TokenReader::open(path);
  if (!reader) {
    ++window.unreadable;
    return;
  }
  std::string name;       // all fields of the line so far but the last, which is the kind
  std::string last;       // the last field
  bool has_name = false;  // a name may hold the separator
  bool known = false;
  MindsporeOperator op;
  std::string_view token;
  while (reader->next("; \n", token)) {
    if (reader->end() == ';') {
      if (has_name) name.append(name.empty() ? "" : ";").append(last);
      last = token;
      has_name = true;
      known = false;
    } else if (!token.empty()) {
      if (!known && !name.empty()) {
        op.name = names.intern(name);
        op.short_name = short_names.intern(last_part(name));
        known = true;
      }
      if (!known || !read_execution(token, op)) {
        ++window.unreadable;
      } else if (window.operators.size() < MindsporeWindow::kMostOperators) {
        window.operators.push_back(op);
      } else {
        ++window.left_out;
      }
    }
    if (reader->end() != '\n') continue;
    name.clear();
    last.clear();
    has_name = known = false;
  }
  window.unreadable += reader->too_long();
  std::stable_sort(window.operators.begin(), window.operators.end(),
                   [](const MindsporeOperator& a, const MindsporeOperator& b) {
                     return a.start_ns < b.start_ns;
                   });
}

void read_mindspore_shapes(const std::string& path, NameTable& names, StringPool& short_names,
                           MindsporeWindow& window) {
  auto reader = TokenReader::open(path);
  if (!reader) {
    ++window.unreadable;
    return;
  }
  const std::vector<Launch> launches = read_launches(*reader, names, short_names, window);
  window.unreadable += reader->too_long();
  struct OnlyShape {
    uint32_t input_shapes;
    bool is_only;
  };
  std::unordered_map<StringId, OnlyShape> shape_of;
  for (const Launch& launch : launches) {
    if (launch.name == kEmptyString) continue;
    const auto [found, is_new] = shape_of.try_emplace(launch.name, launch.input_shapes, true);
    if (!is_new && found->second.input_shapes != launch.input_shapes) found->second.is_only = false;
  }
  for (size_t at = 0; at < window.operators.size(); ++at) {
    MindsporeOperator& op = window.operators[at];
    if (at < launches.size() && launches[at].name == op.short_name) {
      op.input_shapes = launches[at].input_shapes;
    } else if (const auto found = shape_of.find(op.short_name);
               found != shape_of.end() && found->second.is_only) {
      op.input_shapes = found->second.input_shapes;
    }
    if (op.input_shapes == 0) ++window.without_shapes;
  }
}

void read_mindspore_memory(const std::string& path, int64_t from_ns, int64_t to_ns,
                           uint64_t& skip_bytes, MindsporeWindow& window) {
  auto file = InputFile::open(path);
  if (!file) return;  // a window without memory records has no such file
  // Only where a line ends, else the file is another one than before.
  char before = '\n';
  if (skip_bytes > 0) {
    const auto got = file->read_at(skip_bytes - 1, &before, 1);
    if (!got || *got != 1 || before != '\n') skip_bytes = 0;
  }
  auto reader = TokenReader::open(path, skip_bytes);
  if (!reader) return;
  bool header = skip_bytes == 0;
  std::array<int64_t, 4> fields{};
  size_t column = 0;
  bool readable = true;
  std::string_view token;
  while (reader->next(",\n", token)) {
    const bool ends = reader->end() == '\n';
    if (ends && column == 0 && token.empty()) continue;
    const auto value = not_negative(parse_integer(token));
    if (value && column < fields.size()) fields[column] = *value;
    readable = readable && value && column < fields.size();
    ++column;
    if (!ends) continue;
    if (!header && (!readable || column != fields.size())) {
      ++window.unreadable;
    } else if (!header && fields[0] >= from_ns && fields[0] <= to_ns) {
      if (window.memory.size() < MindsporeWindow::kMostMemoryRecords) {
        window.memory.push_back({fields[0], fields[1], fields[2], fields[3]});
      } else {
        ++window.left_out;
      }
    }
    header = false;
    readable = true;
    column = 0;
  }
  window.unreadable += reader->too_long();
  skip_bytes = reader->size();
}

}  // namespace stepscope
