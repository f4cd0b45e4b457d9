// What the subcommands share. Each is a file of its own with one function that adds it to the
// program; its work runs after the command line is parsed, and its Status becomes the exit code.
#ifndef STEPSCOPE_CLI_COMMAND_H_
#define STEPSCOPE_CLI_COMMAND_H_

#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>

#include <CLI/CLI.hpp>

#include "base/progress.h"
#include "base/result.h"

namespace stepscope {

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailure = 1;
inline constexpr int kExitUsage = 2;

struct Program {
  CLI::App app;
  Progress progress;             // Ctrl-C cancels it
  std::function<Status()> work;  // of the subcommand that was named
  int exit_code = kExitOk;       // when the work is done; `record` passes the program's on
};

void add_analyse_command(Program& program);
void add_capture_command(Program& program);
void add_import_command(Program& program);
void add_info_command(Program& program);
void add_query_command(Program& program);
void add_export_command(Program& program);
void add_doctor_command(Program& program);
void add_schema_command(Program& program);
void add_record_command(Program& program);
void add_report_command(Program& program);
void add_serve_commands(Program& program);  // serve, open, start, stop

// A mistake in the command line that the parser cannot see: ends with exit code 2.
Error usage_error(std::string why, std::string remedy = {});
bool is_usage_error(const Error& error);

// A number of a range. CLI::Range says of a word that it is not in range.
template <class Number>
CLI::Validator between(Number low, Number high) {
  const CLI::Range range(low, high);
  return {[range](std::string& text) {
            constexpr bool kWhole = std::is_integral_v<Number>;
            std::conditional_t<kWhole, int64_t, double> value = 0;
            if (!CLI::detail::lexical_cast(text, value))
              return "\"" + text + (kWhole ? "\" is no whole number" : "\" is no number");
            return range(text);
          },
          range.get_description()};
}

}  // namespace stepscope

#endif  // STEPSCOPE_CLI_COMMAND_H_
