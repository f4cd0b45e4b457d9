"""Failed allocations, as far as Python gets to see them.

What nobody catches is seen at the end of its thread; on NVIDIA GPUs PyTorch tells of every failure
itself, also of those that a program catches and gets over.
"""

from __future__ import annotations

import re
import sys
import threading
import weakref
from types import TracebackType
from typing import Any, Callable

from stepscope.profiler._log import Once, guarded

# torch on CPUs, CUDA and Ascend, MindSpore, cuBLAS; where there is no class of its own.
_WORDS = re.compile(
    r"out of memory|can.t allocate memory|cannot allocate memory|not enough memory"
    r"|alloc\w*( \w+){0,3} (has )?failed|failed to alloc|malloc\w*( \w+){0,3} fail",
    re.IGNORECASE,
)
_MOST_CAUSES = 10
_LONGEST = 500


def is_allocation_failure(error: BaseException | None) -> bool:
    """Whether the exception, or one that it was raised because of, is that."""
    for _ in range(_MOST_CAUSES):
        if error is None:
            return False
        if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
            return True
        if isinstance(error, RuntimeError) and _WORDS.search(str(error)[:_LONGEST]):
            return True
        error = error.__cause__ or error.__context__
    return False


def described(error: BaseException) -> str:
    """The first line of what it says."""
    lines = str(error).splitlines()
    text = f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
    return text[:_LONGEST]


class AllocationFailures:
    """Calls ``tell`` with a sentence for each that it hears of, until ``stop``."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._once = Once()
        self._stopped = False
        self._excepthook = sys.excepthook
        self._thread_excepthook = threading.excepthook
        sys.excepthook = self._uncaught
        threading.excepthook = self._uncaught_in_thread
        self._hook: Any = None
        with guarded("PyTorch's reports of failed allocations"):
            self._watch_torch()

    def stop(self) -> None:
        self._stopped = True
        # Others may have put theirs above ours, which then goes on to pass on.
        if sys.excepthook == self._uncaught:
            sys.excepthook = self._excepthook
        if threading.excepthook == self._uncaught_in_thread:
            threading.excepthook = self._thread_excepthook
        self._forget_hook()
        _listening.discard(self)

    def look_at(self, error: BaseException | None) -> None:
        with guarded("a failed allocation", self._once):
            if error is not None and not self._stopped and is_allocation_failure(error):
                self._tell(described(error))

    def _uncaught(
        self,
        kind: type[BaseException],
        error: BaseException,
        traceback: TracebackType | None,
    ) -> None:
        self.look_at(error)
        self._excepthook(kind, error, traceback)

    def _uncaught_in_thread(self, arguments: Any) -> None:
        self.look_at(arguments.exc_value)
        self._thread_excepthook(arguments)

    def _watch_torch(self) -> None:
        """CUDA must not be woken by us: PyTorch is asked when the program has used it."""
        torch = sys.modules.get("torch")
        if torch is None or not hasattr(torch._C, "_cuda_attach_out_of_memory_observer"):
            return
        if torch.cuda.is_initialized():
            self._attach(torch)
            return
        from torch.optim.optimizer import register_optimizer_step_post_hook

        self._hook = register_optimizer_step_post_hook(self._after_a_step)

    def _after_a_step(self, *_: Any) -> None:
        with guarded("PyTorch's reports of failed allocations", self._once):
            torch = sys.modules["torch"]
            if torch.cuda.is_initialized():
                self._forget_hook()
                self._attach(torch)

    def _attach(self, torch: Any) -> None:
        global _is_attached
        _listening.add(self)
        if not _is_attached:
            torch._C._cuda_attach_out_of_memory_observer(_out_of_memory)  # for good
            _is_attached = True

    def hear(self, what: str) -> None:
        with guarded("a failed allocation", self._once):
            if not self._stopped:
                self._tell(what)

    def _forget_hook(self) -> None:
        hook, self._hook = self._hook, None
        if hook:
            hook.remove()


# PyTorch never lets go of an observer, and a watch begins anew behind every profiler's window:
# there is one, which tells those who listen.
_listening: weakref.WeakSet[AllocationFailures] = weakref.WeakSet()
_is_attached = False


def _out_of_memory(device: int, wanted: int, total: int, free: int) -> None:
    what = (
        f"GPU {device} had no {wanted / 2**20:.1f} MiB for PyTorch: "
        f"{free / 2**20:.1f} of {total / 2**20:.1f} MiB were free"
    )
    for failures in list(_listening):
        failures.hear(what)
