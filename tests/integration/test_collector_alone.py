"""The collector builds with a compiler and zstd alone, and is small: trainings load it."""

from __future__ import annotations

import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_the_collector_builds_alone_and_is_small(tmp_path: pathlib.Path) -> None:
    # Flags as in the release build: ccache has the objects.
    configure = ["cmake", "-S", str(ROOT), "-B", str(tmp_path), "-G", "Ninja"]
    choices = ["-DCMAKE_BUILD_TYPE=Release", "-DSTEPSCOPE_COLLECTOR_ONLY=ON"]
    choices += ["-DSTEPSCOPE_TESTS=OFF", "-DSTEPSCOPE_BENCH=OFF"]
    subprocess.run([*configure, *choices], check=True, capture_output=True)
    subprocess.run(["cmake", "--build", str(tmp_path), "-j2"], check=True, capture_output=True)
    library = tmp_path / "lib" / "libstepscope_collector.so"
    assert 100_000 < library.stat().st_size < 1_000_000
    needed = subprocess.run(["ldd", str(library)], check=True, capture_output=True, text=True)
    for other in ("duckdb", "fmt", "ssl", "isal", "sqlite"):
        assert other not in needed.stdout
