#include <memory>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/open_run.h"
#include "cli/terminal.h"
#include "importers/importer.h"

namespace stepscope {
namespace {

struct Options {
  std::vector<std::string> paths;
  ImportOptions import;
  uint64_t memory_mb = 0;
};

Status import(const Options& options, Progress& progress) {
  ImportOptions settings = options.import;
  settings.memory_bytes = options.memory_mb << 20;
  auto run = import_paths(options.paths, settings, progress);
  if (!run) return std::move(run.error());
  auto store = StoreReader::open(run->store_path);
  if (!store) return std::move(store.error());
  const auto ranks = static_cast<int64_t>((*store)->rank_count());
  return write_out(fmt::format(
      "{}{}: {}, {} {}, {} slices\n", run->imported ? "" : "already imported: ", run->store_path,
      bytes_text((*store)->file_bytes()), count_text(ranks), ranks == 1 ? "rank" : "ranks",
      count_text(static_cast<int64_t>((*store)->rows(Table::kSlices)))));
}

}  // namespace

void add_import_command(Program& program) {
  auto options = std::make_shared<Options>();
  CLI::App* command = program.app.add_subcommand("import", "read traces into a store");
  std::string forms;
  for (const Importer* importer : importers()) {
    if (!forms.empty()) forms += ", ";
    forms += importer->name();
  }
  command->add_option("PATH", options->paths, "trace files or folders of one run")->required();
  command->add_option("-o,--output", options->import.output,
                      "store to write; default: beside the input, or in the cache folder");
  command->add_option(
      "--form", options->import.form,
      "read this form where a rank has several" + (forms.empty() ? std::string() : ": " + forms));
  command->add_option("--jobs", options->import.jobs, "ranks to read at once; default: all CPUs")
      ->check(between(1, 4096));
  command
      ->add_option("--memory-mb", options->memory_mb,
                   "memory, in MiB, that the ranks read at once are estimated to need together; "
                   "one rank is always read; default: half of the machine's")
      ->check(between(64, 1 << 24));
  command->add_flag("--force", options->import.force, "import again even if the store is fresh");
  command->callback([&program, options] {
    program.work = [&program, options] { return import(*options, program.progress); };
  });
}

}  // namespace stepscope
