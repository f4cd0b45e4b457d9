"""The data pipeline, from minddata's profiling manager.

It samples queues and processors on a thread of its own. Its files, written when it is stopped, stay
beside the recording. They always have the same names; windows of one `stepscope record`, which have
one folder, are told apart by a number in front.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from stepscope.mindspore import framework
from stepscope.mindspore.scratch import make_scratch

# One pass over /proc takes it 20 to 40 ms: asked for more often it keeps a processor busy.
_INTERVAL_MS = 100

NOTHING_TOLD = (
    "minddata told nothing: it only records the first pipeline whose iterator is made after the "
    "profiler. Make the profiler before that iterator (Model.train makes one for all epochs)"
)


class _Manager:
    """minddata's manager, one in the process.

    It tells, in every window from its ``init`` to the next, of the first pipeline that is iterated
    after it, and can be initialised again only when it has been started and stopped since.
    """

    def __init__(self) -> None:
        self._is_waiting = False  # for a pipeline, and has not been started
        self._has_told = False  # in its last window
        self._program_ms: int | None = None  # between samples, where we have set it

    def expect(self) -> None:
        if not self._is_waiting and not self._goes_on():
            self._set_interval()
            framework.pipeline_manager().init()
            self._is_waiting = True

    def start(self) -> None:
        manager = framework.pipeline_manager()
        if self._is_waiting and not framework.has_dataset_iterators():
            # The pipeline that came meanwhile, if one did, has gone.
            manager.start()
            manager.stop()
            self._is_waiting = False
        self._set_interval()
        try:
            if not self._is_waiting and not self._goes_on():
                manager.init()
            self._is_waiting = False
            manager.start()
        except BaseException:
            self._reset_interval()
            raise

    def stop(self, folder: Path) -> list[Path]:
        """Returns the files that it has written into the folder."""
        self._reset_interval()
        manager = framework.pipeline_manager()
        manager.stop()
        manager.save(str(folder))
        files = list(folder.iterdir())
        # Of a pipeline that came and went before the window there are files without samples.
        self._has_told = any(map(_has_samples, files))
        return files if self._has_told else []

    def _goes_on(self) -> bool:
        return self._has_told and framework.has_dataset_iterators()

    # minddata looks at it when an iterator is made.
    def _set_interval(self) -> None:
        from mindspore.dataset import config

        if self._program_ms is None:
            self._program_ms = config.get_monitor_sampling_interval()
        config.set_monitor_sampling_interval(_INTERVAL_MS)

    def _reset_interval(self) -> None:
        from mindspore.dataset import config

        program_ms, self._program_ms = self._program_ms, None
        if program_ms is not None:
            config.set_monitor_sampling_interval(program_ms)


def _has_samples(file: Path) -> bool:
    if file.suffix == ".txt":
        return True  # written with the first batch
    return bool(json.loads(file.read_text()).get("time_stamp"))


_manager = _Manager()


class Pipeline:
    def __init__(self) -> None:
        self._folder: Path | None = None
        #: known after the stop: minddata gives no error, only no files
        self.told_nothing = False

    @staticmethod
    def expect() -> None:
        """A window will come that wants the pipeline, whose iterator may be made before."""
        _manager.expect()

    def start(self, folder: Path) -> None:
        _manager.start()
        self._folder = folder

    def stop(self) -> None:
        if not self._folder:
            return
        folder, self._folder = self._folder, None
        scratch = make_scratch()
        try:
            files = _manager.stop(scratch)
            self.told_nothing = not files
            _move(files, folder)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)


def _move(files: list[Path], folder: Path) -> None:
    window, front = 1, ""
    while any((folder / f"{front}{file.name}").exists() for file in files):
        window += 1
        front = f"window{window}."
    for file in files:
        shutil.move(file, folder / f"{front}{file.name}")
