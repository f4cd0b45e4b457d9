"""A stand-in for stepscope._record where the native module is not built.

It keeps to the interface of _record.pyi and writes the calls it sees, one a line, as its raw file.
"""

from __future__ import annotations

import importlib.abc
import json
import os
import pathlib
import sys
import time
from importlib.machinery import ModuleSpec as Spec
from types import ModuleType
from typing import Any, Callable, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

_active: Recording | None = None


class Recording:
    def __init__(self, folder: str, options: str) -> None:
        global _active
        if _active:
            raise RuntimeError("another recording is active in this process; stop it first")
        self.options = json.loads(options)
        self._calls: list[str] = []
        self._raw = pathlib.Path(folder) / "stepscope.raw"
        self._raw.touch(0o640)
        self._start = time.monotonic()
        _active = self

    def stop(self) -> str:
        global _active
        if _active is self:
            _active = None
            self._raw.write_text("".join(f"{call}\n" for call in self._calls))
        statistics = {
            "events": len(self._calls),
            "not_recorded": 0,
            "bytes": self._raw.stat().st_size if self._raw.exists() else 0,
            "threads": 1,
            "seconds": time.monotonic() - self._start,
            "stopped_by": "",
        }
        return json.dumps(statistics)

    def problems(self) -> str:
        return "[]"

    @staticmethod
    def join(options: str) -> Recording:
        assert _active
        return _Part(_active)

    def add_metadata(self, key: str, json_value: str) -> None:
        self._calls.append(f"metadata {key} {json_value}")

    @property
    def active(self) -> bool:
        return _active is self

    def note(self, call: str) -> None:
        self._calls.append(call)


class _Part(Recording):
    """Of an outer recording."""

    def __init__(self, outer: Recording) -> None:
        self._outer = outer

    def stop(self) -> str:
        return "{}"

    def add_metadata(self, key: str, json_value: str) -> None:
        self._outer.add_metadata(key, json_value)


def prepare(options: str = "{}") -> None:
    pass


def unprepare() -> None:
    pass


def is_recording() -> bool:
    return _active is not None


def outer_folder() -> str:
    return ""  # tests put another function here


def flush() -> bool:
    return _active is not None


def _note(call: str) -> None:
    if _active:
        _active.note(call)


def step(number: int) -> None:
    _note(f"ProfilerStep#{number}")


def unmarked_step(number: int, start: int) -> None:
    _note(f"unmarked ProfilerStep#{number}")


def end_step() -> None:
    _note("end of step")


def mark(name: str) -> None:
    _note(f"mark {name}")


def counter(name: str, value: float) -> None:
    _note(f"counter {name} {value}")


USER = 0
_names: list[str] = []


def name(text: str) -> int:
    _names.append(text)
    return len(_names) - 1


def now() -> int:
    return 1


def end_range(start: int, kind: int, name: int) -> None:
    _note(f"range {_names[name]}")


def end_range_elsewhere(start: int, name: int, about: str) -> None:
    _note(f"range {_names[name]} {about}")


class record_function:  # noqa: N801
    def __init__(self, name: str, kind: str = "range") -> None:
        self._name = name

    def __enter__(self) -> record_function:
        _note(f"begin {self._name}")
        return self

    def __exit__(self, *exc: object) -> None:
        _note(f"end {self._name}")

    def __call__(self, function: F) -> F:
        return function


def _after_fork() -> None:
    global _active
    _active = None


os.register_at_fork(after_in_child=_after_fork)


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Stands last among the finders: asked only where there is no native module."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> Spec | None:
        return Spec(name, self) if name == "stepscope._record" else None

    def create_module(self, spec: Spec) -> ModuleType:
        return sys.modules[__name__]

    def exec_module(self, module: ModuleType) -> None:
        pass


def install() -> None:
    """Takes the native module's place where it is missing."""
    sys.meta_path.append(_Finder())
