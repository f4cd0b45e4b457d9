"""``profile``, with the parameters and methods of ``torch.profiler.profile``."""

from __future__ import annotations

import gzip
import logging
import os
import shutil
import tempfile
import warnings
import weakref
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable

import stepscope
from stepscope.profiler._log import guarded, logger
from stepscope.profiler.devices import present
from stepscope.profiler.enums import ProfilerActivity
from stepscope.profiler.parameters import Parameters, resolve
from stepscope.profiler.schedule import numbers_of
from stepscope.profiler.session import Session
from stepscope.profiler.transitions import Do, Transition
from stepscope.torch._handler import ExportHandler

if TYPE_CHECKING:
    from stepscope.torch._averages import KeyAverage, KeyAverages, Window
    from stepscope.torch._events import Events

# torch's words for devices.
_ACTIVITIES = {
    "CPU": ProfilerActivity.CPU,
    "CUDA": ProfilerActivity.GPU,
    "PrivateUse1": ProfilerActivity.NPU,
}

# Its parameters that are taken and have no effect.
_OF_TORCH = (
    "experimental_config", "execution_trace_observer", "custom_trace_id_callback", "use_cuda",
    "post_processing_timeout_s",
)  # fmt: skip


@dataclass(frozen=True)
class TorchParameters(Parameters):
    with_modules: bool = False

    def schedule_numbers(self) -> dict[str, int] | None:
        return numbers_of(self.schedule) if self.schedule else super().schedule_numbers()

    @property
    def output_folder(self) -> Path:
        # MindSpore's rule for characters is not torch's: runs/lr=0.1,bs=32 is a usual name.
        return Path(self.output_path)


class profile(Session):  # noqa: N801, torch's name
    """Records a PyTorch program, or the steps of a schedule.

    Args:
        activities: of ``ProfilerActivity``; by default the CPU and the devices that are there.
        schedule: from a step's number to a ``ProfilerAction``, see ``schedule``.
        on_trace_ready: called with the profiler when a window is complete.
        record_shapes: shapes and types of operators' inputs.
        profile_memory: what torch's allocators do.
        with_stack: sample Python's call stacks, and record the calls of modules.
        with_modules: record the calls of modules.
        with_flops: count the FLOPs of operators that torch counts, by shapes, which it records.
        acc_events: ``key_averages`` and ``events`` are of all windows, not of the last one.
        data_process: record what the worker processes of DataLoaders do, of those that start after
            the profiler. Waits and queues of DataLoaders are recorded always.
        output_path: where runs are kept. By default they lie in the folder of
            ``tensorboard_trace_handler``, or else in a temporary one that goes with the profiler.
        gpu_tier, system_interval_ms, max_host_mb, max_disk_gb, min_free_gb: as ``Profiler`` has
            them.

    Other parameters of ``torch.profiler.profile`` are taken and have no effect.
    """

    #: of torch's recorder
    kineto_results = None

    def __init__(
        self,
        *,
        activities: Iterable[Any] | None = None,
        schedule: Callable[[int], Any] | None = None,
        on_trace_ready: Callable[..., Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_modules: bool = False,
        with_flops: bool = False,
        acc_events: bool = False,
        data_process: bool = False,
        output_path: str | os.PathLike[str] | None = None,
        gpu_tier: str | None = None,
        system_interval_ms: int | None = None,
        max_host_mb: int | None = None,
        max_disk_gb: float | None = None,
        min_free_gb: float | None = None,
        **others: Any,
    ) -> None:
        for name, value in others.items():
            if value:
                why = "it is of torch's own recorder" if name in _OF_TORCH else "nobody knows it"
                logger.warning("%s has no effect: %s", name, why)
        if isinstance(activities, Iterable):
            activities = list(activities)
        chosen = _activities(activities)
        #: these, and those below, as torch has them
        self.activities = activities if isinstance(activities, list) else _supported()
        self.record_shapes = _flag(record_shapes) if not with_flops else True
        self.profile_memory, self.with_stack = _flag(profile_memory), _flag(with_stack)
        self.with_modules, self.with_flops = bool(with_modules), bool(with_flops)
        self.acc_events = bool(acc_events)
        self.use_device = "cuda" if ProfilerActivity.GPU in chosen else None
        given = {
            "activities": chosen,
            "schedule": schedule,
            "on_trace_ready": on_trace_ready,
            "record_shapes": self.record_shapes,
            "profile_memory": self.profile_memory,
            "with_stack": self.with_stack,
            "start_profile": False,
            "output_path": self._folder(output_path, on_trace_ready),
            "gpu_tier": gpu_tier,
            "system_interval_ms": system_interval_ms,
            "max_host_mb": max_host_mb,
            "max_disk_gb": max_disk_gb,
            "min_free_gb": min_free_gb,
        }
        parameters = resolve(given, TorchParameters(with_modules=bool(with_modules)))
        # MindSpore's cannot follow a schedule; this can.
        super().__init__(replace(parameters, data_process=bool(data_process)))

    def export_chrome_trace(self, path: str, **others: Any) -> None:
        """Writes the last window as Chrome trace JSON; packed where the name ends with .gz."""
        for name, value in others.items():
            if value and value != "none":
                self._without_effect(name, "the trace is written from the run")
        with guarded("profile.export_chrome_trace"), _open(self._last_path) as run:
            target = Path(path)
            if target.suffix != ".gz":
                run.write_chrome_trace(target)
                return
            # Of a name that nobody has: x.json beside x.json.gz is the user's.
            with tempfile.NamedTemporaryFile(
                dir=target.parent, prefix=".stepscope-", suffix=".json"
            ) as plain:
                run.write_chrome_trace(plain.name)
                with (
                    open(plain.name, "rb") as source,
                    gzip.open(target, "wb", compresslevel=4) as packed,
                ):
                    shutil.copyfileobj(source, packed)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Writes the Python stacks of the last window (``with_stack``), a line for each: frames,
        the outermost first, and the microseconds that samples found it in. Flame graphs are made
        of that. Stacks have times of the processor only."""
        from stepscope.torch._events import write_stacks

        with guarded("profile.export_stacks"):
            if metric != "self_cpu_time_total":
                raise ValueError(f"stacks have self_cpu_time_total, not {metric!r}")
            with _open(self._last_path) as run:
                write_stacks(run, self._recorder.last_began_ns, Path(path))

    def events(self) -> Events:
        """The operators, ranges and kernels of the last window, one by one; with ``acc_events`` of
        all windows, each from 0 µs on. ``stepscope.open`` of ``run_path`` has them as tables, which
        is quicker where there are many."""
        from stepscope.torch._events import Events, read_events

        events = Events(self)
        with guarded("profile.events"):
            for path, window in self._windows():
                with _open(path) as run:
                    events.extend(read_events(run, window))
        return events

    @property
    def schedule(self) -> Callable[[int], Any]:
        return self._parameters.schedule or _record_always

    @property
    def on_trace_ready(self) -> Callable[..., Any] | None:
        return self._recorder.handler

    @on_trace_ready.setter
    def on_trace_ready(self, handler: Callable[..., Any] | None) -> None:
        self._recorder.handler = handler

    @property
    def profiler(self) -> profile | None:
        """This one: what torch has in an object of its own, where there is a window."""
        return self if self._recorder.last_path else None

    @property
    def function_events(self) -> Events:
        return self.events()

    @property
    def self_cpu_time_total(self) -> float:
        return self.key_averages().self_cpu_time_total

    def total_average(self) -> KeyAverage:
        return self.key_averages().total_average()

    def table(self, *arguments: Any, **options: Any) -> str:
        return self.events().table(*arguments, **options)

    def preset_metadata_json(self, key: str, value: str) -> None:
        """As ``add_metadata_json``, which may be called before ``start``, too."""
        self.add_metadata_json(key, value)

    def export_memory_timeline(self, path: str, device: str | None = None) -> None:
        """Writes nothing: the run has the table ``memory``, and its page a chart of it."""
        self._without_effect("export_memory_timeline", "the table memory of run_path has it")

    def toggle_collection_dynamic(self, enable: bool, activities: Iterable[Any]) -> None:
        """Does nothing: what a window records is chosen before it begins."""
        self._without_effect("toggle_collection_dynamic", "a window records from its start on")

    def set_custom_trace_id_callback(self, callback: Callable[[], str]) -> None:
        """Does nothing: a run is known by its folder."""
        self._without_effect("set_custom_trace_id_callback", "a run is known by run_path")

    def get_trace_id(self) -> str | None:
        window = self._recorder.window
        return str(window.path) if window else self.run_path

    def prepare_trace(self) -> None:
        """Does nothing: a schedule's warm-up prepares, and ``start`` otherwise."""

    def start_trace(self) -> None:
        self.start()

    def stop_trace(self) -> None:
        self.stop()

    def wait_for_exports(self) -> None:
        """Does nothing: what is exported is written when the call comes back."""

    def take_pending_cuspy_export(self) -> None:
        """There is none."""

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0, **others: Any
    ) -> KeyAverages:
        """Operators of the last window by name, or of all with ``acc_events``; their ``table()`` is
        torch's."""
        from stepscope.torch._averages import KeyAverages, key_averages

        for name, value in {"group_by_stack_n": group_by_stack_n, **others}.items():
            if value:
                logger.warning("key_averages: %s has no effect: operators are known by name", name)
        averages = KeyAverages(self)
        with guarded("profile.key_averages"):
            for path, window in self._windows():
                with _open(path) as run:
                    averages.add(key_averages(run, group_by_input_shape, window))
        return averages

    @property
    def run_path(self) -> str | None:
        """The last window, for ``stepscope.open``; None before there is one."""
        path = self._recorder.last_path
        return str(path) if path else None

    def _exit(self) -> Transition:
        # A loop may end anywhere in a cycle: only MindSpore's profiler says that it did.
        return tuple(do for do in super()._exit() if do is not Do.WARN)

    def _without_effect(self, name: str, why: str) -> None:
        self._once.log(logging.WARNING, f"{name} has no effect: {why}")

    def _windows(self) -> list[tuple[Path, Window]]:
        """Those that events are asked of."""
        from stepscope.torch._averages import Window

        chosen = {self._last_path: self._recorder.last_began_ns}
        if self.acc_events:
            chosen = self._recorder.windows
        return [
            (path, Window(began_ns, self.marks_steps, self.with_flops))
            for path, began_ns in chosen.items()
        ]

    @property
    def _last_path(self) -> Path:
        path = self._recorder.last_path
        if path is None:
            raise RuntimeError("no window is complete yet")
        return path

    def _folder(self, given: Any, handler: object) -> Any:
        if not given and isinstance(handler, ExportHandler):
            given = handler.folder
        elif isinstance(given, (str, os.PathLike)):
            given = os.path.expanduser(given)  # noqa: PTH111, a string as well
        elif given:
            return given  # which the checks refuse
        why_not = _why_not(given) if given else ""
        if given and not why_not:
            return os.path.abspath(given)  # noqa: PTH100, resolve() would follow links
        folder = tempfile.mkdtemp(prefix="stepscope-")
        if given:
            logger.warning(
                "%r cannot be used: %s. Recordings are kept in %s", given, why_not, folder
            )
        else:
            weakref.finalize(self, _remove, folder, os.getpid())
        return folder


def _open(path: Path) -> stepscope.Run:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stepscope.StepscopeWarning)
        return stepscope.open(str(path))


def _supported() -> Any:
    from torch.profiler import supported_activities

    return supported_activities()


def _record_always(_step: int) -> Any:
    from torch.profiler import ProfilerAction

    return ProfilerAction.RECORD


def _why_not(folder: str) -> str:
    """Why recordings cannot be made there, as far as that can be told before; "" if they can."""
    try:
        first = Path(folder).absolute()
    except FileNotFoundError:
        return "the folder that the program works in has been removed"
    for path in (first, *first.parents):
        try:
            path.stat()
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (OSError, ValueError) as error:
            return str(error)
        if not path.is_dir():
            return f"{path} is no folder"
        return "" if os.access(path, os.W_OK | os.X_OK) else f"{path} is not writable"
    return "it does not exist"


def _remove(folder: str, process: int) -> None:
    if os.getpid() == process:  # a forked child ends before its parent has looked at it
        shutil.rmtree(folder, ignore_errors=True)


def _flag(given: object) -> object:
    """torch takes 0 and 1 for False and True; what is neither is left for the checks."""
    return bool(given) if type(given) is int and given in (0, 1) else given


def _activities(given: Iterable[Any] | None) -> list[ProfilerActivity]:
    if given is not None and not isinstance(given, Iterable):
        logger.warning("activities must be a list, not %r: reset to all there are", given)
        given = None
    if given is None:
        return [kind for kind in ProfilerActivity if kind in present()]
    chosen = []
    for item in given:
        for activity in item if isinstance(item, dict) else [item]:
            kind = _ACTIVITIES.get(getattr(activity, "name", str(activity)))
            if kind:
                chosen.append(kind)
            else:
                logger.warning("activities: %s is not recorded", activity)
    return chosen
