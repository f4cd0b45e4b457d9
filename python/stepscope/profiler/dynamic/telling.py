"""How a rank does, as it tells the world: what the training thread knows, and when to write it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from stepscope.profiler.dynamic.status import StatusFile, jobs, process

if TYPE_CHECKING:
    from stepscope.profiler.dynamic.config import Config
    from stepscope.profiler.ranks import Place

# How often a rank tells of itself. The folder may be on a network, and the ranks thousands.
_BUSY = 1.0
_IDLE = 5.0
_LATEST = 30.0
_RANKS_A_SECOND = 100
_NEW = 10.0  # seconds in which its speed is not known well


class Telling:
    """Attributes are the training thread's, whole at any time; methods are the helper's."""

    def __init__(self, folder: Path, place: Place) -> None:
        self.place = place
        #: watching, armed, recording, finished, missed, not chosen, ended
        self.state = "watching"
        #: what the state is about
        self.about: Config | None = None
        self.path = ""
        self.error = ""
        #: "missed" because the steps were over: later ones may be asked for
        self.is_late = False
        #: what the helper knows: the last version of the file, and why one was not taken
        self.taken: Config | None = None
        self.refused = ""
        #: seconds that a change may stay unseen
        self.poll_interval = 0.0
        self.is_due = True
        #: whether other ranks watch the folder, as far as the helper has seen
        self.has_others = False
        self.file = StatusFile(folder)
        self._began = self._last = self._measured = time.monotonic()
        self._step = 0
        self._rate = 0.0
        self._written_state = ""

    @property
    def interval(self) -> float:
        is_new = time.monotonic() - self._began < _NEW
        if is_new or self.state in ("armed", "recording"):
            return _BUSY
        ranks = self.place.world_size or 1
        return min(max(_IDLE, ranks / _RANKS_A_SECOND), _LATEST)

    def look(self, step: int) -> None:
        """Writes if there is something to tell, or it is time."""
        now = time.monotonic()
        if now - self._measured >= 1.0:
            rate = max(step - self._step, 0) / (now - self._measured)
            self._rate = 0.5 * (self._rate + rate) if self._rate else rate
            self._measured, self._step = now, step
        if self.is_due or self.state != self._written_state or now - self._last >= self.interval:
            self.write(step)

    def write(self, step: int) -> None:
        self.is_due = False
        self._last, self._written_state = time.monotonic(), self.state
        about = self.about
        content = {
            "rank": self.place.rank,
            "world_size": self.place.world_size,
            **process(),
            "jobs": jobs(),
            "state": self._written_state,
            "window": [about.start, about.stop] if about and about.start else None,
            "request": about.request if about else "",
            "taken": self.taken.request if self.taken else "",
            "step": step,
            "steps_per_second": round(self._rate, 6),
            "output": self.path,
            "error": self.error,
            "late": self.is_late,
            "refused": self.refused,
            "updated": time.time(),
            "next_update_s": self.interval,
            "poll_interval_s": self.poll_interval,
        }
        self.file.write(self.place.rank, content)
        if (self.place.world_size or 1) == 1:  # nobody else wants to know
            self.has_others = self.file.others()
