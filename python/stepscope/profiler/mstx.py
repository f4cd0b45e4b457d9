"""Marks and ranges that a program sets itself, in domains that a profiler can choose from.

They are recorded where ``mstx=True`` was asked for, on any device. A range that one thread begins
and another ends is on the track of the second, and says which thread the first was.
"""

from __future__ import annotations

import itertools
import logging
import threading
from typing import TYPE_CHECKING, NamedTuple

from stepscope.profiler._log import Once, guarded

if TYPE_CHECKING:
    from stepscope.profiler.parameters import Parameters

_DEFAULT = "default"
#: Open at a time; a program that never ends its ranges must not fill the memory.
_MOST_OPEN = 10_000


class _Open(NamedTuple):
    start: int
    name: int
    thread: int


class mstx:  # noqa: N801, MindSpore's name
    """``mark``, ``range_start`` and ``range_end``; as the collector, one for the process."""

    enable = False
    _include: tuple[str, ...] = ()
    _exclude: tuple[str, ...] = ()
    _ids = itertools.count(1)
    _ranges: dict[int, _Open] = {}  # noqa: RUF012, typed for 3.9
    _once = Once()

    @staticmethod
    def mark(message: str, stream: object = None, domain: str = _DEFAULT) -> None:
        """Records a moment."""
        with guarded("mstx.mark", mstx._once):
            if mstx._takes(message, stream, domain):
                from stepscope import _record

                _record.mark(_name(message, domain))

    @staticmethod
    def range_start(message: str, stream: object = None, domain: str = _DEFAULT) -> int:
        """Begins a range; returns what ``range_end`` wants, 0 where it is not recorded."""
        with guarded("mstx.range_start", mstx._once):
            if mstx._takes(message, stream, domain):
                from stepscope import _record

                if len(mstx._ranges) >= _MOST_OPEN:
                    text = f"mstx: {_MOST_OPEN} ranges are open: no more are recorded"
                    mstx._once.log(logging.WARNING, text)
                    return 0
                number = next(mstx._ids)
                name = _record.name(_name(message, domain))
                mstx._ranges[number] = _Open(_record.now(), name, threading.get_native_id())
                return number
        return 0

    @staticmethod
    def range_end(range_id: int, domain: str = _DEFAULT) -> None:
        """Ends a range."""
        with guarded("mstx.range_end", mstx._once):
            if isinstance(range_id, bool) or not isinstance(range_id, int) or range_id < 0:
                text = f"mstx: range_id must be what range_start returned, not {range_id!r}"
                mstx._once.log(logging.WARNING, text)
                return
            opened = mstx._ranges.pop(range_id, None)
            if not opened:
                return
            from stepscope import _record

            if opened.thread == threading.get_native_id():
                _record.end_range(opened.start, _record.USER, opened.name)
            else:
                about = f'{{"Started by thread":{opened.thread}}}'
                _record.end_range_elsewhere(opened.start, opened.name, about)

    @staticmethod
    def open(parameters: Parameters) -> None:
        """A recording has started."""
        mstx.enable = parameters.mstx
        mstx._include = parameters.mstx_domain_include
        mstx._exclude = parameters.mstx_domain_exclude

    @staticmethod
    def close() -> int:
        """The recording ends. Returns how many ranges are open, which it loses."""
        mstx.enable = False
        count = len(mstx._ranges)
        mstx._ranges.clear()
        return count

    @staticmethod
    def _takes(message: object, stream: object, domain: object) -> bool:
        for name, value in (("message", message), ("domain", domain)):
            if not isinstance(value, str) or not value:
                text = f"mstx: {name} must be a text, not {value!r}: nothing is recorded"
                mstx._once.log(logging.WARNING, text)
                return False
        if stream is not None and mstx.enable:  # mindformers calls it in every step, asked or not
            text = "mstx: a message with a stream is recorded on the host only"
            mstx._once.log(logging.WARNING, text)
        if mstx._include:
            return mstx.enable and domain in mstx._include
        return mstx.enable and domain not in mstx._exclude


def _name(message: str, domain: str) -> str:
    return message if domain == _DEFAULT else f"{domain}: {message}"
