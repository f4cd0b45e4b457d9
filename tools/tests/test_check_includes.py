"""check_includes must accept the graph of the design and refuse each way of breaking it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import check_includes


def problems_of(root: Path, file: str, *lines: str) -> list[str]:
    path = root / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(["#pragma once", *lines]) + "\n")
    return check_includes.check_tree(root)


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("src/base/result.h", '#include "base/span.h"'),
        ("src/base/mmap_file.cc", "#include <sys/mman.h>"),
        ("src/base/clock.cc", "#include <x86intrin.h>"),
        ("src/format/chunk.cc", "#include <zstd.h>"),
        ("src/base/result_test.cc", "#include <gtest/gtest.h>"),
        ("src/collector/ring.cc", '#include "format/chunk.h"'),
        ("src/collector/session.cc", '#include "stepscope/record.h"'),
        ("src/collector/sources/cupti/source.cc", "#include <cupti.h>"),
        ("src/store/reader.cc", "#include <nlohmann/json.hpp>"),
        ("src/importers/kineto/importer.cc", '#include "store/writer.h"'),
        ("src/importers/registry.cc", '#include "importers/kineto/importer.h"'),
        ("src/importers/native/importer.cc", '#include "format/chunk.h"'),
        ("src/server/routes.cc", '#include "deliverables/chrome_json.h"'),
        ("src/cli/main.cc", '#include "server/routes.h"'),
        ("python/module.cc", '#include "api/run.h"'),
        ("python/native/module.cc", '#include "python/native/arrays.h"'),
        ("tests/integration/import_test.cc", '#include "importers/registry.h"'),
        ("src/store/reader_test.cc", '#include "tests/support/temporary_folder.h"'),
        ("bench/import_bench.cc", '#include "bench/generate/trace.h"'),
    ],
)
def test_accepts(tmp_path: Path, file: str, line: str) -> None:
    assert problems_of(tmp_path, file, line) == []


@pytest.mark.parametrize(
    ("file", "line", "reason"),
    [
        ("src/base/result.cc", '#include "store/reader.h"', "base may include no other folder"),
        ("src/store/reader.cc", '#include "importers/registry.h"', "store may include base"),
        ("src/store/reader.cc", '#include "format/chunk.h"', "store may include base"),
        ("src/store/reader.cc", '#include "tests/support/a.h"', "no folder tests/ in the graph"),
        (
            "src/importers/kineto/a.cc",
            '#include "format/chunk.h"',
            "may include base, json, packed, store",
        ),
        ("src/analyses/steps/a.cc", '#include "query/engine.h"', "may include base, json, store"),
        ("src/server/a.cc", '  #  include "cli/main.h"', "server may include"),
        ("src/collector/a.cc", '#include "store/schema.h"', "may include base, format"),
        ("src/collector/a.cc", "#include <fmt/format.h>", "zstd, libc and the C++ library only"),
        ("src/collector/ring.cc", "#include <cupti.h>", "zstd, libc and the C++ library only"),
        ("src/base/a.cc", "#include <gtest/gtest.h>", "zstd, libc and the C++ library only"),
        ("src/base/a.cc", '#include "span.h"', "full path from src/"),
        ("src/base/a.cc", '#include "../base/span.h"', "full path from src/"),
        ("src/store/a.cc", '#include "fmt/format.h"', "no folder fmt/"),
        ("src/store/a.cc", "#include <base/span.h>", "our own headers"),
        ("src/novel/a.cc", "", "not in a folder of the graph"),
        ("include/stepscope/a.h", '#include "base/span.h"', "include may include no other"),
        ("python/module.cc", '#include "store/reader.h"', "python may include"),
    ],
)
def test_refuses(tmp_path: Path, file: str, line: str, reason: str) -> None:
    problems = problems_of(tmp_path, file, line)
    assert len(problems) == 1
    assert reason in problems[0]
    assert problems[0].startswith(f"{file}:")


def test_names_the_line(tmp_path: Path) -> None:
    problems = problems_of(tmp_path, "src/base/a.h", "", "", '#include "store/reader.h"')
    assert problems[0].startswith("src/base/a.h:4: ")


def test_exit_status(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    problems_of(tmp_path, "src/base/a.h", '#include "store/reader.h"')
    assert check_includes.main([str(tmp_path)]) == 1
    assert "store/reader.h" in capsys.readouterr().out
    problems_of(tmp_path, "src/base/a.h", "#include <vector>")
    assert check_includes.main([str(tmp_path)]) == 0
