from collections.abc import Callable, Sequence
from typing import Any, Optional, Union

import numpy as np
from numpy.typing import NDArray

version: str

# Name, type, values, nulls, categories; see native/arrays.h.
NativeColumn = tuple[
    str, str, Union[NDArray[Any], list[int]], Optional[NDArray[np.bool_]], Optional[list[str]]
]

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
    def table(
        self, name: str, columns: Sequence[str] | None
    ) -> tuple[int, list[NativeColumn]]: ...
    def query(self, sql: str, seconds: float) -> tuple[int, list[NativeColumn]]: ...
    def info_json(self) -> str: ...

def open_run(
    paths: Sequence[bytes],
    form: str,
    jobs: int,
    memory_bytes: int,
    force: bool,
    progress: Callable[[int, int], object] | None,
) -> Run: ...
