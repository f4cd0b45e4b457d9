"""``Profiler``, as the documentation of MindSpore 2.5 describes it, and offline analysis."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from stepscope.profiler._log import advise, explained, guarded, logger
from stepscope.profiler.analysis import MOST_SECONDS_AT_EXIT, Analyses, Choices, choose
from stepscope.profiler.devices import default_parameters, present
from stepscope.profiler.metadata import MAX_META_SIZE
from stepscope.profiler.op_statistics import checked_names, op_statistics
from stepscope.profiler.outer import outer_run
from stepscope.profiler.parameters import resolve
from stepscope.profiler.run_directory import (
    ProfilerPathErrorException,
    check_path,
    find_run_directories,
)
from stepscope.profiler.session import Session
from stepscope.profiler.transitions import KEEP, Transition

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from stepscope.profiler._options import Options


class Profiler(Session):
    """Records a training program from here to ``analyse``, or the steps of a schedule.

        profiler = Profiler(output_path="profiler_data")
        train()
        profiler.analyse()

    Without a schedule ``stop`` ends a window and ``analyse`` makes it ready to be looked at; with
    one, ``step`` belongs at the end of each training step, and every window that is complete goes
    to ``on_trace_ready``. Calls in a wrong order are logged and do no harm.

    Args:
        start_profile: start at once; otherwise ``start`` does. Default: True.
        output_path: where run directories go. Default: "./data".
        profiler_level: how much the device records. Default: ProfilerLevel.Level0.
        activities: list of ProfilerActivity. Default: CPU and the device.
        schedule: which steps to record, see ``schedule``; or a function from a step's number to a
            ProfilerAction.
        on_trace_ready: called after each window of a schedule, with the profiler if it takes an
            argument.
        with_stack: sample Python's call stacks. Default: False.
        profile_memory: record the device's memory. Default: False.
        record_shapes: record the shapes of operators' inputs. Default: False.
        aic_metrics, aicore_metrics: counters of Ascend cores. Default: AicoreMetrics.AiCoreNone.
        l2_cache, hbm_ddr, pcie, sys_io, sys_interconnection: counters of Ascend devices.
        host_sys: list of HostSystem, counters of the machine.
        data_process: record the data pipeline. Default: False.
        parallel_strategy: record how the network is split. Default: False.
        sync_enable: has no effect: GPU operators are timed on the host and on the device.
        gpu_tier: what of NVIDIA's GPUs, "pulse", "kernels" (cheap) or "full" (also calls, and which
            operator launched what). Default: "full".
        system_interval_ms: between samples of processor, memory, disk, network and NVML, 1 to
            60,000. Default: 1,000, with data_process 100.
        mstx, mstx_domain_include, mstx_domain_exclude: record the program's own marks.
        export_type: list of ExportType. Default: [ExportType.Text].
        data_simplification: remove what the analysis no longer needs. Default: True.
        max_host_mb, max_disk_gb, min_free_gb: memory and disk that a recording may take, and disk
            that it must leave free. At a limit recording ends, training goes on.
    """

    MAX_META_SIZE = MAX_META_SIZE

    @explained
    def __init__(self, **options: Unpack[Options]) -> None:
        super().__init__(resolve(dict(options), default_parameters(present())))

    def analyse(
        self,
        offline_path: str | None = None,
        pretty: bool = False,
        step_list: list[int] | None = None,
        mode: str = "sync",
    ) -> None:
        """Stops, if that has not been done, and makes what was recorded ready to be looked at.

        Args:
            offline_path: deprecated, see ``offline_analyse``.
            pretty: indent JSON files, a line for each value; otherwise ``trace_view.json`` has one
                for each event.
            step_list: consecutive numbers of the steps to analyse, 1 is the first recorded one
                whatever its number in the run is.
            mode: "sync", or "async" to go on training meanwhile.
        """
        with guarded("Profiler.analyse"):
            choices = choose(pretty, step_list, self._parameters.data_simplification)
            if mode not in ("sync", "async"):
                logger.warning("mode must be 'sync' or 'async', not %r: reset to 'sync'", mode)
            if not self._recorder.delivering:
                self._end()
            self.analyse_windows(choices, in_background=mode == "async")
            if offline_path:
                advise("offline_path is deprecated: use Profiler.offline_analyse")
                self.offline_analyse(offline_path, pretty, step_list)

    @classmethod
    def offline_analyse(
        cls,
        path: str,
        pretty: bool = False,
        step_list: list[int] | None = None,
        data_simplification: bool = True,
    ) -> None:
        """Analyses a run directory, or all that lie in a folder; arguments as for ``analyse``."""
        with guarded("Profiler.offline_analyse"):
            _analyse(path, 1, choose(pretty, step_list, data_simplification))

    def op_analyse(self, op_name: str | list[str], device_id: int | None = None) -> str | None:
        """How often operators ran and for how long in the last window, as JSON text.

        Args:
            op_name: an operator's type or name, or a list of them.
            device_id: is only repeated in the answer.
        """
        advise("op_analyse is deprecated: the table ops of stepscope.open() has all of it")
        with guarded("Profiler.op_analyse"):
            names = checked_names(op_name, device_id)
            path = self._recorder.last_path
            if path is None:
                raise RuntimeError("no window is complete yet, see stop() and analyse()")
            return op_statistics(path, self._recorder.last_began_ns, names, device_id)
        return None

    def stop_at_exit(self) -> None:
        super().stop_at_exit()
        self.analyse_windows(most_seconds=MOST_SECONDS_AT_EXIT)

    def _end(self) -> None:
        """Stops before an analysis."""
        if self._started:
            if self._parameters.schedule:
                logger.warning(
                    "Profiler.analyse(): it has %s, and on_trace_ready gets its windows; recording "
                    "ends here, before the schedule does",
                    self._schedule_text,
                )
            self._leave()
        elif not self._recorder.recorded and not self._recorder.has_joined:
            logger.warning("Profiler.analyse(): recording has not been initialized, see start()")

    def _may_stop(self) -> bool:
        may = super()._may_stop()
        if may and self._parameters.schedule and not self._stepped:
            logger.warning(
                "Profiler.stop(): it has %s, but step() was never called; the recording is kept",
                self._schedule_text,
            )
        return may

    def _exit(self) -> Transition:
        # Here, not in `profile`, stop() leaves the window to analyse().
        return super()._exit() if self._parameters.schedule else KEEP


def analyse(
    profiler_path: str,
    max_process_number: int | None = None,
    pretty: bool = False,
    step_list: list[int] | None = None,
    data_simplification: bool = True,
) -> None:
    """Analyses a run directory, or all that lie in a folder, several at a time.

    Args:
        max_process_number: how many at a time; by default half of the processors.
        pretty, step_list, data_simplification: as for ``Profiler.analyse``.
    """
    with guarded("analyse"):
        at_once = max((os.cpu_count() or 2) // 2, 1)
        if isinstance(max_process_number, int) and max_process_number > 0:
            at_once = max_process_number
        elif max_process_number is not None:
            logger.warning(
                "max_process_number must be a whole number above 0, not %r: reset to %d",
                max_process_number, at_once,
            )  # fmt: skip
        _analyse(profiler_path, at_once, choose(pretty, step_list, data_simplification))


def _analyse(path: str, at_once: int, choices: Choices) -> None:
    if not isinstance(path, str):
        raise ProfilerPathErrorException(f"the path must be a string, not {path!r}")
    folder = check_path(path)
    outer = outer_run()
    if outer and not folder.is_dir():
        text = "there is no %s: the windows are in %s, which is analysed when it is opened"
        logger.info(text, folder, outer)
        return
    if not folder.is_dir():
        raise ProfilerPathErrorException(f"there is no folder {folder}")
    directories = find_run_directories(folder)
    if not directories:
        logger.error(
            "invalid path %s: neither a run directory (…_ascend_ms) nor a folder with some", folder
        )
    Analyses().run(directories, choices, at_once)
