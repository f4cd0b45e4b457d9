#!/usr/bin/env bash
# Formats our own C++ and Python; --check only says what it would change in the C++.
# Usage: tools/format.sh [--check]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

options=(-i)
[[ "${1:-}" != --check ]] || options=(--dry-run -Werror)
# Files that git still lists but that are gone from the folder are not for clang-format.
comm -23 <(git ls-files -co --exclude-standard -- '*.cc' '*.h' | sort -u) \
  <(git ls-files -d | sort -u) | xargs -r clang-format-19 "${options[@]}"

# ./test checks the Python by ruff itself; .venv is not there before the first ./run or ./test.
if [[ "${1:-}" != --check && -x .venv/bin/ruff ]]; then .venv/bin/ruff format -q .; fi
