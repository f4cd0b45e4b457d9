"""``ProfileMonitor``, with the parameters of mindformers' own."""

from __future__ import annotations

import functools
import json
from typing import Any, Callable

from mindspore.train import Callback

from stepscope._settings import value_of
from stepscope.mindformers.settings import MonitorSettings, checked, pipeline_ranks
from stepscope.mindformers.sinks import sink_window
from stepscope.profiler import Profiler, ProfilerLevel
from stepscope.profiler._log import Once, guarded, logger
from stepscope.profiler.ranks import find_place

_LEVELS = (ProfilerLevel.Level0, ProfilerLevel.Level1, ProfilerLevel.Level2)
# What mindformers calls it in its own recordings, and what its configuration does.
_PARALLEL = {
    "tensor_model_parallel_size": ("model_parallel", 1),
    "pipeline_model_parallel_size": ("pipeline_stage", 1),
    "data_parallel_size": ("data_parallel", 1),
    "expert_model_parallel_size": ("expert_parallel", 1),
    "sequence_parallel": ("use_seq_parallel", False),
}


def _harmless(method: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
    """What goes wrong in it is logged, once, and is no matter of the training's."""

    @functools.wraps(method)
    def called_back(monitor: Any, run_context: Any) -> None:
        with guarded(method.__qualname__, monitor._once):
            method(monitor, run_context)

    return called_back


class ProfileMonitor(Callback):  # type: ignore[misc]  # MindSpore has no types
    """Records the steps ``start_step`` to ``stop_step`` of a training, 1 is the first.

    Where data are sunk it starts and stops at the ends of epochs, which are ``sink_size`` steps
    there: all of the sinks that hold one of these steps.

    Args:
        start_step, stop_step: Default: 1 and 10.
        output_path: recordings go to ``<output_path>/profile/rank_<id>/profiler``, or, where it
            has an ``{id}``, to that folder itself. Default: "./output".
        start_profile: record from now on, not from ``start_step``. By default that is so if
            ``start_step`` is 1.
        profile_rank_ids: list of the ranks that record. Default: all.
        profile_pipeline: the first rank of each pipeline stage records (too).
        profile_communication: the same as a ``profiler_level`` of 1.
        config: mindformers' configuration: how the network is split, which is kept in the run.
        profiler_level: 0, 1 or 2.
        as_mindformers: round to sinks as mindformers does, see ``round_as_mindformers``.
        options: further ones of ``stepscope.Profiler``; those of its parameters that have a name
            here (profile_memory, with_stack, data_simplification, mstx) mean the same.
    """

    def __init__(
        self,
        start_step: int = 1,
        stop_step: int = 10,
        output_path: str | None = None,
        start_profile: bool | None = None,
        profile_rank_ids: list[int] | None = None,
        profile_pipeline: bool = False,
        profile_communication: bool = False,
        profile_memory: bool = False,
        config: Any = None,
        profiler_level: int | None = 0,
        with_stack: bool = False,
        data_simplification: bool = True,
        mstx: bool = False,
        as_mindformers: bool = False,
        **options: Any,
    ) -> None:
        given = {
            name: value
            for name, value in locals().items()
            if name in MonitorSettings.__dataclass_fields__
        }
        super().__init__()
        self._begin_with(checked(**given), config, as_mindformers, options)

    @classmethod
    def of(
        cls, settings: MonitorSettings, config: Any = None, as_mindformers: bool = False
    ) -> ProfileMonitor:
        monitor = cls.__new__(cls)
        Callback.__init__(monitor)
        monitor._begin_with(settings, config, as_mindformers, {})
        return monitor

    def _begin_with(
        self, settings: MonitorSettings, config: Any, as_mindformers: bool, options: dict[str, Any]
    ) -> None:
        """Never raises: a Trainer makes it, and nothing is worth ending that."""
        self._once = Once()
        self.start_step, self.stop_step = settings.start_step, settings.stop_step
        self.profiler: Profiler | None = None
        self._is_done = False
        self._is_recording = False
        self._as_mindformers = as_mindformers
        self._knows_sinks = False
        with guarded("ProfileMonitor", self._once):
            self._use(settings, config, options)

    def _use(self, settings: MonitorSettings, config: Any, options: dict[str, Any]) -> None:
        place = find_place()
        firsts: frozenset[int] = frozenset()
        if settings.profile_pipeline:
            firsts = _first_ranks(config, place.world_size or 1)
        if not settings.wants(place.rank, firsts):
            logger.info("rank %d is not among those to be recorded", place.rank)
            return
        self.profiler = Profiler(
            start_profile=False,
            output_path=str(settings.folder(place.rank)),
            profiler_level=_LEVELS[settings.profiler_level],
            profile_memory=settings.profile_memory,
            with_stack=settings.with_stack,
            data_simplification=settings.data_simplification,
            mstx=settings.mstx,
            **options,
        )
        self._describe(config)
        if settings.starts_at_once:
            self.start_step = 1
            self._start()

    # Where data are sunk, a step that is called back is the last one of its sink, and the device
    # has been given all of it by then.
    @_harmless
    def on_train_epoch_begin(self, run_context: Any) -> None:
        about = run_context.original_args()
        if _sinks(about):
            self._look_at_sinks(about.batch_num)
            self._begin(about.cur_step_num + about.batch_num)

    @_harmless
    def on_train_step_begin(self, run_context: Any) -> None:
        about = run_context.original_args()
        if not _sinks(about):
            self._begin(about.cur_step_num)

    @_harmless
    def on_train_step_end(self, run_context: Any) -> None:
        about = run_context.original_args()
        if not _sinks(about):
            self._end(about.cur_step_num)

    @_harmless
    def on_train_epoch_end(self, run_context: Any) -> None:
        about = run_context.original_args()
        if _sinks(about):
            self._end(about.cur_step_num)

    @_harmless
    def on_train_end(self, run_context: Any) -> None:
        if self._is_recording:
            logger.warning(
                "the training ended before step %d: what was recorded is kept", self.stop_step
            )
            self._finish()

    def _look_at_sinks(self, sink_size: int) -> None:
        # Only now: MindSpore may have been asked to sink and not be able to, as on a CPU, and a
        # sink may be as long as the dataset.
        if self._knows_sinks or not self.profiler:
            return
        self._knows_sinks = True
        self.start_step, self.stop_step = sink_window(
            self.start_step, self.stop_step, sink_size, self._as_mindformers
        )

    def _begin(self, step: int) -> None:
        # A training that is resumed may be past the first step of the window.
        is_due = self.profiler and not self._is_recording and not self._is_done
        if is_due and step >= self.start_step:
            self._start()

    def _end(self, step: int) -> None:
        if self._is_recording and step >= self.stop_step:
            self._finish()

    def _start(self) -> None:
        self._is_recording = True
        if self.profiler:
            self.profiler.start()

    def _finish(self) -> None:
        self._is_recording, self._is_done = False, True
        if self.profiler:
            self.profiler.stop()
            self.profiler.analyse()

    def _describe(self, config: Any) -> None:
        parallel, split = value_of(config, "parallel"), value_of(config, "parallel_config")
        if self.profiler and parallel is not None and split is not None:
            with guarded("how the network is split"):
                about = {
                    name: value_of(split, key, usual) for name, (key, usual) in _PARALLEL.items()
                }
                about["parallel_mode"] = value_of(parallel, "parallel_mode")
                about["world_size"] = value_of(parallel, "device_num")
                self.profiler.add_metadata_json("distributed_args", json.dumps(about, default=str))


def _first_ranks(config: Any, ranks: int) -> frozenset[int]:
    """Of the pipeline's stages."""
    stages = value_of(value_of(config, "parallel_config"), "pipeline_stage", 1)
    try:
        return pipeline_ranks(int(stages), ranks)
    except (TypeError, ValueError) as error:
        logger.warning("%s: of the pipeline only rank 0 is recorded, which begins it", error)
        return frozenset({0})


def _sinks(about: Any) -> bool:
    # MindSpore sets it where it does sink, and not where it was only asked for it.
    return bool(value_of(about, "dataset_sink_mode"))
