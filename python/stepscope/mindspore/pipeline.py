"""The data pipeline, from minddata's profiling manager.

It samples queues and processors on a thread of its own. Its files, written when it is stopped, stay
beside the recording. They always have the same names; pipelines that follow each other (a loop that
makes an iterator for each epoch, windows of one `stepscope record`) are told apart by a number in
front.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Callable

from stepscope.mindspore import framework
from stepscope.mindspore.scratch import make_scratch
from stepscope.profiler._log import Once, guarded

# One pass over /proc takes it 20 to 40 ms: asked for more often it keeps a processor busy.
_INTERVAL_MS = 100

NOTHING_TOLD = (
    "minddata told nothing: it only records the first pipeline whose iterator is made after the "
    "profiler. Make the profiler before that iterator (Model.train makes one for all epochs)"
)
# Of a window: three files each.
_MOST_PIPELINES = 100
TOO_MANY = f"only the first {_MOST_PIPELINES} data pipelines of a window are recorded"


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
        self._stop_following: Callable[[], None] | None = None
        self._once = Once()
        self._count = 0
        #: known after the stop: minddata gives no error, only no files
        self.told_nothing = True
        self.has_left_some_out = False

    @staticmethod
    def expect() -> None:
        """A window will come that wants the pipeline, whose iterator may be made before."""
        _manager.expect()

    def start(self, folder: Path) -> None:
        self._count = int(framework.has_dataset_iterators())
        self._stop_following = framework.follow_dataset_iterators(self._iterator_comes)
        try:
            _manager.start()
        except BaseException:
            self.stop()
            raise
        self._folder = folder

    def stop(self) -> None:
        stop_following, self._stop_following = self._stop_following, None
        if stop_following:
            stop_following()
        folder, self._folder = self._folder, None
        if folder:
            self._save(folder)

    def _iterator_comes(self) -> None:
        """minddata stays with the first pipeline. When that has gone, and not before, the next one
        can be recorded."""
        with guarded("a data pipeline", self._once):
            if not self._folder or (self._count and framework.has_dataset_iterators()):
                return
            if self._count >= _MOST_PIPELINES:
                self.has_left_some_out = True
                return
            if self._count:
                self._save(self._folder)
                _manager.start()
            self._count += 1

    def _save(self, folder: Path) -> None:
        scratch = make_scratch()
        try:
            files = _manager.stop(scratch)
            if files:
                self.told_nothing = False
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
