"""The stacks of all Python threads for the collector, also when Python hangs.

faulthandler can write them from any thread without the interpreter's lock, where a signal asks for
it; the collector sends that signal to its own thread. With the lock, where it is to be had, they
are written by a call.
"""

from __future__ import annotations

import faulthandler
import os
import signal

from stepscope import _record
from stepscope.profiler._log import guarded


class PythonStacks:
    def __init__(self) -> None:
        self._signal = 0
        self._file = -1
        with guarded("stacks without the interpreter's lock"):
            self._register()
        _record.prepare_python_stacks(faulthandler.dump_traceback, self._signal, self._file)

    def _register(self) -> None:
        if not hasattr(os, "memfd_create"):
            return
        free = (
            number
            for number in range(signal.SIGRTMAX - 1, signal.SIGRTMIN, -1)
            if signal.getsignal(number) is signal.SIG_DFL
        )
        number = next(free, 0)
        if number:
            self._file = os.memfd_create("stepscope-stacks")
            faulthandler.register(number, file=self._file, all_threads=True, chain=False)
            self._signal = number

    def stop(self) -> None:
        _record.forget_python_stacks()
        if self._signal:
            faulthandler.unregister(self._signal)
            os.close(self._file)
            self._signal = 0
