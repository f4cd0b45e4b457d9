"""Operators by name: what ``key_averages()`` returns, and the table that programs print.

Times are microseconds, as torch's are, and memory is bytes. "Self" leaves out what lies inside
another event of the same thread.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray
from torch.autograd import DeviceType

from stepscope.profiler._log import logger
from stepscope.torch._averages_table import render, time_text
from stepscope.torch._flops import flops_of
from stepscope.torch._loose_memory import NAME as MEMORY
from stepscope.torch._loose_memory import loose_memory

if TYPE_CHECKING:
    from stepscope import Run
    from stepscope.torch._profile import profile

_EVENTS = """
    select s.id, s.parent, s.depth, s.name, s.ts, s.dur, t.tid, o.input_shapes as shapes,
           o.sequence, s.cat = 'user_annotation' as annotation,
           s.cat in ('cpu_op', 'user_annotation', 'runtime') as listed,
           s.name like 'ProfilerStep#%' or w.slice is not null as is_step,
           coalesce(k.ns, 0) as device_ns, coalesce(m.host, 0) as host_bytes,
           coalesce(m.device, 0) as device_bytes
    from slices s
    join tracks t on t.track = s.track and t.rank = s.rank and t.kind = 'host'
    left join ops o on o.id = s.id
    left join steps w on w.slice = s.id
    left join (select op, sum(dur) as ns from kernels where op is not null group by op) k
        on k.op = s.id
    left join (
        select slice, sum(bytes) filter (device_kind = 'CPU') as host,
               sum(bytes) filter (device_kind <> 'CPU') as device
        from memory where slice is not null and bytes is not null group by slice
    ) m on m.slice = s.id
    where s.dur > 0 and s.ts >= {since}
    order by s.id
"""
_KERNELS = """
    select name, count(*) as count, sum(dur) as ns, min(ts) as first from kernels
    where ts >= {since} group by name
"""


@dataclass(eq=False)
class Timed:
    """What one event or all events of a name take; the names are torch's."""

    key: str
    count: int = 1
    cpu_time_total: float = 0.0
    self_cpu_time_total: float = 0.0
    device_time_total: float = 0.0
    self_device_time_total: float = 0.0
    cpu_memory_usage: int = 0
    self_cpu_memory_usage: int = 0
    device_memory_usage: int = 0
    self_device_memory_usage: int = 0
    #: by shapes, with ``with_flops``
    flops: int = 0
    # What torch has beside these and is not recorded.
    stack: ClassVar[tuple[str, ...]] = ()
    overload_name: ClassVar[str] = ""
    is_async: ClassVar[bool] = False
    is_remote: ClassVar[bool] = False
    is_legacy: ClassVar[bool] = False
    node_id: ClassVar[int] = -1
    use_device: ClassVar[str | None] = None

    @property
    def cpu_time(self) -> float:
        return self.cpu_time_total / self.count if self.count else 0.0

    @property
    def device_time(self) -> float:
        return self.device_time_total / self.count if self.count else 0.0

    def __getattr__(self, name: str) -> Any:
        if name.endswith("_str"):
            return time_text(getattr(self, name[:-4]))
        other = _device_word(name)
        if other == name:
            raise AttributeError(name)
        return getattr(self, other)


@dataclass
class KeyAverage(Timed):
    """The events of one name."""

    #: a list where events are told apart by it, else "", as torch has it
    input_shapes: list[Any] | str = ""
    device_type: Any = DeviceType.CPU
    is_user_annotation: bool = False
    #: whether the first of them lies in no other event
    is_top_level: bool = True
    #: when and how deep the first of them began
    first: tuple[int, int] = (0, 0)

    @property
    def group(self) -> tuple[str, ...]:
        """What its events have in common."""
        return self.key, str(self.input_shapes), str(self.device_type)

    def add(self, other: KeyAverage) -> None:
        for name in _SUMS:
            setattr(self, name, getattr(self, name) + getattr(other, name))


_SUMS = tuple(item.name for item in fields(Timed) if item.name != "key")

_T = TypeVar("_T", bound=Timed)


class Rows(list[_T]):
    """Events, or their averages, and what torch's lists of them can do."""

    def __init__(self, profiler: profile | None = None) -> None:
        super().__init__()
        self._profiler = profiler

    def key_averages(self, *arguments: Any, **options: Any) -> KeyAverages:
        return (
            self._profiler.key_averages(*arguments, **options) if self._profiler else KeyAverages()
        )

    def export_chrome_trace(self, path: str) -> None:
        """That of the window: averages have no times to draw."""
        if self._profiler:
            self._profiler.export_chrome_trace(path)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        if self._profiler:
            self._profiler.export_stacks(path, metric)

    @property
    def self_cpu_time_total(self) -> float:
        return sum(item.self_cpu_time_total for item in self)

    def total_average(self) -> KeyAverage:
        """All of them as one; what lies in another is counted in both totals, as torch does."""
        return KeyAverage(
            "Total", **{name: sum(getattr(one, name) for one in self) for name in _SUMS}
        )

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int | None = 100,
        max_src_column_width: int | None = 75,
        max_name_column_width: int | None = 55,
        max_shapes_column_width: int | None = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
        time_unit: str | None = None,
    ) -> str:
        """The table of ``torch.profiler``, with its columns; ``row_limit`` -1 or None: all rows."""
        del max_src_column_width  # stacks are not a column of ours
        rows: Sequence[_T] = self
        if sort_by is not None:
            column = _device_word(sort_by)
            if self and not hasattr(self[0], column):
                logger.warning("there is no column %r: sorted by self_cpu_time_total", sort_by)
                column = "self_cpu_time_total"
            rows = sorted(self, key=lambda item: getattr(item, column), reverse=True)
        shown, headers = rows, [] if header is None else [header]
        if top_level_events_only:
            shown = [row for row in rows if row.is_top_level]
            headers.append("This report only display top-level ops statistics")
        if row_limit is not None and row_limit >= 0:
            shown = shown[:row_limit]
        return render(
            rows, shown, headers, max_name_column_width, max_shapes_column_width, time_unit
        )

    def __str__(self) -> str:
        return self.table()


class KeyAverages(Rows[KeyAverage]):
    """Made by ``profile.key_averages()``."""

    def add(self, more: KeyAverages) -> None:
        """Those of another window."""
        known = {average.group: average for average in self}
        for average in more:
            if average.group in known:
                known[average.group].add(average)
            else:
                self.append(average)


@dataclass(frozen=True)
class Measured:
    """Every event on the host, in the order of its row: what it takes, and inside of which."""

    table: Any
    #: whether it is listed; modules, Python functions and steps that torch has not are not, nor is
    #: an operator that another one of its name consists of
    listed: NDArray[Any]
    #: position of the listed event around it, -1: none
    parents: NDArray[Any]
    #: by the name that ``Timed`` has for it
    columns: dict[str, NDArray[Any]]

    def positions(self, ids: NDArray[Any]) -> NDArray[Any]:
        """Where the slices of these ids stand; -1: nowhere."""
        return _positions(self.table["id"], ids)


@dataclass(frozen=True)
class Window:
    """What is to be read of a run, and how."""

    #: where it begins in a run that holds more
    since_ns: int = 0
    #: whether steps are events; torch has them only of a schedule, and never infers them from the
    #: optimizer
    with_steps: bool = True
    with_flops: bool = False


def measure(run: Run, window: Window) -> Measured | None:
    events = run.query(_EVENTS.format(since=window.since_ns))
    if not events.num_rows:
        return None
    listed = np.asarray(events["listed"])
    if not window.with_steps:
        listed = listed & ~np.asarray(events["is_step"])
    parents = _positions(events["id"], np.ma.filled(np.ma.asarray(events["parent"]), -1))
    parents = _listed_parents(parents, listed)
    listed = listed & ~_repeated(events.codes("name"), parents, listed)
    parents = _listed_parents(parents, listed)
    duration: NDArray[Any] = events["dur"].astype(np.int64)
    inside = _sums(parents, np.where(listed, duration, 0))
    # Slices are rows in order of depth within their thread, so one pass per depth adds all up.
    depth = events["depth"]
    columns = {"cpu_time_total": duration / 1e3, "self_cpu_time_total": (duration - inside) / 1e3}
    for name, source, scale in (
        ("device_time", "device_ns", 1e3),
        ("cpu_memory", "host_bytes", 1),
        ("device_memory", "device_bytes", 1),
    ):
        own = np.asarray(events[source]).astype(np.int64)
        own = np.where(listed, own, 0) + _sums(parents, np.where(listed, 0, own))
        suffix = "_total" if scale > 1 else "_usage"
        columns[f"self_{name}{suffix}"] = own / scale
        columns[f"{name}{suffix}"] = _with_descendants(own, parents, depth) / scale
    if window.with_flops:
        columns["flops"] = flops_of(events)
    return Measured(events, listed, parents, columns)


def numbers_at(columns: Mapping[str, NDArray[Any]], at: int) -> dict[str, Any]:
    return {
        name: int(values[at]) if name.endswith(("usage", "flops")) else float(values[at])
        for name, values in columns.items()
    }


def key_averages(run: Run, group_by_input_shape: bool, window: Window) -> KeyAverages:
    averages = KeyAverages()
    measured = measure(run, window)
    if measured is not None:
        _add_averages(measured, group_by_input_shape, averages)
    loose = loose_memory(run, window.since_ns, measured)
    if len(loose.ts):
        host, device = int(loose.host_bytes.sum()), int(loose.device_bytes.sum())
        freed = KeyAverage(MEMORY, len(loose.ts), first=(int(loose.ts[0]), 0))
        if group_by_input_shape:
            freed.input_shapes = []
        freed.cpu_memory_usage = freed.self_cpu_memory_usage = host
        freed.device_memory_usage = freed.self_device_memory_usage = device
        averages.append(freed)
    for row in run.query(_KERNELS.format(since=window.since_ns)).to_pylist():
        us = row["ns"] / 1e3
        kernel = KeyAverage(
            row["name"], row["count"], device_time_total=us, device_type=DeviceType.CUDA
        )
        kernel.first = (row["first"], 0)
        if group_by_input_shape:
            kernel.input_shapes = []
        kernel.self_device_time_total = us
        averages.append(kernel)
    averages.sort(key=lambda row: row.first)
    return averages


def _add_averages(measured: Measured, by_shape: bool, averages: KeyAverages) -> None:
    listed = measured.listed
    groups, keys, shapes = _groups(measured.table, by_shape)
    size = len(keys)
    totals = {
        name: np.bincount(groups[listed], weights=values[listed], minlength=size)
        for name, values in measured.columns.items()
    }
    counts = np.bincount(groups[listed], minlength=size)
    annotations = np.asarray(measured.table["annotation"])[listed]
    annotated = np.bincount(groups[listed], weights=annotations, minlength=size) > 0
    began, depth = np.asarray(measured.table["ts"]), np.asarray(measured.table["depth"])
    by_beginning = np.flatnonzero(listed)[np.lexsort((depth[listed], began[listed]))]
    firsts: NDArray[Any] = np.full(size, len(by_beginning))
    np.minimum.at(firsts, groups[by_beginning], np.arange(len(by_beginning)))
    for at, key in enumerate(keys):
        if counts[at]:
            numbers = numbers_at(totals, at)
            average = KeyAverage(key, int(counts[at]), **numbers)
            average.is_user_annotation = bool(annotated[at])
            first = by_beginning[firsts[at]]
            average.first = int(began[first]), int(depth[first])
            average.is_top_level = bool(measured.parents[first] < 0)
            if by_shape:
                average.input_shapes = json.loads(shapes[at]) if shapes[at] else []
            averages.append(average)


def name_of_all(name: str) -> str:
    """torch has one name for all steps."""
    return "ProfilerStep*" if name.startswith("ProfilerStep#") else name


def _groups(events: Any, by_shape: bool) -> tuple[NDArray[Any], list[str], list[str]]:
    names = [name_of_all(name) for name in events.categories("name")]
    first_of: dict[str, int] = {}  # equal names are one row
    same = np.array([first_of.setdefault(name, at) for at, name in enumerate(names)], np.int64)
    codes = same[events.codes("name")]
    if not by_shape:
        used, groups = np.unique(codes, return_inverse=True)
        return groups, [names[code] for code in used], [""] * len(used)
    texts = [*events.categories("shapes"), ""]  # the last one for -1, an event without shapes
    shape = events.codes("shapes").astype(np.int64) % len(texts)
    used, groups = np.unique(codes * len(texts) + shape, return_inverse=True)
    return (
        groups,
        [names[code // len(texts)] for code in used],
        [texts[code % len(texts)] for code in used],
    )


def _listed_parents(parents: NDArray[Any], listed: NDArray[Any]) -> NDArray[Any]:
    """What is not listed has no rows; what lies in it lies in what is around it."""
    parents = parents.copy()
    while (skip := (parents >= 0) & ~listed[parents]).any():
        parents[skip] = parents[parents[skip]]
    return parents


def _repeated(names: NDArray[Any], parents: NDArray[Any], listed: NDArray[Any]) -> NDArray[Any]:
    """An operator that calls another overload of itself and nothing else (aten::mean does) is one
    call to torch: of events of one name that lie in each other alone, only the outermost counts."""
    inside = np.flatnonzero(listed & (parents >= 0))
    children = np.bincount(parents[inside], minlength=len(parents))
    around = parents[inside]
    repeated: NDArray[Any] = np.zeros(len(parents), bool)
    repeated[inside] = (names[inside] == names[around]) & (children[around] == 1)
    return repeated


def _positions(ids: NDArray[Any], wanted: NDArray[Any]) -> NDArray[Any]:
    """Where each of the ids stands; -1 where it is none of them."""
    at = np.searchsorted(ids, wanted).clip(max=len(ids) - 1)
    return np.where(ids[at] == wanted, at, -1)


def _sums(parents: NDArray[Any], values: NDArray[Any]) -> NDArray[Any]:
    has_parent = parents >= 0
    sums: NDArray[Any] = np.zeros(len(values), np.int64)
    np.add.at(sums, parents[has_parent], values[has_parent])
    return sums


def _with_descendants(
    own: NDArray[Any], parents: NDArray[Any], depth: NDArray[Any]
) -> NDArray[Any]:
    total = own.copy()
    if own.any():
        for level in range(int(depth.max()), 0, -1):
            at = np.flatnonzero((depth == level) & (parents >= 0))
            np.add.at(total, parents[at], total[at])
    return total


def _device_word(name: str) -> str:
    for word in ("cuda", "xpu", "privateuse1"):
        name = name.replace(word, "device")
    return name
