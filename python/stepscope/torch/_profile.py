"""``profile``, with the parameters and methods of ``torch.profiler.profile``."""

from __future__ import annotations

import gzip
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
from stepscope.profiler.enums import ProfilerAction, ProfilerActivity
from stepscope.profiler.parameters import Parameters, resolve
from stepscope.profiler.run_directory import ProfilerPathErrorException, check_path
from stepscope.profiler.session import Session
from stepscope.torch._handler import ExportHandler

if TYPE_CHECKING:
    from stepscope.torch._averages import KeyAverages

# torch's words for devices.
_ACTIVITIES = {
    "CPU": ProfilerActivity.CPU,
    "CUDA": ProfilerActivity.GPU,
    "PrivateUse1": ProfilerActivity.NPU,
}


@dataclass(frozen=True)
class TorchParameters(Parameters):
    with_modules: bool = False


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
        data_process: record what the worker processes of DataLoaders do, of those that start after
            the profiler. Waits and queues of DataLoaders are recorded always.
        output_path: where runs are kept. By default they lie in the folder of
            ``tensorboard_trace_handler``, or else in a temporary one that goes with the profiler.

    Other parameters of ``torch.profiler.profile`` are taken and have no effect.
    """

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
        data_process: bool = False,
        output_path: str | None = None,
        **others: Any,
    ) -> None:
        for name, value in others.items():
            if value:
                logger.warning("%s has no effect: it is not recorded", name)
        given = {
            "activities": _activities(activities),
            "schedule": _translated(schedule),
            "on_trace_ready": on_trace_ready,
            "record_shapes": record_shapes,
            "profile_memory": profile_memory,
            "with_stack": with_stack,
            "start_profile": False,
            "output_path": output_path or self._folder(on_trace_ready),
        }
        parameters = resolve(given, TorchParameters(with_modules=bool(with_modules)))
        # MindSpore's cannot follow a schedule; this can.
        super().__init__(replace(parameters, data_process=bool(data_process)))

    def export_chrome_trace(self, path: str) -> None:
        """Writes the last window as Chrome trace JSON; packed where the name ends with .gz."""
        with guarded("profile.export_chrome_trace"), self._open() as run:
            target = Path(path)
            if target.suffix != ".gz":
                run.write_chrome_trace(target)
                return
            plain = target.with_suffix("")
            run.write_chrome_trace(plain)
            with open(plain, "rb") as source, gzip.open(target, "wb", compresslevel=4) as packed:
                shutil.copyfileobj(source, packed)
            plain.unlink()

    def key_averages(self, group_by_input_shape: bool = False, **others: Any) -> KeyAverages:
        """Operators of the last window by name; their ``table()`` is torch's."""
        from stepscope.torch._averages import KeyAverages, key_averages

        for name, value in others.items():
            if value:
                logger.warning("key_averages: %s has no effect", name)
        with guarded("profile.key_averages"), self._open() as run:
            return key_averages(run, group_by_input_shape, self._recorder.last_began_ns)
        return KeyAverages()

    @property
    def run_path(self) -> str | None:
        """The last window, for ``stepscope.open``; None before there is one."""
        path = self._recorder.last_path
        return str(path) if path else None

    def _open(self) -> stepscope.Run:
        path = self._recorder.last_path
        if path is None:
            raise RuntimeError("no window is complete yet")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", stepscope.StepscopeWarning)
            return stepscope.open(str(path))

    def _folder(self, handler: object) -> str:
        if isinstance(handler, ExportHandler):
            try:
                return str(check_path(handler.folder))
            except ProfilerPathErrorException as error:
                logger.warning("%s; recordings lie in a temporary folder, traces go there", error)
        folder = tempfile.mkdtemp(prefix="stepscope-")
        weakref.finalize(self, _remove, folder, os.getpid())
        return folder


def _remove(folder: str, process: int) -> None:
    if os.getpid() == process:  # a forked child ends before its parent has looked at it
        shutil.rmtree(folder, ignore_errors=True)


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


def _translated(schedule: Callable[[int], Any] | None) -> Callable[[int], Any] | None:
    """torch's actions are an enum of its own."""
    if schedule is None or not callable(schedule):
        return schedule
    actions = {action.name.replace("_UP", "UP"): action for action in ProfilerAction}

    def ours(step: int) -> Any:
        action = schedule(step)
        return actions.get(getattr(action, "name", "").replace("_UP", "UP"), action)

    return ours
