#include <unistd.h>

#include <memory>

#include "cli/command.h"
#include "cli/open_run.h"
#include "cli/summary_text.h"
#include "cli/terminal.h"
#include "query/database.h"

namespace stepscope {
namespace {

struct Options {
  std::string path;
  bool json = false;
  bool verify = false;
};

Status info(const Options& options, Progress& progress) {
  auto store = open_run(options.path, progress);
  if (!store) return std::move(store.error());
  if (options.verify) {
    if (auto status = (*store)->verify(); !status) return status;
  }
  auto database = Database::open(*store);
  if (!database) return std::move(database.error());
  auto summary = summarise_run(**store, **database, {0, &progress});
  if (!summary) return std::move(summary.error());
  return write_out(options.json ? summary_json(*summary)
                                : summary_text(*summary, terminal_width(STDOUT_FILENO)));
}

}  // namespace

void add_info_command(Program& program) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      program.app.add_subcommand("info", "what is in a run, and what is wrong with its data");
  command->add_option("PATH", options->path, "trace, folder of traces, or store")->required();
  command->add_flag("--json", options->json, "for programs");
  command->add_flag("--verify", options->verify,
                    "read the whole store first and check it against its checksums");
  command->callback([&program, options] {
    program.work = [&program, options] { return info(*options, program.progress); };
  });
}

}  // namespace stepscope
