"""The profiler's state: started or not, which step, which action.

One object is used by one thread at a time, the one that trains.
"""

from __future__ import annotations

import atexit
import logging
import os
import sys
import weakref
from dataclasses import replace
from types import TracebackType
from typing import Any, TypeVar

from stepscope.profiler import analysis
from stepscope.profiler._log import Once, advise, guarded, logger
from stepscope.profiler.analysis import Choices
from stepscope.profiler.enums import ProfilerAction
from stepscope.profiler.handlers import TraceHandler, trace_handler
from stepscope.profiler.idle import Idle
from stepscope.profiler.outer import outer_run
from stepscope.profiler.parameters import Parameters
from stepscope.profiler.recorder import Recorder
from stepscope.profiler.schedule import Schedule
from stepscope.profiler.step_times import StepTimes
from stepscope.profiler.transitions import TRANSITIONS, Do, Transition

_S = TypeVar("_S", bound="Session")


class Session:
    """Records windows of steps; what ``profile`` and ``Profiler`` have in common."""

    def __init__(self, parameters: Parameters) -> None:
        self._started_in: int | None = None  # process id: a forked child has not started
        self._once = Once()
        self._parameters = parameters = _with_handler(parameters)
        self._times = StepTimes()
        self._recorder = Recorder(parameters, self._once, self._times)
        self._idle = Idle()
        self._stepped = False
        self.step_num = 0
        #: what the recording calls step 0: a training that is resumed goes on counting
        self.first_step = 0
        self.current_action = self._action()
        if not isinstance(parameters.schedule, Schedule) and parameters.schedule:
            _look_at_function(self.current_action)
        if parameters.start_profile:
            self.start()
        else:
            self._recorder.expect()

    def start(self) -> None:
        """Starts recording, or following the schedule."""
        with guarded(f"{self._name}.start"):
            if self._started:
                logger.warning("%s.start(): it has already started, nothing changes", self._name)
                return
            self._enter()

    def stop(self) -> None:
        """Stops recording; an open window is completed and handed to ``on_trace_ready``."""
        with guarded(f"{self._name}.stop"):
            if self._may_stop():
                self._leave()

    def step(self) -> None:
        """Ends a training step and begins the next one."""
        with guarded(f"{self._name}.step", self._once):
            if not self._started:
                text = f"{self._name}.step(): it has not started, nothing is recorded"
                self._once.log(logging.ERROR, text)
                return
            self._stepped = True
            self._times.add(
                self._idle.step_ends(),
                recorded=self._recorder.window is not None,
                warm_up=self.current_action is ProfilerAction.WARM_UP,
            )
            before, self.step_num = self.current_action, self.step_num + 1
            self.current_action = self._action()
            if before is self.current_action is ProfilerAction.RECORD:
                transition: Transition = ()  # as the table has it, without looking
            else:
                transition = TRANSITIONS[before, self.current_action]
                if transition:
                    self._recorder.end_step()  # what we do is no part of a step
                self._go(transition)
            self._recorder.step(self.first_step + self.step_num)
            self._idle.step_begins(opened_window=Do.START in transition)

    def add_metadata(self, key: str, value: str) -> None:
        """Adds a text to ``profiler_metadata.json``, of this run directory and of later ones."""
        with guarded(f"{self._name}.add_metadata"):
            if self._recorder.metadata.add(key, value):
                self._recorder.pass_on_metadata(key)

    def add_metadata_json(self, key: str, value: str) -> None:
        """Adds what a JSON text stands for."""
        with guarded(f"{self._name}.add_metadata_json"):
            if self._recorder.metadata.add_json(key, value):
                self._recorder.pass_on_metadata(key)

    def effective_parameters(self) -> dict[str, Any]:
        """The parameters after checking, as ``profiler_info_<rank>.json`` has them."""
        return self._parameters.effective()

    def analyse_windows(
        self,
        choices: Choices | None = None,
        in_background: bool = False,
        most_seconds: float | None = None,
    ) -> None:
        """Analyses the windows that are complete and have not been analysed yet. What is not done
        in time goes on by itself."""
        self._recorder.analyse(choices or Choices(), in_background, most_seconds)

    def __enter__(self: _S) -> _S:
        if not self._started:
            self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._started:
            self.stop()

    def __del__(self) -> None:
        if self.__dict__.get("_started_in") == os.getpid():
            self.stop()
            logger.warning(
                "a %s was deleted while it recorded; as at the end of the program, it is stopped "
                "and what it recorded is kept",
                self._name,
            )

    def stop_at_exit(self) -> None:
        """What the end of the program does to a profiler that nobody stopped."""
        if self._recorder.window:
            logger.warning("a %s is still recording at the end of the program: stopped", self._name)
        self.stop()

    @property
    def _name(self) -> str:
        return type(self).__name__

    @property
    def marks_steps(self) -> bool:
        """Whether it says itself which step begins when it starts."""
        return self._parameters.schedule is not None

    @property
    def described(self) -> str:
        """For those who did not expect it to record."""
        return f"a {self._name} of this program"

    @property
    def _started(self) -> bool:
        return self._started_in == os.getpid()

    def _may_stop(self) -> bool:
        if not self._started:
            logger.error("%s.stop(): it has not started, there is nothing to stop", self._name)
        return self._started

    def _enter(self) -> None:
        self._recorder.clear()  # a forked child has its parent's
        self._recorder.look_around(self._name)
        self._recorder.begin()
        self._go(TRANSITIONS[ProfilerAction.NONE, self.current_action])
        self._started_in = os.getpid()
        _running.add(self)
        if self._parameters.schedule:
            self._recorder.step(self.first_step + self.step_num)
        elif not self.marks_steps:
            self._recorder.await_first_step()
        self._idle.step_begins(opened_window=False)

    def _leave(self) -> None:
        self._recorder.is_idle = self._idle.since_step()
        self._started_in = None
        _running.discard(self)
        self._go(self._exit())
        self._recorder.leave()
        self._recorder.end()

    def _exit(self) -> Transition:
        return TRANSITIONS[self.current_action, None]

    def _go(self, transition: Transition) -> None:
        for do in transition:
            if do is Do.WARN:
                self._warn()
            elif do is Do.DELIVER:
                self._recorder.deliver(self)
            else:
                getattr(self._recorder, do.value)()

    def _warn(self) -> None:
        if self._parameters.schedule:
            logger.warning(
                "step %d (%s) is not the end of a cycle. Incorrect schedule, or a loop that ended "
                "early: %s",
                self.step_num,
                self.current_action.name,
                self._schedule_text,
            )

    @property
    def _schedule_text(self) -> str:
        schedule = self._parameters.schedule
        return str(schedule) if isinstance(schedule, Schedule) else f"schedule function {schedule}"

    def _action(self) -> ProfilerAction:
        if not self._parameters.schedule:
            return ProfilerAction.RECORD
        given = self._parameters.schedule(self.step_num)
        action = ProfilerAction.of(given)
        if action:
            return action
        self._once.log(logging.ERROR, "the schedule must return a ProfilerAction: taken as NONE")
        return ProfilerAction.NONE


def _with_handler(given: Parameters) -> Parameters:
    """A handler may say where the runs go."""
    handler = trace_handler(given.on_trace_ready)
    path = given.output_path
    if isinstance(handler, TraceHandler) and handler.folder:
        path = str(handler.folder)
        if "output_path" in given.asked:
            logger.warning("the on_trace_ready path takes the place of output_path: %s", path)
    return replace(given, on_trace_ready=handler, output_path=path)


def _look_at_function(first: ProfilerAction) -> None:
    if first in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE):
        advise("the schedule records step 0, which then also shows the recorder's start")


def who_records() -> str:
    """A sentence about the profiler of this program that records now; "" if there is none, or only
    the recording around the program, which others join."""
    for session in list(_running):
        if session._started and session._recorder.window:
            return f"{session.described} is recording into {session._recorder.window.path}"
    record = sys.modules.get("stepscope._record")
    if record and record.is_recording() and not outer_run():
        return "another profiler is recording"
    return ""


# An interpreter ends once, for all of its profilers.
_running: weakref.WeakSet[Session] = weakref.WeakSet()


@atexit.register
def _end_of_program() -> None:
    for session in list(_running):
        if session._started:
            with guarded("stop at the end of the program"):
                session.stop_at_exit()
    with guarded("waiting for analyses"):
        analysis.background.finish(analysis.MOST_SECONDS_AT_EXIT)
