// Placeholder until the checks are written.
#include "cli/command.h"
namespace stepscope {
void add_export_command(Program&) {}
}  // namespace stepscope
