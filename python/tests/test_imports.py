"""Being there when a program imports a module."""

from __future__ import annotations

import importlib
import importlib.util
import pathlib
import sys
import weakref
from collections.abc import Iterator
from typing import Any

import pytest
from stepscope._imports import when_imported


@pytest.fixture
def modules(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "arriving.py").write_text("name = 'arrived'\n")
    (tmp_path / "failing.py").write_text("raise RuntimeError('not today')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    before = list(sys.meta_path)
    yield
    for name in ("arriving", "failing"):
        sys.modules.pop(name, None)
    assert sys.meta_path == before, "nothing is left behind"


def test_both_who_wait_are_told_once_the_module_is_there(modules: None) -> None:
    said = []
    for who in ("one", "two"):
        when_imported("arriving", lambda who=who: said.append((who, sys.modules["arriving"].name)))
    assert importlib.util.find_spec("arriving"), "to ask for it is no import"
    assert said == []
    importlib.import_module("arriving")
    importlib.import_module("arriving")
    assert said == [("one", "arrived"), ("two", "arrived")]
    sys.modules.pop("arriving")
    importlib.import_module("arriving")
    assert len(said) == 2


def test_finders_of_an_older_kind_are_passed_over(modules: None) -> None:
    older: Any = object()
    sys.meta_path.insert(0, older)
    try:
        said: list[str] = []
        when_imported("arriving", lambda: said.append("told"))
        importlib.import_module("arriving")
        assert said == ["told"]
    finally:
        sys.meta_path.remove(older)


def test_whoever_does_not_wait_any_more_is_not_told(modules: None) -> None:
    said: list[str] = []
    when_imported("arriving", lambda: said.append("told"))()
    importlib.import_module("arriving")
    assert said == []


def test_an_import_that_fails_is_none(modules: None) -> None:
    said: list[str] = []
    end = when_imported("failing", lambda: said.append("told"))
    with pytest.raises(RuntimeError, match="not today"):
        importlib.import_module("failing")
    assert said == []
    end()


def test_the_module_keeps_nobody_alive_who_was_told(modules: None) -> None:
    class Told:
        def arrived(self) -> None:
            pass

    told = Told()
    gone = weakref.ref(told)
    when_imported("arriving", told.arrived)
    del told
    importlib.import_module("arriving")
    assert gone() is None
