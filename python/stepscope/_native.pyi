from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

version: str

# Name, type, values, nulls, categories; see native/arrays.h.
NativeColumn = tuple[str, str, NDArray[Any] | list[int], NDArray[np.bool_] | None, list[str] | None]

class Run:
    @property
    def store_path(self) -> str: ...
    @property
    def store_bytes(self) -> int: ...
    @property
    def imported(self) -> bool: ...
    @property
    def notes(self) -> list[str]: ...
    def tables(self) -> list[tuple[str, str, list[tuple[str, str]]]]: ...
    def table(self, name: str, columns: Sequence[str] | None) -> tuple[int, list[NativeColumn]]: ...
    def query(self, sql: str, seconds: float) -> tuple[int, list[NativeColumn]]: ...
    def analyses(self) -> list[tuple[str, str, list[tuple[str, str]]]]: ...
    def analysis(self, name: str) -> tuple[int, list[NativeColumn]]: ...
    def analysis_reason(self, name: str) -> str: ...
    def write_chrome_trace(self, rank: int, path: bytes) -> int: ...
    def info_json(self) -> str: ...

# Rank, window, folder, names of files, (name, why) of those left out, and "" or why it failed.
AnalysedRank = tuple[int, int, str, list[str], list[tuple[str, str]], str]

def analyse(
    paths: Sequence[bytes],
    output: bytes,
    steps: Sequence[int],
    pretty: bool,
    simplify: bool,
    jobs: int,
) -> list[AnalysedRank]: ...
def open_run(
    paths: Sequence[bytes],
    form: str,
    jobs: int,
    memory_bytes: int,
    force: bool,
    progress: Callable[[int, int], object] | None,
) -> Run: ...
