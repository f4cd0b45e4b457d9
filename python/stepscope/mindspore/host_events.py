"""Events of MindSpore's runtime on the host, when MS_ENABLE_RUNTIME_PROFILER=1 asks for them.

It keeps events between the marks of steps, 120 of a small graph's step and 1,500 in PyNative mode,
until it is told to write them, and then also prints a summary. Its files come where graphs are
saved; the one with whole nanoseconds is moved beside the recording, the others are removed.
"""

from __future__ import annotations

import shutil
from pathlib import Path

# 240 kB a step in PyNative mode.
_STEPS_BETWEEN_WRITES = 200


class HostEvents:
    def __init__(self) -> None:
        from mindspore import _c_expression

        self._runtime = _c_expression
        self._folder: Path | None = None
        self._steps = 0
        self._saved_path = ""

    def start(self, folder: Path) -> None:
        import mindspore

        self._saved_path = mindspore.get_context("save_graphs_path")
        mindspore.set_context(save_graphs_path=str(folder / "host_events"))
        self._folder = folder
        self._runtime._framework_profiler_step_start()

    def on_step_end(self) -> None:
        if not self._folder:
            return
        self._runtime._framework_profiler_step_end()
        self._steps += 1
        if self._steps % _STEPS_BETWEEN_WRITES == 0:
            self._write(self._folder)
        self._runtime._framework_profiler_step_start()

    def stop(self) -> None:
        if not self._folder:
            return
        import mindspore

        folder, self._folder = self._folder, None
        self._runtime._framework_profiler_step_end()
        self._write(folder)
        mindspore.set_context(save_graphs_path=self._saved_path or ".")
        shutil.rmtree(folder / "host_events", ignore_errors=True)

    def _write(self, folder: Path) -> None:
        self._runtime._framework_profiler_clear()
        for file in (folder / "host_events").rglob("RuntimeProfilerDetail*.csv"):
            file.replace(folder / file.name)
