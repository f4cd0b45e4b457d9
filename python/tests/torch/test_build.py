"""How the callback library comes to be, and what happens without it."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import stat
import subprocess
import sys

import pytest
from stepscope.torch import _build, _library


def build() -> pathlib.Path:
    torch = _build.Torch.installed()
    return _build.build(torch, _library.collector_library(), _library.header_folder())


def fake_compiler(folder: pathlib.Path, body: str) -> pathlib.Path:
    path = folder / "fake++"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


OUTPUT = 'for last; do :; done; echo built > "$last"'  # the path behind -o is the last word


def test_built_once_then_cached(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    compiler = fake_compiler(tmp_path, f"echo call >> {tmp_path}/calls; {OUTPUT}")
    monkeypatch.setenv("CXX", str(compiler))
    first = build()
    assert build() == first
    assert first.read_text() == "built\n"
    assert (tmp_path / "calls").read_text() == "call\n"
    assert not list(first.parent.glob("unfinished-*"))
    # Another compiler may make another library.
    compiler.write_text(compiler.read_text() + "# newer\n")
    assert build() != first


def test_without_a_compiler_what_was_built_before_is_used(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", "/nowhere")
    installed = _build.Torch.installed()
    source = tmp_path / "callbacks.cc"
    source.write_text("")

    def build_for(torch: _build.Torch) -> pathlib.Path:
        return _build.build(torch, _library.collector_library(), _library.header_folder(), [source])

    monkeypatch.setenv("CXX", str(fake_compiler(tmp_path, f"PATH=/bin; {OUTPUT}")))
    made = build_for(installed)
    monkeypatch.delenv("CXX")
    assert build_for(installed) == made
    # For another torch, or of another source, it is not the one.
    with pytest.raises(_build.BuildError, match=r"no C\+\+ compiler"):
        build_for(dataclasses.replace(installed, version=f"{installed.version}1"))
    source.write_text("// newer")
    with pytest.raises(_build.BuildError, match=r"no C\+\+ compiler"):
        build_for(installed)


def test_ranks_that_come_at_once_build_once(tmp_path: pathlib.Path) -> None:
    compiler = fake_compiler(tmp_path, f"echo call >> {tmp_path}/calls; sleep 0.5; {OUTPUT}")
    environment = {**os.environ, "CXX": str(compiler), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    code = (
        "from stepscope.torch import _build, _library\n"
        "torch = _build.Torch('2.x', _library.header_folder(), True)\n"
        "print(_build.build(torch, _library.collector_library(), _library.header_folder()))"
    )
    ranks = [
        subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE)
        for _ in range(3)
    ]
    paths = {rank.communicate()[0] for rank in ranks}
    assert len(paths) == 1
    assert all(rank.returncode == 0 for rank in ranks)
    assert (tmp_path / "calls").read_text() == "call\n"


def test_a_failed_build_says_why(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    compiler = fake_compiler(tmp_path, "echo 'x.cc:1: error: no such thing' >&2; exit 1")
    monkeypatch.setenv("CXX", str(compiler))
    with pytest.raises(_build.BuildError, match=r"error: no such thing.*see .*log"):
        build()


def test_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(_build.BuildError, match=r"no C\+\+ compiler"):
        _build.compiler()


def test_a_real_build_is_small(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert build().stat().st_size < 1 << 20


WITHOUT_COMPILER = """
import logging, sys
logging.basicConfig(level=logging.WARNING)
{first}
import torch
import stepscope
from stepscope.torch import profile
torch.ones(2).cos()
with profile() as profiler:
    for _ in range(4):
        torch.ones(2).cos().sin()
if profiler.run_path:
    run = stepscope.open(profiler.run_path)
    print(run.query("select name, count(*) n from ops group by name order by name").to_pylist())
    print([(finding.code, finding.example) for finding in run.quality])
"""


def without_compiler(first: str, tmp_path: pathlib.Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PATH": "/nowhere", "XDG_CACHE_HOME": str(tmp_path)}
    environment.pop("CXX", None)
    return subprocess.run(
        [sys.executable, "-c", WITHOUT_COMPILER.format(first=first)],
        env=environment, cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip


def test_without_compiler_operators_come_by_itt(tmp_path: pathlib.Path) -> None:
    if not (_library.collector_library().parent / "libstepscope_itt.so").exists():
        pytest.skip("libstepscope_itt.so is not built")
    done = without_compiler("import stepscope.torch", tmp_path)
    assert "{'name': 'aten::cos', 'n': 4}" in done.stdout
    assert "{'name': 'aten::sin', 'n': 4}" in done.stdout
    assert "source_left_out" in done.stdout
    assert "Operators come by ITT instead, without shapes" in done.stderr


def test_without_compiler_but_with_a_library_nothing_is_missing(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    build()
    done = without_compiler("import stepscope.torch", tmp_path)
    assert "{'name': 'aten::cos', 'n': 4}" in done.stdout
    assert "source_left_out" not in done.stdout
    assert not done.stderr


def test_too_late_for_itt_operators_come_by_nvtx(tmp_path: pathlib.Path) -> None:
    if not (_library.collector_library().parent / "libstepscope_nvtx.so").exists():
        pytest.skip("libstepscope_nvtx.so is not built")
    done = without_compiler("", tmp_path)
    assert "{'name': 'aten::cos', 'n': 4}" in done.stdout
    assert "{'name': 'aten::sin', 'n': 4}" in done.stdout
    assert "source_left_out" in done.stdout
    assert "Operators come by NVTX instead, without links" in done.stderr


def test_nvtx_of_another_tool_is_left_alone(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NVTX_INJECTION64_PATH", str(tmp_path / "another.so"))
    done = without_compiler("", tmp_path)
    assert "No operators are recorded: import stepscope.torch before torch" in done.stderr
