// Result<T>: a value or an Error. Used everywhere below the CLI and HTTP edge; nothing in src/
// throws.
//
// An Error says what failed, where (file, and byte or line when there is one), why, and what to do
// about it: the four parts that every message of the program shows.
#ifndef STEPSCOPE_BASE_RESULT_H_
#define STEPSCOPE_BASE_RESULT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace stepscope {

enum class ErrorCode : uint8_t {
  kNotFound,       // no such file, table, rank ...
  kNotRecognised,  // readable, but no importer knows it
  kBadInput,       // malformed content
  kPermission,     // exists but may not be read or written
  kNoSpace,        // disk full or over quota
  kLimit,          // a safety limit was reached
  kChanged,        // the input changed while it was read
  kCancelled,      // the user pressed Ctrl-C
  kUnsupported,    // a version or feature this build does not have
  kIo,             // any other operating-system failure
};

// "not_found": the word for a code in the API and in Python.
std::string_view error_code_name(ErrorCode code);

struct [[nodiscard]] Error {
  ErrorCode code = ErrorCode::kIo;
  std::string what;    // "cannot import"
  std::string where;   // "trace.json, byte 1234"
  std::string why;     // "the file ends inside an event"
  std::string remedy;  // "record the trace again or ..."

  // One line: "what: where: why (remedy)". Empty parts are left out.
  std::string message() const;
};

// Wraps errno of a failed call on `path` with a remedy that fits the code.
Error system_error(std::string what, const std::string& path, int error_number);

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value)
      : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT: implicit by design
  Result(Error error)
      : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit by design

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  Error& error() { return std::get<1>(state_); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT: implicit by design

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  Error& error() { return *error_; }
  const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

}  // namespace stepscope

#endif  // STEPSCOPE_BASE_RESULT_H_
