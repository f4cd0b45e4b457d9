"""What callbacks of trainers have in common: a profiler that follows the trainer's steps, and
ranges for its phases. Nothing here raises into the training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from stepscope import _record
from stepscope.profiler._log import Once, guarded
from stepscope.torch import schedule
from stepscope.torch._profile import profile

_FOLDER = "stepscope"


class TrainerProfile:
    """Records the steps of a trainer.

    Args:
        options: those of ``stepscope.torch.profile``. By default five steps are recorded, after
            three others; ``schedule=None`` records all of them.
    """

    def __init__(self, options: dict[str, Any]) -> None:
        self._options = {"schedule": schedule(wait=2, warmup=1, active=5, repeat=1), **options}
        self._once = Once()
        self._step = 0
        self._phase: tuple[int, str] | None = None
        self._since = 0
        self.profiler: profile | None = None

    def start(self, folder: str, step: int) -> None:
        """The training begins; ``step`` steps of it have been done before."""
        with guarded("the profiler's start"):
            options = {"output_path": str(Path(folder) / _FOLDER), **self._options}
            self.profiler = profile(**options)
            self.profiler.first_step = step + 1
            self._step = step
            self.profiler.start()

    def steps_done(self, step: int) -> None:
        """``step`` steps of the training are done; nothing happens while that number stays."""
        with guarded("the profiler's step", self._once):
            self.end_phase()
            if self.profiler and step != self._step:
                self._step = step
                self.profiler.step()
            self.look_at_clock()

    def stop(self) -> None:
        with guarded("the profiler's stop"):
            self.end_phase()
            profiler, self.profiler = self.profiler, None
            if profiler:
                profiler.stop()

    def begin_phase(self, name: str) -> None:
        self.end_phase()
        self._phase = (_record.now(), name)

    def end_phase(self) -> None:
        phase, self._phase = self._phase, None
        if phase:
            _record.end_range(phase[0], _record.USER, _record.name(phase[1]))

    def restart_phase(self, name: str) -> None:
        """The open phase begins here, if it is that one."""
        if self._phase and self._phase[1] == name:
            self._phase = (_record.now(), name)

    def end_phase_since(self, start: int) -> None:
        """Ends the open phase, if it began there or later."""
        if self._phase and self._phase[0] >= start:
            self.end_phase()

    def look_at_clock(self) -> None:
        """A phase may begin here, of which only the end will be told."""
        self._since = _record.now()

    def phase_is_over(self, name: str) -> None:
        """A phase that began at the last look at the clock."""
        _record.end_range(self._since, _record.USER, _record.name(name))
        self.look_at_clock()
