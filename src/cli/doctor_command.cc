#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/machine_checks.h"
#include "cli/terminal.h"
#include "json/json_tree.h"

namespace stepscope {
namespace {

std::vector<Check> all_checks() {
  std::vector<Check> all;
  for (const auto check : {check_libraries, check_hardware, check_nvidia, check_ascend,
                           check_permissions, check_python}) {
    for (Check& one : check()) all.push_back(std::move(one));
  }
  return all;
}

std::string checks_text(const std::vector<Check>& checks) {
  std::string out;
  std::string group;
  for (const Check& check : checks) {
    if (check.group != group) out += fmt::format("{}{}\n", group.empty() ? "" : "\n", check.group);
    group = check.group;
    out +=
        fmt::format("  {:<8} {:<20} {}\n", check_state_name(check.state), check.name, check.detail);
    if (!check.remedy.empty()) out += fmt::format("  {:<8} {:<20} -> {}\n", "", "", check.remedy);
  }
  return out;
}

std::string checks_json(const std::vector<Check>& checks) {
  auto out = nlohmann::ordered_json::array();
  for (const Check& check : checks) {
    out.push_back({{"group", check.group},
                   {"name", check.name},
                   {"state", check_state_name(check.state)},
                   {"detail", check.detail},
                   {"remedy", check.remedy}});
  }
  return write_json(out, 2) + "\n";
}

}  // namespace

void add_doctor_command(Program& program) {
  auto json = std::make_shared<bool>(false);
  CLI::App* command =
      program.app.add_subcommand("doctor", "what this machine can do, and what is missing");
  command->add_flag("--json", *json, "for programs");
  command->callback([&program, json] {
    program.work = [json] {
      const std::vector<Check> checks = all_checks();
      return write_out(*json ? checks_json(checks) : checks_text(checks));
    };
  });
}

}  // namespace stepscope
