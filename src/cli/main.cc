// build/stepscope. Exit codes: 0 done, 1 failed, 2 the command line was wrong, 128 and the signal's
// number when one stopped it.
#include <signal.h>

#include <cstdio>
#include <exception>

#include "base/utf8.h"
#include "cli/command.h"
#include "cli/version.h"
#include "query/name_hint.h"

namespace stepscope {
namespace {

// The only things a signal handler can reach.
Progress* interrupted_progress = nullptr;
volatile sig_atomic_t interrupting_signal = 0;

void on_interrupt(int signal) {
  interrupting_signal = signal;
  if (interrupted_progress != nullptr) interrupted_progress->cancel();
}

// The first Ctrl-C asks the work to stop; a second one ends the program the usual way.
void catch_interrupts(Progress& progress) {
  interrupted_progress = &progress;
  struct sigaction action{};
  action.sa_handler = on_interrupt;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

// "unknown command: reprot; did you mean report?", or what the parser says.
std::string usage_text(CLI::App& app, std::string_view first_word, const char* what) {
  const std::string word(first_word);
  if (word.starts_with('-')) return what;
  std::string nearest;
  size_t least = word.size() / 2 + 1;  // more than every second letter is no slip
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    const size_t edits = edit_distance(word, command->get_name());
    if (edits == 0) return what;
    if (edits < least) least = edits, nearest = command->get_name();
  }
  return "unknown command: " + word + (nearest.empty() ? "" : "; did you mean " + nearest + "?");
}

int run(int count, char** words) {
  Program program;
  program.app.name("stepscope");
  program.app.description("Where the time and the memory of a training step go.");
  program.app.set_version_flag("--version", std::string("stepscope ") + kVersion);
  program.app.require_subcommand(1);
  program.app.get_formatter()->column_width(28);
  program.app.failure_message(CLI::FailureMessage::simple);
  add_record_command(program);
  add_capture_command(program);
  add_report_command(program);
  add_serve_commands(program);
  add_import_command(program);
  add_info_command(program);
  add_analyse_command(program);
  add_query_command(program);
  add_export_command(program);
  add_doctor_command(program);
  add_schema_command(program);
  if (count == 1) {
    std::fputs(program.app.help().c_str(), stderr);
    return kExitUsage;
  }
  // The parser reports by throwing; nothing below does.
  try {
    program.app.parse(count, words);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return program.app.exit(error);  // --help, --version
    const std::string why = usage_text(program.app, words[1], error.what());
    std::fprintf(stderr, "stepscope: %s (see stepscope --help)\n", visible_text(why).c_str());
    return kExitUsage;
  }
  catch_interrupts(program.progress);
  const Status status = program.work();
  if (status) return program.exit_code;
  std::fprintf(stderr, "stepscope: %s\n", visible_text(status.error().message(), true).c_str());
  if (status.error().code == ErrorCode::kCancelled && interrupting_signal != 0)
    return 128 + interrupting_signal;
  return is_usage_error(status.error()) ? kExitUsage : kExitFailure;
}

}  // namespace

Error usage_error(std::string why, std::string remedy) {
  return {ErrorCode::kUnsupported, "wrong usage", "", std::move(why), std::move(remedy)};
}

bool is_usage_error(const Error& error) { return error.what == "wrong usage"; }

}  // namespace stepscope

int main(int count, char** words) {
  // Only running out of memory is left to be thrown here.
  try {
    return stepscope::run(count, words);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "stepscope: failed: %s\n", error.what());
    return stepscope::kExitFailure;
  }
}
