// Test support: a Chrome trace that is written as text, imported, and looked at.
#ifndef STEPSCOPE_TESTS_SUPPORT_IMPORTED_TRACE_H_
#define STEPSCOPE_TESTS_SUPPORT_IMPORTED_TRACE_H_

#include <algorithm>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/imported_run.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/trace_text.h"

namespace stepscope::testing {

class ImportedTrace : public ::testing::Test {
 protected:
  const ImportedRun& import(const std::string& text, const std::string& name = "t.json") {
    run_ = std::make_unique<ImportedRun>(folder_.write(name, text));
    if (!run_->ok()) {
      ADD_FAILURE() << run_->error();
      run_ = std::make_unique<ImportedRun>(folder_.write(name, trace_of({event("failed", 0)})));
    }
    return *run_;
  }
  // Of the first slice with this name.
  std::string args_of(const std::string& name) const {
    const auto texts = run_->texts("slices", "name");
    const auto found = std::find(texts.begin(), texts.end(), name);
    if (found == texts.end()) return "no slice " + name;
    const auto args = run_->store().args(0, static_cast<uint64_t>(found - texts.begin()));
    return args ? *args : args.error().message();
  }

  TemporaryFolder folder_;
  std::unique_ptr<ImportedRun> run_;
};

}  // namespace stepscope::testing

#endif  // STEPSCOPE_TESTS_SUPPORT_IMPORTED_TRACE_H_
