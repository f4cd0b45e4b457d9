"""What happens between two steps: a table from the action that ends and the one that begins.

The table is that of the MindSpore profiler but for three cells. It starts and stops an empty
recording when a warm-up is not followed by a recording, and leaves its folder behind; here a folder
is made by START, so that a warm-up alone leaves nothing. And after RECORD -> WARM_UP it never gets
ready again; here it does.
"""

from __future__ import annotations

from enum import Enum

from stepscope.profiler.enums import ProfilerAction


class Do(Enum):
    #: loads what recording needs, so that the first recorded step does not pay for it
    PREPARE = "prepare"
    #: makes the run directory and records into it
    START = "start"
    STOP = "stop"
    #: completes the run directory
    FINALISE = "finalise"
    #: calls on_trace_ready
    DELIVER = "deliver"
    #: forgets the run directory; the next START makes another
    CLEAR = "clear"
    #: the schedule and the loop do not fit together
    WARN = "warn"


Transition = tuple[Do, ...]

_NONE, _WARM_UP = ProfilerAction.NONE, ProfilerAction.WARM_UP
_RECORD, _SAVE = ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE
#: completes a window without handing it over
KEEP = (Do.STOP, Do.FINALISE, Do.CLEAR)
_SAVED = (Do.STOP, Do.FINALISE, Do.DELIVER, Do.CLEAR)

#: The second action is None when the profiler is stopped.
TRANSITIONS: dict[tuple[ProfilerAction, ProfilerAction | None], Transition] = {
    (_NONE, _NONE): (),
    (_NONE, _WARM_UP): (Do.PREPARE,),
    (_NONE, _RECORD): (Do.PREPARE, Do.START),
    (_NONE, _SAVE): (Do.PREPARE, Do.START),
    (_NONE, None): (),
    (_WARM_UP, _NONE): (Do.WARN, Do.CLEAR),
    (_WARM_UP, _WARM_UP): (),
    (_WARM_UP, _RECORD): (Do.START,),
    (_WARM_UP, _SAVE): (Do.START,),
    (_WARM_UP, None): (Do.WARN, Do.CLEAR),
    (_RECORD, _NONE): (Do.WARN, *KEEP),
    (_RECORD, _WARM_UP): (Do.WARN, *KEEP, Do.PREPARE),
    (_RECORD, _RECORD): (),
    (_RECORD, _SAVE): (),
    (_RECORD, None): (Do.WARN, *_SAVED),
    (_SAVE, _NONE): _SAVED,
    (_SAVE, _WARM_UP): (*_SAVED, Do.PREPARE),
    (_SAVE, _RECORD): (*_SAVED, Do.PREPARE, Do.START),
    (_SAVE, _SAVE): (*_SAVED, Do.PREPARE, Do.START),
    (_SAVE, None): (Do.WARN, *_SAVED),
}
