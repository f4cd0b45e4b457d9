from collections.abc import Callable
from typing import TypeVar

F = TypeVar("F", bound=Callable[..., object])

class Recording:
    """One recording into one folder. Raises RuntimeError when it cannot start, nothing later."""

    def __init__(self, folder: str, options: str = "{}") -> None: ...
    @staticmethod
    def join(options: str = "{}") -> Recording:
        """A part of the recording that runs: its stacks, its NPU and its metadata. `stop` leaves
        the recording running and returns "{}"."""

    @staticmethod
    def watch(output: str, rules: str, options: str = "{}") -> Recording:
        """Keeps the last seconds and writes them into folders of `output` when something happens,
        see stepscope_watch_options of record.h. Raises RuntimeError when it cannot start."""

    def stop(self) -> str: ...
    def problems(self) -> str:
        """What was asked for and will be missing, so far: a JSON array of sentences."""
    def add_metadata(self, key: str, json_value: str) -> None: ...
    @property
    def active(self) -> bool: ...

class record_function:  # noqa: N801, torch's name
    """A named range: `with record_function("forward"):`, or as a decorator.

    `kind` says what it is where no framework does: "range", "operator", "module" or "collective".
    """

    def __init__(self, name: str, kind: str = "range") -> None: ...
    def __enter__(self) -> record_function: ...
    def __exit__(self, *exc: object) -> None: ...
    def begin(self) -> int:
        """The start of a range that `end` takes; 0 when nothing records."""

    def end(self, start: int) -> None: ...
    def __call__(self, function: F) -> F: ...

def prepare(options: str = "{}") -> None:
    """Does what a Recording with these options takes time for."""

def unprepare() -> None: ...
def trigger(kind: str, what: str) -> bool:
    """A capture because of something that only the program knows. False if nothing is watched."""

def captures() -> str:
    """What a watch has captured so far: a JSON array of folder, kind, what, complete,
    stopped_by, not_recorded."""

def prepare_python_stacks(dump: Callable[..., None], signal: int, file: int) -> None:
    """For stalls: faulthandler.dump_traceback, and a signal that it answers into the file."""

def forget_python_stacks() -> None: ...
def is_recording() -> bool: ...
def open_ranges() -> int:
    """How many `record_function`s were entered since the last Recording began and not left."""

def outer_folder() -> str:
    """Where the raw file of the recording lies that the environment started; "" if none."""

def flush() -> bool:
    """Waits until what was recorded is in the file. False where that takes too long."""

def step(number: int) -> None: ...
def end_step() -> None: ...
def unmarked_step(number: int, start: int) -> None:
    """What began at `start`, a time of `now()`, and ends where the next step begins, is a step if
    anything was recorded in it."""

def mark(name: str) -> None: ...
def counter(name: str, value: float) -> None: ...

# For sources that are written in Python.
USER: int
MODULE: int
PIPELINE: int

def name(text: str) -> int:
    """The id of a name, for as long as the process lives."""

def now() -> int:
    """The start of a range; 0 while nothing records."""

def end_range(start: int, kind: int, name: int) -> None: ...
def end_range_elsewhere(start: int, name: int, about: str) -> None:
    """Ends a range that began on another thread; `about` is JSON."""

# The input pipeline, see record.h. Sizes and numbers that are not known are -1.
def stage(name: str, kind: str, workers: int, capacity: int, input: int) -> int: ...
def stage_input(stage: int, input: int) -> None: ...
def stage_worker(stage: int, task: int) -> None: ...
def end_stage(stage: int) -> None: ...
def queue_size(stage: int, items: int) -> None: ...
def queue_get(start: int, stage: int, items: int, number: int) -> None: ...
def queue_put(start: int, stage: int, items: int, number: int) -> None: ...
def worker_address() -> str | None:
    """What worker processes join by; None where that is not possible."""

def join(address: str) -> bool:
    """In a worker process: records into its parent's recording from now on."""

def import_mindspore_window(
    folder: str, realtime_from_ns: int, realtime_to_ns: int, shapes: bool, memory: bool
) -> bool:
    """Hands a folder of MindSpore's CPU profiler to the writer thread, which removes it. False if
    nothing records; the folder is still there then."""
