"""The places of MindSpore that we touch, all of them here.

Seen in 2.10. Most are not public; each is looked up when it is used, so that a version without one
loses that part of a recording and nothing else.
"""

from __future__ import annotations

import contextlib
import json
import os
from typing import Any, Callable


def cpu_profiler() -> Any:
    """MindSpore's C++ profiler of CPU operators: one object in the process."""
    from mindspore import _c_expression

    return _c_expression.Profiler.get_instance("CPU")


def wait_for_operators() -> None:
    """Waits until the operators that PyNative mode has queued are done."""
    from mindspore.graph.api import _pynative_executor

    _pynative_executor.sync()


def own_profiler_is_active() -> bool:
    from mindspore.profiler.profiler_interface import ProfilerInterface

    return bool(ProfilerInterface.is_initialized)


def own_profiler_class() -> Any:
    """What drives the C++ profiler in MindSpore's own Python code."""
    from mindspore.profiler.platform.cpu_profiler import CpuProfiler

    return CpuProfiler


def cell_class() -> Any:
    from mindspore.nn import Cell

    return Cell


def follow_training_steps(
    begins: Callable[[Any], None], ends: Callable[[Any], None]
) -> Callable[[], None]:
    """Calls them, with the run context, at both ends of each step of ``Model.train``; returns what
    ends that. By the callback that ``Model.train`` puts in front of all others; not by its older
    ``step_begin`` and ``step_end``, which are told of the steps of an evaluation, too."""
    from mindspore.train.model import _FrameworkProfilerCallback as Callback

    kept: dict[str, Any] = {}
    for name, tell in (("on_train_step_begin", begins), ("on_train_step_end", ends)):
        kept[name] = vars(Callback).get(name)
        setattr(Callback, name, _followed(getattr(Callback, name), tell))

    def stop() -> None:
        for name, method in kept.items():
            if method is None:
                delattr(Callback, name)
            else:
                setattr(Callback, name, method)

    return stop


def _followed(method: Callable[..., None], tell: Callable[[Any], None]) -> Callable[..., None]:
    def followed(callback: Any, run_context: Any) -> None:
        method(callback, run_context)
        tell(run_context)

    return followed


# Of the auto-parallel context; those that a version does not have are left out.
_PARALLEL = (
    "parallel_mode", "device_num", "global_rank", "pipeline_stages", "pipeline_interleave",
    "pipeline_scheduler", "gradients_mean", "gradient_fp32_sync", "search_mode", "full_batch",
    "dataset_strategy", "enable_parallel_optimizer", "optimizer_weight_shard_size",
    "grad_accumulation_step", "sharding_propagation", "enable_alltoall", "comm_fusion",
    "strategy_ckpt_load_file", "strategy_ckpt_save_file", "strategy_ckpt_config",
)  # fmt: skip


def parallel_settings() -> dict[str, Any]:
    """How the network is split over the ranks, as far as the program has said so."""
    from mindspore import context

    settings = {}
    for name in _PARALLEL:
        with contextlib.suppress(Exception):
            value = context.get_auto_parallel_context(name)
            settings[name] = json.loads(json.dumps(value, default=str))
    return settings


def pipeline_manager() -> Any:
    """minddata's profiling manager."""
    from mindspore import _c_dataengine

    return _c_dataengine.GlobalContext.profiling_manager()


def has_dataset_iterators() -> bool:
    """Whether the program holds an iterator of a dataset; False where that is not known."""
    from mindspore.dataset.engine import iterators

    return any(iterator() is not None for iterator in getattr(iterators, "ITERATORS_LIST", ()))


def follow_dataset_iterators(comes: Callable[[], None]) -> Callable[[], None]:
    """Calls it before an iterator of a dataset is made; returns what ends that."""
    from mindspore.dataset.engine.iterators import Iterator

    make = Iterator.__init__

    def followed(self: Any, *arguments: Any, **options: Any) -> None:
        comes()
        make(self, *arguments, **options)

    Iterator.__init__ = followed

    def stop() -> None:
        Iterator.__init__ = make

    return stop


def host_events_are_on() -> bool:
    """MindSpore reads the variable before its first operator; later it has no effect."""
    return os.environ.get("MS_ENABLE_RUNTIME_PROFILER") == "1"
