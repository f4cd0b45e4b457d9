"""One window of recording: a run directory, and the native recording that fills it."""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Callable

from stepscope import _record
from stepscope.profiler import cost, devices
from stepscope.profiler._bounded import PATIENCE, within
from stepscope.profiler._log import logger
from stepscope.profiler.frameworks import Frameworks
from stepscope.profiler.metadata import Metadata
from stepscope.profiler.parameters import Parameters
from stepscope.profiler.ranks import find_place
from stepscope.profiler.run_directory import RAW_FOLDER, JoinedDirectory, RunDirectory

_NOT_KNOWN = "not known"


def _thread_names() -> dict[int, str]:
    """By the system's number. Threads that Python did not start have only a made-up name here."""
    return {
        thread.native_id: thread.name.encode("utf-8", "replace").decode()
        for thread in threading.enumerate()
        if thread.native_id and not isinstance(thread, threading._DummyThread)
    }


def _interrupted_watch() -> Any:
    """A process has one recording: a watch (stepscope.triggers) makes room for a window."""
    module = sys.modules.get("stepscope.triggers.watch")
    watch = module.current() if module else None
    if watch and watch.pause():
        logger.info("the watch is interrupted until the end of this recording")
        return watch
    return None


class Window:
    """Records from construction to ``stop``, into a run directory of its own."""

    #: where in its run it begins, in nanoseconds since 1970; 0: with it
    began_ns = 0
    #: whether pairs came behind it, which are written with its step times
    has_late_metadata = False
    #: that it interrupts (stepscope.triggers)
    _watch: Any = None

    def __init__(
        self, parent: Path, worker: str | None, parameters: Parameters, metadata: Metadata
    ) -> None:
        self._watch = _interrupted_watch()
        try:
            self._start(parent, worker, self._look(parameters, metadata))
        except BaseException:
            self._let_watch_go_on()
            raise
        #: what sources could not do, in sentences
        self.problems: list[str] = json.loads(self._recording.problems())
        self._start_frameworks()

    def _start(self, parent: Path, worker: str | None, sources: dict[str, dict[str, Any]]) -> None:
        if _record.is_recording():  # before a directory is made for nothing
            raise RuntimeError(
                "this process is being recorded already, by another profiler (of the program, "
                "of MS_PROFILER_OPTIONS, or a window of DynamicProfilerMonitor). There is one "
                "recording at a time; stop that one first"
            )
        self._directory: JoinedDirectory = RunDirectory(parent, worker)
        self.path = self._directory.path
        try:
            # Written now as well as at the end: a killed program leaves a run that can be read.
            self._write()
            self._recording = _record.Recording(str(self.path / RAW_FOLDER), self._options(sources))
        except BaseException:
            self._directory.remove()
            raise

    def _let_watch_go_on(self) -> None:
        watch, self._watch = self._watch, None
        if watch:
            watch.resume()

    def _look(self, parameters: Parameters, metadata: Metadata) -> dict[str, dict[str, Any]]:
        """Sees what can be recorded; returns the collector's sources."""
        self._parameters = parameters
        self._metadata = metadata
        self._place = find_place()
        self._statistics: dict[str, Any] = {}
        self._step_times: dict[str, Any] = {}
        self._is_over = False
        #: where the step before the first ``step()`` begins; 0: there is none
        self._unmarked_since = 0
        found = devices.present()
        sources = self._sources = devices.sources(parameters, found, self._place.device)
        self._frameworks = Frameworks(parameters)
        self.not_honoured = devices.not_honoured(parameters, found, self._frameworks.honours)
        self._estimate = cost.estimated(sources, self._frameworks.costs, parameters)
        logger.info("recording starts: %s", self._estimate)
        return sources

    def await_first_step(self) -> None:
        """Nobody says that a step begins, but one may: who calls ``step()`` where iterations end
        has done one before the first call."""
        self._unmarked_since = _record.now()

    def step(self, number: int) -> None:
        """Ends the open step range, if any, and opens the next one."""
        if self._unmarked_since:
            if not self._frameworks.have_marked_steps:
                _record.unmarked_step(number - 1, self._unmarked_since)
            self._unmarked_since = 0
        self._frameworks.program_marks_steps()
        _record.step(number)

    def end_step(self) -> None:
        """Ends the open step range; what comes before the next one belongs to no step."""
        self._frameworks.program_marks_steps()
        _record.end_step()

    def stop(self, step_times: Mapping[str, Any]) -> None:
        """``step_times`` are those of ``StepTimes.figures``."""
        if self._statistics:
            return
        self._step_times = dict(step_times)
        _record.end_step()
        self._note_missing(self._frameworks.stop())
        self._note_frameworks()
        self._note_threads()
        self._note_end()
        self._statistics = json.loads(self._recording.stop())
        self._is_over = True
        self._let_watch_go_on()
        self.problems = self._statistics.get("problems", [])
        logger.info("recorded %s", cost.measured(self._statistics, self._step_times))
        if self.missing:
            logger.warning("%s is not complete: %s", self.path, self.missing)

    @property
    def missing(self) -> str:
        """What the recording lacks, in words; empty if nothing."""
        if self._is_over and not self._statistics:
            return "how the recording ended is not known"
        return cost.lost(self._statistics)

    @property
    def hangs(self) -> bool:
        """Whether its disk does not answer: it is better left alone."""
        return bool(self._statistics.get("left_behind"))

    def finalise(self) -> None:
        self._use_disk(self._write)

    def _use_disk(self, work: Callable[[], None]) -> None:
        if self.hangs:
            return
        if not within(PATIENCE, work):
            self._statistics = {**self._statistics, "left_behind": 1}
            logger.error("%s is not waited for any longer: the disk does not answer", self.path)

    def add_step_times(self, step_times: Mapping[str, Any]) -> None:
        """For the run's files: steps without recording may come behind the window."""
        if step_times != self._step_times or self.has_late_metadata:
            self._step_times = dict(step_times)
            self._use_disk(self._write_again)

    def discard(self) -> None:
        logger.info("%s is removed: the loop ended as it was opened", self.path)
        self._use_disk(self._directory.remove)

    def add_metadata(self, key: str) -> None:
        """Hands a pair that was added during the window to the recording."""
        self._recording.add_metadata(key, json.dumps(self._metadata.pairs()[key]))

    def note_open_ranges(self, count: int) -> None:
        """``count`` ranges of mstx have not ended, and are lost as those of record_function are."""
        count += self._open_ranges()
        if count:
            self._recording.add_metadata("open_ranges", json.dumps(count))

    def _open_ranges(self) -> int:
        return _record.open_ranges()

    def _note_frameworks(self) -> None:
        """At the end: programs set their frameworks up while they are recorded, too."""
        for key, value in self._frameworks.about().items():
            self._recording.add_metadata(key, json.dumps(value))

    def _note_threads(self) -> None:
        """At both ends: one that lives at neither is named where stacks are sampled, else by the
        system."""
        self._recording.add_metadata("python_threads", json.dumps(_thread_names()))

    def _note_end(self) -> None:
        """Tells the recording what only its end knows."""
        if self._step_times:
            self._recording.add_metadata("step_times", json.dumps(self._step_times))

    def _start_frameworks(self) -> None:
        self._note_threads()
        folder = self.path / RAW_FOLDER
        self._note_missing(self._frameworks.start(folder, self._note_missing))

    def _note_missing(self, missing: Mapping[str, str]) -> None:
        for name, reason in missing.items():
            if hasattr(self._parameters, name):
                self.not_honoured[name] = reason
                note, said = "not_honoured", {name: reason}
            else:
                logger.warning("%s: %s", name, reason)
                note, said = "source_left_out", {"source": name, "why": reason}
            self._recording.add_metadata(note, json.dumps(said))

    def _options(self, sources: dict[str, dict[str, Any]]) -> str:
        place = self._place
        about = {
            **self._pairs(),
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "world_size": place.world_size,
            "python": sys.version.split()[0],
            "parameters": self._parameters.effective(),
            "estimated": self._estimate,
        }
        return json.dumps(
            {
                "rank": place.rank,
                **self._parameters.budget,
                "sources": sources,
                "metadata": about,
            }
        )

    def _pairs(self) -> dict[str, Any]:
        pairs = self._metadata.pairs()
        if self.not_honoured:
            pairs["not_honoured"] = self.not_honoured
        return pairs

    def _write_again(self) -> None:
        if self.path.is_dir():  # a handler may have moved it
            self._write()

    def _write(self) -> None:
        place, mindspore = self._place, sys.modules.get("mindspore")
        info = {
            "profiler_parameters": self._parameters.effective(),
            "ms_profiler_info": {"rank_id": str(place.rank), "device_id": str(place.device)},
            "cann_profiler_info": {},
            "analysis_cost_time": {},
            "ms_version": getattr(mindspore, "__version__", _NOT_KNOWN),
            "cann_version": _NOT_KNOWN,
            "jit_level": "",
            "stepscope": {
                "budget": self._parameters.budget,
                "sources": self._sources,
                "estimated": self._estimate,
                "recorded": self._statistics,
                "complete": self._is_over and not self.missing,
                "missing": self.missing,
                "step_times": self._step_times,
            },
        }
        self._directory.write(f"profiler_info_{place.rank}.json", info, indent=4)
        pairs = self._pairs()
        if pairs:
            self._directory.write("profiler_metadata.json", pairs)
