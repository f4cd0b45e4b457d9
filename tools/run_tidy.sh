#!/usr/bin/env bash
# clang-tidy over our own sources. Usage: tools/run_tidy.sh BUILD_FOLDER
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Sources that the build folder does not compile (another architecture's) have no flags to use.
git ls-files -co --exclude-standard -- 'src/*.cc' | while read -r file; do
  if grep -q "/$file\"" "$1/compile_commands.json"; then echo "$file"; fi
done | xargs -r -P "$(nproc)" -n 1 clang-tidy-19 -p "$1" --quiet --warnings-as-errors='*'
