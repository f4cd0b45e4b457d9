#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>

#include "analyses/advice/wording.h"
#include "analyses/run_analyses.h"
#include "analyses/user_settings.h"
#include "base/file.h"
#include "cli/command.h"
#include "cli/open_run.h"
#include "cli/terminal.h"
#include "deliverables/report/report.h"

namespace stepscope {
namespace {

struct Options {
  std::string path;
  std::string format;
  std::string output;
  std::string fp_start;
  std::string bp_end;
  std::string peaks;
  std::string what_if;
  StepChoice choice;
};

// By the file's name when the user does not say.
std::string format_of(const Options& options) {
  if (!options.format.empty()) return options.format;
  const std::string suffix = std::filesystem::path(options.output).extension().string();
  if (suffix == ".html" || suffix == ".htm") return "html";
  if (suffix == ".md") return "markdown";
  if (suffix == ".json") return "json";
  return "text";
}

// "rank 0, step 5: 103.2 ms would be 91.0 ms (12.2 ms less); 48 events of 24.4 ms change"
Result<std::string> what_if_text(RunAnalyses& run, const Options& options) {
  const auto change = parse_what_if(options.what_if);
  if (!change) return change.error();
  const auto rows = run.what_if(*change, options.choice);
  if (!rows) return rows.error();
  std::string text;
  for (const WhatIfRow& row : *rows) {
    text += "rank " + std::to_string(row.rank);
    if (row.window > 0) text += ", window " + std::to_string(row.window);
    text += ", step " + std::to_string(row.step) + ": " + words_for_time(row.before_ns) +
            " would be " + words_for_time(row.after_ns) + " (" +
            words_for_time(std::abs(row.gain_ns)) + (row.gain_ns < 0 ? " more)" : " less)");
    if (row.events > 0)
      text += "; " + std::to_string(row.events) + (row.events == 1 ? " event of " : " events of ") +
              words_for_time(row.events_ns) + (row.events == 1 ? " changes" : " change");
    text += '\n';
  }
  return text;
}

Status report(const Options& options, Progress& progress) {
  auto settings = analysis_options({options.fp_start, options.bp_end, options.peaks});
  if (!settings) return std::move(settings.error());
  auto store = open_run(options.path, progress);
  if (!store) return std::move(store.error());
  RunAnalyses run(*store, std::move(*settings));
  std::filesystem::path path = std::filesystem::path(options.path).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  const std::string name = path.filename().string();
  const std::string format = format_of(options);
  std::string text;
  if (!options.what_if.empty()) {
    auto changed = what_if_text(run, options);
    if (!changed) return std::move(changed.error());
    text = std::move(*changed);
  } else if (format == "json") {
    text = report_json(run, name);
  } else {
    const Report content = make_report(run, name);
    const bool screen = options.output.empty() && isatty(STDOUT_FILENO) != 0;
    text = format == "html"       ? report_html(content)
           : format == "markdown" ? report_markdown(content)
                                  : report_text(content, screen ? terminal_width(STDOUT_FILENO) : 0,
                                                screen && wants_colours());
  }
  if (options.output.empty()) return write_out(text);
  auto file = OutputFile::create(options.output);
  if (!file) return std::move(file.error());
  if (auto status = file->append(text); !status) return status;
  return file->commit();
}

}  // namespace

void add_report_command(Program& program) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      program.app.add_subcommand("report", "why a step takes as long as it does, on one screen");
  command->add_option("PATH", options->path, "trace, folder of traces, recording, or store")
      ->required();
  command
      ->add_option("--format", options->format,
                   "text, markdown, html or json (default: by the file's name, else text)")
      ->check(CLI::IsMember({"text", "markdown", "html", "json"}));
  command->add_flag_callback(
      "--json", [options] { options->format = "json"; }, "same as --format json");
  command->add_option("-o,--output", options->output, "file to write, else to the screen");
  command->add_option(
      "--fp-start", options->fp_start,
      "operator that begins the forward pass (else PROFILING_FP_START, else found)");
  command->add_option("--bp-end", options->bp_end,
                      "operator that ends the backward pass (else PROFILING_BP_END, else found)");
  command->add_option("--peaks", options->peaks,
                      "what the device can reach, FLOP/s and bytes/s, as "
                      "bfloat16=989e12,memory=4.8e12 (else STEPSCOPE_PEAKS, else by its name)");
  CLI::Option* what_if = command->add_option(
      "--what-if", options->what_if,
      "instead of the report, how long a step would be if something in it took a factor of its "
      "time: a part of a kernel's name, a kind of kernels or a kind of the critical path, as "
      "\"gemm*0.5\", "
      "\"communication*0\"");
  command->add_option("--step", options->choice.step, "step to change; default: of middle length")
      ->needs(what_if);
  command->add_option("--rank", options->choice.rank, "rank to change; default: every rank")
      ->needs(what_if);
  command->callback([&program, options] {
    program.work = [&program, options] { return report(*options, program.progress); };
  });
}

}  // namespace stepscope
