"""Opening runs."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Union

from stepscope import _native
from stepscope._errors import StepscopeWarning
from stepscope._table import Table

if TYPE_CHECKING:
    StrPath = Union[str, "os.PathLike[str]"]


@dataclass(frozen=True)
class Rank:
    """One rank of a run (a row of the table ``ranks``). None where the input does not say."""

    rank: int
    #: number of the recording window, when a rank was recorded several times
    window: int | None
    host: str | None
    pid: int | None
    #: "NVIDIA GPU", "Ascend NPU", "CPU", ...
    device_kind: str | None
    device_name: str | None
    device_count: int | None
    world_size: int | None
    #: importer that read it: "kineto", "ascend_text", ...
    source_format: str | None
    source_path: str | None
    #: the input did not say its rank
    rank_inferred: bool
    #: earliest start and latest end, unix nanoseconds
    first_ns: int | None
    last_ns: int | None


@dataclass(frozen=True)
class Finding:
    """One condition of the data-quality report (a row of the table ``quality``)."""

    rank: int
    #: name of the condition, "truncated_input" for example
    code: str
    #: "loss" (data is missing), "suspect" (data is doubtful) or "note"
    severity: str
    count: int
    #: first places where it was found
    example: str | None
    meaning: str
    #: totals leave these events out
    excluded: bool


_RANK_COLUMNS = list(Rank.__dataclass_fields__)
_FINDING_COLUMNS = list(Finding.__dataclass_fields__)


class Run:
    """An open run: its tables as NumPy columns, and SQL over them. Made by ``stepscope.open``.

    May be used from several threads at once; long calls release the GIL, and Ctrl-C ends them.
    Everything returned is independent of the run and stays valid after ``close``.
    """

    def __init__(self, native: _native.Run, paths: Sequence[str]) -> None:
        self._open: _native.Run | None = native
        self._paths = tuple(paths)
        self._store_path = native.store_path
        self._notes = tuple(native.notes)

    @property
    def _reader(self) -> _native.Run:
        if self._open is None:
            raise ValueError(f"the run is closed: {', '.join(self._paths)}")
        return self._open

    @property
    def paths(self) -> tuple[str, ...]:
        """What was opened."""
        return self._paths

    @property
    def store_path(self) -> str:
        """The store that was made from it, or found."""
        return self._store_path

    @property
    def notes(self) -> tuple[str, ...]:
        """What ``open`` warned of: ranks that could not be read, why a store was rebuilt."""
        return self._notes

    @property
    def ranks(self) -> list[Rank]:
        """The ranks of the run."""
        return [Rank(**row) for row in self.table("ranks", _RANK_COLUMNS).to_pylist()]

    @property
    def steps(self) -> Table:
        """The training steps of every rank: the table ``steps``."""
        return self.table("steps")

    @property
    def quality(self) -> list[Finding]:
        """The data-quality report: what was lost, cut, impossible or not understood."""
        return [Finding(**row) for row in self.table("quality", _FINDING_COLUMNS).to_pylist()]

    @property
    def tables(self) -> list[str]:
        """Names of all tables; those of the input itself start with ``source.``"""
        return [name for name, _, _ in self._reader.tables()]

    def describe(self, table: str) -> dict[str, str]:
        """The columns of a table and what they mean. Tables of the input have no descriptions."""
        self._reader.table(table, [])  # a wrong name raises, with the nearest one
        return next(dict(columns) for name, _, columns in self._reader.tables() if name == table)

    def table(self, name: str, columns: Iterable[str] | None = None) -> Table:
        """Reads a table, or only the columns named.

        Without ``columns`` the column ``args`` is left out: its texts lie in the input file, and
        fetching millions of them takes long. Name it to get it.
        """
        if isinstance(columns, str):
            raise TypeError("columns is a list of names, not one name")
        return Table(*self._reader.table(name, None if columns is None else list(columns)))

    def query(self, sql: str, *, timeout: float | None = None) -> Table:
        """Runs one SQL statement that only reads (DuckDB's dialect) over the tables.

        ``timeout`` in seconds; None: as long as it takes.
        """
        if timeout is not None and not timeout > 0:
            raise ValueError(f"timeout must be above 0, not {timeout}")
        return Table(*self._reader.query(sql, timeout or 0.0))

    @property
    def analyses(self) -> list[str]:
        """Names of the result tables that ``analysis`` computes."""
        return [name for name, _, _ in self._reader.analyses()]

    def analysis(self, name: str) -> Table:
        """A result table of the analyses, ``device_time`` for example; computed on first use.

        A table can be empty: ``why_empty`` says what is missing.
        """
        return Table(*self._reader.analysis(name))

    def describe_analysis(self, name: str) -> dict[str, str]:
        """The columns of a result table and what they mean."""
        for known, _, columns in self._reader.analyses():
            if known == name:
                return dict(columns)
        raise KeyError(f"no analysis named {name!r}; there are: {', '.join(self.analyses)}")

    def findings(self) -> Table:
        """What makes steps longer than they need to be, most to gain first."""
        return self.analysis("findings")

    def step_budget(self) -> Table:
        """Where each step of a device went, and why it stood still."""
        return self.analysis("step_budget")

    def step_trace(self) -> Table:
        """Each step as step interval, forward and backward, and tail; and their average."""
        return self.analysis("step_trace")

    def step_times(self) -> Table:
        """Computing, communication, overlap, free time and more of each step and device."""
        return self.analysis("step_times")

    def operators(self, search: str | None = None, *, limit: int = 20) -> Table:
        """Operators of the host, and of devices that run operators.

        With ``search`` only the best ``limit`` of those whose names match what was typed: letters
        in their order, upper and lower case alike, a letter or two wrong.
        """
        if search is None:
            return self.analysis("operators")
        if limit < 1:
            raise ValueError(f"limit must be at least 1, not {limit}")
        return Table(*self._reader.find_operators(search, limit))

    def flops(self) -> Table:
        """FLOPs, rates and roofline of operators."""
        return self.analysis("flops")

    def device_time(self) -> Table:
        """Where the time of each device went."""
        return self.analysis("device_time")

    def idle(self) -> Table:
        """Why devices and streams are idle."""
        return self.analysis("idle")

    def late_ranks(self) -> Table:
        """Ranks that others wait for."""
        return self.analysis("late_ranks")

    def rank_comparison(self) -> Table:
        """Ranks beside each other."""
        return self.analysis("rank_comparison")

    def critical_path(self, step: int | None = None, *, rank: int | None = None) -> Table:
        """What the length of a step consists of, a row for each rank, or for one.

        Without ``step`` the step of middle length of each rank.
        """
        if step is None and rank is None:
            return self.analysis("critical_path")
        return Table(*self._reader.critical_path(rank, step))

    def critical_path_segments(self, step: int | None = None, *, rank: int | None = None) -> Table:
        """The critical path itself, piece by piece."""
        if step is None and rank is None:
            return self.analysis("critical_path_segments")
        return Table(*self._reader.critical_path_segments(rank, step))

    def what_if(
        self, what: str, factor: float, *, step: int | None = None, rank: int | None = None
    ) -> Table:
        """How long a step would be if something in it took ``factor`` times as long.

        ``what`` is a part of the names of device work or its kind ("gemm"), or a kind of the
        critical path ("communication", "launch", "host", ...). A row for each rank: events and
        events_ns that change, before_ns, after_ns, gain_ns.
        """
        return Table(*self._reader.what_if(what, factor, rank, step))

    def kernels(self) -> Table:
        """Device work by name."""
        return self.analysis("kernels")

    def communication(self) -> Table:
        """Every communication operator."""
        return self.analysis("communication_operators")

    def memory(self) -> Table:
        """Memory pools of the devices: totals, peaks, reserve, growth."""
        return self.analysis("memory")

    def pipeline(self) -> Table:
        """Whether data preparation holds the training up, and where."""
        return self.analysis("pipeline")

    def cpu(self) -> Table:
        """Processor use of the machine, the process and its parts."""
        return self.analysis("cpu")

    def report(self, format: str = "text") -> str:
        """What ``stepscope report`` prints, as "text", "markdown", "html" or "json"."""
        return self._reader.report(format)

    def why_empty(self, name: str) -> str:
        """Why a result table is empty or incomplete; "" when it is neither."""
        return self._reader.analysis_reason(name)

    def write_chrome_trace(self, path: StrPath, *, rank: int | None = None) -> int:
        """Writes a rank as Chrome trace JSON, for Perfetto and others; returns its bytes.

        ``rank`` is needed where the run has several. The file appears when it is complete.
        """
        if rank is None:
            numbers = sorted({item.rank for item in self.ranks})
            if len(numbers) != 1:
                raise ValueError(f"the run has {len(numbers)} ranks, name one: {numbers}")
            rank = numbers[0]
        return self._reader.write_chrome_trace(rank, os.fsencode(path))

    def info(self) -> dict[str, Any]:
        """What ``stepscope info --json`` prints: ranks, steps, categories, top names, quality."""
        summary: dict[str, Any] = json.loads(self._reader.info_json())
        return summary

    def close(self) -> None:
        """Releases the store. What was read from it stays valid."""
        self._open = None

    @property
    def closed(self) -> bool:
        """Whether ``close`` was called."""
        return self._open is None

    def __enter__(self) -> Run:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        paths = ", ".join(self._paths)
        if self._open is None:
            return f"<stepscope.Run: {paths}, closed>"
        numbers = self.table("ranks", ["rank"])["rank"]
        ranks, windows = len(set(numbers.tolist())), len(numbers)
        counted = f"{ranks} rank{'' if ranks == 1 else 's'}"
        if windows > ranks:
            counted += f", {windows} windows"
        return f"<stepscope.Run: {paths}, {counted}>"


def open(
    path: StrPath | Sequence[StrPath],
    *,
    form: str | None = None,
    jobs: int | None = None,
    memory_mb: int | None = None,
    force: bool = False,
    progress: Callable[[int, int], object] | None = None,
) -> Run:
    """Opens a trace, a folder with the traces of any number of ranks, or a store.

    The first time, the input is imported into a store beside it (or in the cache folder where that
    is read-only); later the store is used, and opening takes milliseconds. A store older than its
    input is made again.

    Args:
        path: file or folder, or several that belong to one run.
        form: importer to use where a rank exists in several forms ("kineto", "ascend_text", ...);
            by default the richest.
        jobs: threads of the import and of queries; by default all CPUs.
        memory_mb: MiB that the ranks read at once are estimated to need together (one is always
            read); by default half of the machine's.
        force: import again even if the store is fresh.
        progress: called now and then during an import with the bytes read and the bytes to read.

    Raises:
        StepscopeError: the input cannot be read; the message says why and what to do.
        KeyboardInterrupt: Ctrl-C; nothing half-written is left behind.
    """
    if jobs is not None and jobs < 1:
        raise ValueError(f"jobs must be at least 1, not {jobs}")
    if memory_mb is not None and memory_mb < 1:
        raise ValueError(f"memory_mb must be at least 1, not {memory_mb}")
    given = [path] if isinstance(path, (str, os.PathLike)) else list(path)
    encoded = [os.fsencode(item) for item in given]
    if any(0 in item for item in encoded):
        raise ValueError("a path contains a zero byte")
    native = _native.open_run(
        encoded,
        form or "",
        jobs or 0,
        (memory_mb or 0) << 20,
        force,
        progress,
    )
    for note in native.notes:
        warnings.warn(note, StepscopeWarning, stacklevel=2)
    return Run(native, [os.fspath(item) for item in given])
