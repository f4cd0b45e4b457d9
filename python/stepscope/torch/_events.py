"""Single events of a window: what ``events()`` and ``export_stacks()`` give.

Times are microseconds from the first event on, as torch's are, and memory is bytes.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from torch.autograd import DeviceType

from stepscope.profiler._log import logger
from stepscope.torch._averages import Rows, Timed, Window, measure, name_of_all, numbers_at
from stepscope.torch._loose_memory import NAME as MEMORY
from stepscope.torch._loose_memory import LooseMemory, loose_memory

if TYPE_CHECKING:
    from stepscope import Run

_KERNELS = """
    select id, name, ts, dur, device, op from kernels where ts >= {since} order by ts
"""
_FRAMES = """
    select id, parent, name, dur from slices
    where cat = 'python_sample' and ts >= {since} order by depth, id
"""
# What lines of stacks are made with.
_SEPARATORS = str.maketrans(" ;\t\n", "____")


class Interval(NamedTuple):
    start: float
    end: float

    def elapsed_us(self) -> float:
        return self.end - self.start


_NOWHERE = Interval(0.0, 0.0)


class Kernel(NamedTuple):
    """Of an event that launched it."""

    name: str
    device: int
    duration: float


@dataclass(eq=False, repr=False)
class Event(Timed):
    """One call of an operator, one range of the program, or one kernel on a device."""

    id: int = 0
    #: in an exported trace, where steps have their numbers
    trace_name: str | None = None
    time_range: Interval = _NOWHERE
    #: of the operating system; of kernels and memory, 0
    thread: int = 0
    device_type: Any = DeviceType.CPU
    device_index: int = -1
    is_user_annotation: bool = False
    input_shapes: list[Any] = field(default_factory=list)
    #: joins a forward operator and its backward ones; -1: not known
    sequence_nr: int = -1
    kernels: list[Kernel] = field(default_factory=list)
    cpu_parent: Event | None = None
    cpu_children: list[Event] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.key

    @property
    def is_top_level(self) -> bool:
        return self.cpu_parent is None

    def __repr__(self) -> str:
        return f"<Event {self.name} at {self.time_range.start:.3f} us, {self.cpu_time_str}>"


class Events(Rows[Event]):
    """Made by ``profile.events()``."""


def read_events(run: Run, window: Window) -> list[Event]:
    """All of a window, in the order of their beginnings. A Python object for each of them."""
    measured = measure(run, window)
    made: dict[int, Event] = {}  # by the row's id
    launched_in: dict[int, Event] = {}  # and by those of rows that are a part of it
    kernels = run.query(_KERNELS.format(since=window.since_ns)).to_pylist()
    loose = loose_memory(run, window.since_ns, measured)
    beginnings = [row["ts"] for row in kernels] + loose.ts[:1].tolist()
    if measured is not None:
        beginnings.append(int(np.min(measured.table["ts"])))
    start_ns = min(beginnings, default=0)
    if measured is not None:
        at_position: dict[int, Event] = {}
        rows = measured.table.to_pylist()
        for position, row in enumerate(rows):
            if not measured.listed[position]:
                continue
            shapes = row["shapes"]
            event = Event(
                name_of_all(row["name"]),
                id=row["id"],
                trace_name=row["name"],
                time_range=_interval(row, start_ns),
                thread=_number(row["tid"]),
                is_user_annotation=bool(row["annotation"]),
                input_shapes=json.loads(shapes) if shapes else [],
                sequence_nr=-1 if row["sequence"] is None else row["sequence"],
                **numbers_at(measured.columns, position),
            )
            at_position[position] = made[event.id] = event
        for position, event in at_position.items():
            event.cpu_parent = at_position.get(int(measured.parents[position]))
            if event.cpu_parent:
                event.cpu_parent.cpu_children.append(event)
        for position, row in enumerate(rows):
            at = position if measured.listed[position] else int(measured.parents[position])
            if at >= 0:
                launched_in[row["id"]] = at_position[at]
    events = list(made.values())
    for row in kernels:
        us, device = row["dur"] / 1e3, row["device"] or 0
        if row["op"] in launched_in:
            launched_in[row["op"]].kernels.append(Kernel(row["name"], device, us))
        events.append(
            Event(
                row["name"],
                id=row["id"],
                trace_name=row["name"],
                time_range=_interval(row, start_ns),
                device_type=DeviceType.CUDA,
                device_index=device,
                device_time_total=us,
                self_device_time_total=us,
            )
        )
    events += _memory_events(loose, start_ns)
    return sorted(events, key=lambda event: (event.time_range.start, -event.time_range.end))


def _memory_events(loose: LooseMemory, start_ns: int) -> list[Event]:
    events = []
    for ts, host, device in zip(
        loose.ts.tolist(), loose.host_bytes.tolist(), loose.device_bytes.tolist()
    ):
        event = Event(MEMORY, time_range=_interval({"ts": ts, "dur": 0}, start_ns))
        event.cpu_memory_usage = event.self_cpu_memory_usage = host
        event.device_memory_usage = event.self_device_memory_usage = device
        events.append(event)
    return events


def write_stacks(run: Run, since_ns: int, path: Path) -> None:
    """One line for each stack: its frames, the outermost first, and microseconds."""
    frames = run.query(_FRAMES.format(since=since_ns)).to_pylist()
    if not frames:
        logger.warning("export_stacks: no stack was recorded, with_stack=True asks for them")
    inside: defaultdict[int, int] = defaultdict(int)
    for frame in frames:
        if frame["parent"] is not None:
            inside[frame["parent"]] += frame["dur"]
    names: dict[int, str] = {}  # of the stack that ends with a frame; equal ones are one text
    texts: dict[str, str] = {}
    total: defaultdict[str, int] = defaultdict(int)
    for frame in frames:
        around = names.get(frame["parent"], "")
        text = f"{around};" * bool(around) + frame["name"].translate(_SEPARATORS)
        names[frame["id"]] = text = texts.setdefault(text, text)
        total[text] += frame["dur"] - inside[frame["id"]]
    lines = (f"{text} {ns // 1000}\n" for text, ns in total.items() if ns >= 1000)
    path.write_text("".join(lines), encoding="utf-8")


def _interval(row: Any, start_ns: int) -> Interval:
    begin = (row["ts"] - start_ns) / 1e3
    return Interval(begin, begin + row["dur"] / 1e3)


def _number(text: Any) -> int:
    return int(text) if text and str(text).isdigit() else 0
