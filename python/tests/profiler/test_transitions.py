from __future__ import annotations

from stepscope.profiler import ProfilerAction
from stepscope.profiler.transitions import TRANSITIONS, Do

LETTERS = {
    Do.PREPARE: "I",
    Do.START: "S",
    Do.STOP: "P",
    Do.FINALISE: "F",
    Do.DELIVER: "T",
    Do.CLEAR: "C",
    Do.WARN: "W",
}

# The MindSpore profiler's table, in its order of columns: NONE, WARM_UP, RECORD, RECORD_AND_SAVE,
# and the end of the profiler.
MINDSPORE = """
NONE            | -      | I      | I S       | I S       | -
WARM_UP         | W S P F C | -   | S         | S         | W F C
RECORD          | W P F C | W P F C | -       | -         | W P F T C
RECORD_AND_SAVE | P F T C | P F T C I | P F T C I S | P F T C I S | W P F T C
"""

# Where ours differs, see transitions.py.
OURS = {
    ("WARM_UP", "NONE"): "W C",
    ("WARM_UP", "end"): "W C",
    ("RECORD", "WARM_UP"): "W P F C I",
}


def test_table() -> None:
    columns = [*ProfilerAction, None]
    compared = 0
    for line in MINDSPORE.strip().splitlines():
        before, *cells = (cell.strip() for cell in line.split("|"))
        for after, cell in zip(columns, cells):
            expected = OURS.get((before, after.name if after else "end"), cell)
            steps = TRANSITIONS[ProfilerAction[before], after]
            assert " ".join(LETTERS[do] for do in steps) == expected.strip("-"), (before, after)
            compared += 1
    assert compared == len(TRANSITIONS) == 20
