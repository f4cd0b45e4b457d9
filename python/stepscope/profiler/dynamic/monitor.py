"""``DynamicProfilerMonitor``: records the steps that a file asks for while the training runs."""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path
from typing import Any

from stepscope.profiler._log import Once, guarded, logger
from stepscope.profiler.dynamic.arguments import (
    OUTPUT,
    POLL_INTERVAL,
    checked_file,
    checked_interval,
    checked_output,
)
from stepscope.profiler.dynamic.callback import as_callback, step_number
from stepscope.profiler.dynamic.config import Config
from stepscope.profiler.dynamic.config_file import ConfigFile
from stepscope.profiler.dynamic.helper import Helper
from stepscope.profiler.dynamic.lifetime import look_after
from stepscope.profiler.dynamic.listening import Listening
from stepscope.profiler.dynamic.log import RankLog
from stepscope.profiler.dynamic.status import Registration
from stepscope.profiler.dynamic.telling import Telling
from stepscope.profiler.dynamic.window import DynamicWindow
from stepscope.profiler.ranks import find_place
from stepscope.profiler.run_directory import make_folder
from stepscope.profiler.session import who_records

_NEVER = sys.maxsize


class DynamicProfilerMonitor:
    """Watches ``profiler_config.json`` and records the steps that it names.

        monitor = DynamicProfilerMonitor(cfg_path="dyn_cfg", output_path="dynprof_data")
        for batch in batches:
            train(batch)
            monitor.step()

    With MindSpore it is a callback: ``model.train(10, data, callbacks=[monitor])``. Any program may
    call ``on_train_step_begin`` and ``on_train_step_end`` with an object that has
    ``original_args().cur_step_num``.

    A step costs less than a microsecond while nothing is asked for. Nothing is raised into the
    training; what goes wrong is in ``log/`` of the folder.

    Args:
        cfg_path: folder that all ranks share, or the path of a configuration file in it.
        output_path: where run directories go: ``rank<N>_start<A>_stop<B>/`` in it.
        poll_interval: seconds after which the file is looked at again where the system does not
            tell of changes, as on network file systems.

    Raises:
        TypeError: ``cfg_path`` is not a string.
    """

    def __new__(cls, *_: Any, **__: Any) -> DynamicProfilerMonitor:
        monitor: DynamicProfilerMonitor = object.__new__(as_callback(cls))
        return monitor

    def __init__(
        self,
        cfg_path: str,
        output_path: str = OUTPUT,
        poll_interval: int = POLL_INTERVAL,
        **kwargs: Any,
    ) -> None:
        self._once = Once()
        self._kwargs = kwargs
        self._poll_interval = checked_interval(poll_interval)
        self._output = checked_output(output_path)
        path = checked_file(cfg_path)
        self._folder = path.parent
        self._file = ConfigFile(path)
        self._log = RankLog(self._folder)
        self._pid = os.getpid()

        # Shared with the helper thread, without a lock: each is written by one side, whole.
        self._telling = Telling(self._folder, find_place())
        self._config: Config | None = None  # by the helper, before
        self._version = 0  # by the helper
        self._step = 0  # the last step that has ended

        # Of the training thread.
        self._seen = -1  # a first time, to see what the rank is
        self._wake = _NEVER
        self._armed: Config | None = None
        self._window: DynamicWindow | None = None
        self._is_counted = False  # whether the framework said how many steps came before
        self._is_off = False
        self._entered = 0

        self._registration: Registration | None = None
        self._helper: Helper | None = None
        self._listening = Listening(self._file.path)
        self._begin()
        look_after(self)

    # What a program calls.

    def start(self) -> None:
        """The first step begins now. Needed in a plain loop to record step 1, not otherwise."""
        with guarded("DynamicProfilerMonitor.start", self._once):
            self._at(self._step + 1, self._step + 1)

    def step(self) -> None:
        """Ends a training step, in a plain loop."""
        number = self._step + 1
        self._step = number
        if self._version == self._seen and number + 1 < self._wake:
            return
        with guarded("DynamicProfilerMonitor.step", self._once):
            if self._window and number < self._window.config.stop:
                self._window.go_on(number)
            elif self._window:
                self._finish(self._window)
            self._at(number + 1, number + 1, joins_late=True)

    def on_train_begin(self, run_context: Any) -> None:
        """Called by the framework."""
        with guarded("DynamicProfilerMonitor.on_train_begin", self._once):
            number = getattr(run_context.original_args(), "cur_step_num", 0)
            self._step = number if type(number) is int else 0
            self._is_counted = type(number) is int
            self._seen = -1

    def on_train_step_begin(self, run_context: Any) -> None:
        """Called by the framework."""
        try:
            number = step_number(run_context)
            if self._version == self._seen and number < self._wake:
                return
        except Exception:
            number = None
        with guarded("DynamicProfilerMonitor.on_train_step_begin", self._once):
            # With data sinking a call stands for several steps, and its number is the last one's.
            first = self._step + 1 if self._is_counted else number
            if self._window:
                self._window.begin_step(number)
            self._at(min(first, number), number)

    def on_train_step_end(self, run_context: Any) -> None:
        """Called by the framework."""
        try:
            self._step = number = step_number(run_context)
            window = self._window
            if window is None:
                return
        except Exception:
            return  # its beginning has told
        with guarded("DynamicProfilerMonitor.on_train_step_end", self._once):
            window.end_step(number)
            if number >= window.config.stop:
                self._finish(window)

    def on_train_end(self, run_context: Any = None) -> None:
        """Called by the framework. A window that is still open is completed."""
        with guarded("DynamicProfilerMonitor.on_train_end", self._once):
            self._end_early("at end of training")

    def on_eval_begin(self, run_context: Any) -> None:
        """Evaluation counts steps of its own: they are not the training's."""

    # MindSpore's callbacks hand each of these on to the older name, which is the training's here.
    on_eval_end = on_eval_step_begin = on_eval_step_end = on_eval_begin
    step_begin = on_train_step_begin
    step_end = on_train_step_end
    begin = on_train_begin
    end = on_train_end

    def close(self) -> None:
        """Stops watching. The end of the program does it, too."""
        with guarded("DynamicProfilerMonitor.close", self._once):
            if self._pid != os.getpid():
                return
            self._end_early("when the monitor was closed")
            self._is_off = True
            helper, self._helper = self._helper, None
            if helper:
                self._telling.state = "ended"
                helper.close()  # which tells it
                self._listening.close()
            if self._registration:
                self._registration.remove()

    _clean_resource = close  # MindSpore's name

    # MindSpore enters its callbacks for a training, and once more for each evaluation in it.
    def __enter__(self) -> DynamicProfilerMonitor:
        self._entered += 1
        return self

    def __exit__(self, *_: object) -> None:
        self._entered -= 1
        if self._entered <= 0:
            self.on_train_end()

    # The training thread.

    def _at(self, first: int, last: int, joins_late: bool = False) -> None:
        """Steps ``first`` to ``last`` are about to begin; mostly one."""
        if self._helper is None and not self._is_off:
            self._begin()  # in a forked child that trains
        if self._is_off:
            self._seen, self._wake = self._version, _NEVER
            return
        if self._seen != self._version or self._seen < 0:
            if self._seen < 0:
                self._telling.place = find_place()
            self._seen = self._version
            self._arm(self._config, first)
        armed = self._armed
        if armed and not self._window:
            if first <= armed.start <= last:
                self._record(armed, last)
            elif armed.start < first:
                self._too_late(armed, first, joins_late)
        if self._window:
            self._wake = 0
        else:
            self._wake = self._armed.start if self._armed else _NEVER

    def _arm(self, config: Config | None, first: int) -> None:
        if config is self._telling.about:
            return
        if self._window:
            running = self._window.config
            if config and (config.start, config.stop) == (running.start, running.stop):
                self._tell_state("recording", config)
            else:
                text = f"{_steps(running)} are being recorded: what is new counts after them"
                self._say(logging.INFO, text)
            return
        self._armed = None
        if config is None or config.start == 0:
            self._tell_state("watching", config)
        elif not config.chooses(self._telling.place.rank):
            self._tell_state("not chosen", config)
        else:
            self._armed = config
            if config.start >= first:
                self._tell_state("armed", config)
                self._say(logging.INFO, f"{_steps(config)} will be recorded; step {first} begins")

    def _too_late(self, config: Config, first: int, joins_late: bool) -> None:
        alone = (self._telling.place.world_size or 1) == 1 and not self._telling.has_others
        if alone and joins_late and first <= config.stop:
            self._say(
                logging.WARNING,
                f"start_step {config.start} was over when the configuration came: recording begins "
                f"with step {first}, and ends with stop_step {config.stop}",
            )
            self._record(config, first)
            return
        self._armed = None
        others = ", as others may have recorded all of it; it joins the next one"
        self._miss(
            config,
            f"start_step {config.start} was over, step {first} begins: this rank records nothing "
            f"of this window{'' if alone else others}",
            is_late=True,
        )

    def _record(self, config: Config, number: int) -> None:
        self._armed = None
        other = who_records()
        if other:
            self._miss(
                config,
                f"{_steps(config)} are not recorded: {other}. A process has one recording at a "
                "time; stop that one, or leave it out, to choose steps here",
            )
            return
        folder = Path(config.folder) if config.folder else self._output
        folder = folder / f"rank{self._telling.place.rank}_start{config.start}_stop{config.stop}"
        try:
            window = DynamicWindow(config, folder)
            window.begin(number)
        except Exception as error:
            self._miss(config, f"{_steps(config)} are not recorded: {error}")
            return
        self._window = window
        self._telling.path = window.path
        self._tell_state("recording", config)
        self._say(logging.INFO, f"{_steps(config)}: recording into {window.path}")

    def _finish(self, window: DynamicWindow, last: int | None = None) -> None:
        self._window = None
        self._seen = -1  # what came meanwhile counts now
        config = self._telling.about or window.config
        path = window.path
        window.stop()
        self._telling.path = path
        steps = _steps(config) if last is None else f"steps {config.start} to {last}"
        text = f"{steps} are recorded in {path}"
        if last is not None and last < config.start:
            text = f"no step of {_steps(config)} is recorded whole; what there is, is in {path}"
        why = f"{text}, not all of them: {window.missing}" if window.missing else ""
        self._tell_state("finished", config, why)
        self._say(logging.WARNING if why else logging.INFO, why or text)

    def _end_early(self, when: str) -> None:
        window = self._window
        if not window:
            return
        self._say(
            logging.WARNING,
            f"stop_step {window.config.stop} was not reached: stopped {when}, after step "
            f"{window.ended}",
        )
        self._finish(window, window.ended)

    def _miss(self, config: Config, why: str, is_late: bool = False) -> None:
        self._telling.is_late = is_late
        self._tell_state("missed", config, why)
        self._say(logging.WARNING, why)

    def _tell_state(self, state: str, config: Config | None, error: str = "") -> None:
        self._telling.error = error
        if state not in ("recording", "finished"):
            self._telling.path = ""
        self._telling.about = config
        self._telling.state = state
        if self._helper:
            self._helper.wake()

    def _say(self, level: int, text: str) -> None:
        self._log.say(self._telling.place.rank, level, text)
        if self._helper:
            self._helper.wake()

    # The helper thread, and before there is one.

    def _begin(self) -> None:
        self._is_off = True  # unless all goes well
        with guarded("DynamicProfilerMonitor"):
            make_folder(self._folder)
            problem = self._file.make()
            if problem:
                self._say(logging.ERROR, f"{self._file.path} could not be made: {problem}")
            self._take()
            self._registration = Registration(self._folder)
            self._helper = Helper(self, self._folder)
            self._is_off = False
        other = who_records()
        if other:
            self._say(
                logging.WARNING,
                f"{other}: while it goes on, windows that {self._file.path.name} asks for are not "
                "recorded",
            )
        if self._is_off:
            self._log.write()
        else:
            logger.info("dynamic profiling: %s chooses the steps", self._file.path)

    def look_around(self) -> float:
        self._take()
        helper = self._helper
        if helper:
            self._telling.poll_interval = 0 if helper.watch.by_events else self._poll_interval
        self._telling.look(self._step)
        news = self._listening.look()
        if news:
            self._say(logging.INFO, news)
        self._log.write()
        return self._file.again or min(self._poll_interval, self._telling.interval)

    def tell_the_end(self) -> None:
        self._log.write()
        self._telling.write(self._step)

    def _take(self) -> None:
        found = self._file.look()
        if found is None:
            return
        self._telling.is_due = True
        self._telling.refused = ""
        if isinstance(found, Config):
            if found.start:  # here, not in the training's thread
                import stepscope.profiler.window  # noqa: F401
            self._config = self._telling.taken = found
            self._version += 1
        else:
            self._telling.refused = str(found)
            self._say(logging.INFO, f"{self._file.path} is not taken, nothing changes: {found}")

    def after_fork(self) -> None:
        """In the child: it watches only if it trains, which its next step shows."""
        helper, self._helper = self._helper, None
        if helper:
            helper.forget()
        self._log.forget()
        self._listening.forget()
        self._listening = Listening(self._file.path)
        self._pid = os.getpid()
        self._registration = None
        self._window = self._armed = None
        if self._telling.state != "ended":
            self._is_off = False
        self._telling = Telling(self._folder, self._telling.place)
        self._telling.taken = self._config
        self._seen = -1


def _steps(config: Config) -> str:
    return f"steps {config.start} to {config.stop}"
