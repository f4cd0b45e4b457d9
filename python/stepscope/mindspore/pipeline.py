"""The data pipeline, from minddata's profiling manager.

It samples queues and processors on a thread of its own and knows one pipeline of the process, the
first that is iterated. Its files, written when it is stopped, stay beside the recording.
"""

from __future__ import annotations

from pathlib import Path

from stepscope.mindspore import framework

# One pass over /proc takes it 20 to 40 ms: asked for more often it keeps a processor busy.
_INTERVAL_MS = 100

NOTHING_TOLD = (
    "minddata told nothing: it only records pipelines whose iterator is made after the profiler "
    "has started. Start it before the iterator is made (Model.train makes one for all epochs)"
)
REPLACED = (
    "the pipeline of an earlier window of this run is lost: minddata writes each to the same files"
)


class Pipeline:
    def __init__(self) -> None:
        self._manager = framework.pipeline_manager()
        self._folder: Path | None = None
        self._interval_ms = 0  # as the program has it
        #: known after the stop: minddata gives no error, only no files
        self.told_nothing = False
        #: under `stepscope record`, where all windows have one folder
        self.has_replaced = False

    def start(self, folder: Path) -> None:
        from mindspore.dataset import config

        # For as long as it records: minddata looks at it when an iterator is made.
        self._interval_ms = config.get_monitor_sampling_interval()
        config.set_monitor_sampling_interval(_INTERVAL_MS)
        self._folder = folder
        try:
            self._manager.init()
            self._manager.start()
        except BaseException:
            self._folder = None
            config.set_monitor_sampling_interval(self._interval_ms)
            raise

    def stop(self) -> None:
        if self._folder:
            from mindspore.dataset import config

            folder, self._folder = self._folder, None
            before = _files(folder)
            config.set_monitor_sampling_interval(self._interval_ms)
            self._manager.stop()
            self._manager.save(str(folder))
            self.told_nothing = _files(folder) == before
            self.has_replaced = bool(before) and not self.told_nothing


def _files(folder: Path) -> dict[str, int]:
    """What minddata has written; windows of one run write to the same names."""
    return {path.name: path.stat().st_mtime_ns for path in folder.glob("pipeline_profiling_*")}
