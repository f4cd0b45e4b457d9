"""on_trace_ready: what happens with a window when it is complete."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable

from stepscope.profiler._checks import boolean
from stepscope.profiler._log import explained, logger
from stepscope.profiler.run_directory import check_path

if TYPE_CHECKING:
    from stepscope.profiler.session import Session

# "_<pid>_<17 digits>_ascend_ms" still has to fit into a file name of 255 characters.
_LONGEST_WORKER = 225


@dataclass(frozen=True)
class TraceHandler:
    """Says where the runs of the profiler that it is given to go, and analyses them."""

    folder: Path | None = None
    worker: str | None = None
    analyses: bool = True
    in_background: bool = False

    def __call__(self, profiler: Session) -> None:
        if self.analyses:
            profiler.analyse_windows(in_background=self.in_background)


@explained
def tensorboard_trace_handler(
    dir_name: str | None = None,
    worker_name: str | None = None,
    analyse_flag: bool = True,
    async_mode: bool = False,
) -> TraceHandler:
    """Makes an ``on_trace_ready`` that analyses every window.

    Args:
        dir_name: folder for the run directories, in place of the profiler's ``output_path``.
        worker_name: what their names begin with; by default the host's name.
        analyse_flag: False: only record, analyse later with ``Profiler.offline_analyse``.
        async_mode: analyse while training goes on.

    Raises:
        ProfilerPathErrorException: ``dir_name`` cannot be written to.
    """
    folder = _or_default("dir_name", dir_name, _name, None)
    return TraceHandler(
        check_path(folder) if folder else None,
        _or_default("worker_name", worker_name, _worker, None),
        _or_default("analyse_flag", analyse_flag, boolean, True),
        _or_default("async_mode", async_mode, boolean, False),
    )


#: The older name. It was passed as it is, without a call; `trace_handler` takes both forms of both.
tensor_board_trace_handler = tensorboard_trace_handler


def trace_handler(given: Callable[..., object] | None) -> Callable[..., object] | None:
    uncalled: object = tensorboard_trace_handler
    return tensorboard_trace_handler() if given is uncalled else given


def call_trace_ready(handler: Callable[..., object], profiler: Session) -> None:
    """Calls a handler with the profiler, or with nothing where it takes nothing."""
    try:
        if _takes_argument(handler):
            handler(profiler)
        else:
            handler()
    except Exception:
        logger.exception("Call to on_trace_ready failed; the run itself is kept")


def _takes_argument(handler: Callable[..., object]) -> bool:
    try:
        inspect.signature(handler).bind(None)
    except TypeError:
        return False
    except ValueError:  # a builtin that does not tell
        pass
    return True


def _or_default(name: str, value: object, check: Callable[[object], Any], default: Any) -> Any:
    if value is None:
        return default
    try:
        return check(value)
    except (TypeError, ValueError) as error:
        logger.warning("%s must be %s, not %r: reset to %r", name, error, value, default)
        return default


def _name(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise TypeError("the name of a folder")
    return value


def _worker(value: object) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= _LONGEST_WORKER or "/" in value:
        raise ValueError(f"a name of 1 to {_LONGEST_WORKER} characters")
    return value
