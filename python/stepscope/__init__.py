"""Where the time and the memory of a training step go.

    import stepscope

    with stepscope.open("trace.json.gz") as run:
        print(run.query("select name, sum(dur) as ns from kernels group by name order by ns desc"))
        kernels = run.table("kernels", columns=["name", "ts", "dur"])
        longest = kernels["dur"].max()

The tables and their columns are those of SQL, see docs/schema.md; times are integers in
nanoseconds.
"""

from __future__ import annotations

from stepscope._errors import StepscopeError, StepscopeWarning
from stepscope._native import version as __version__
from stepscope._run import Finding, Rank, Run, open
from stepscope._table import Table

__all__ = [
    "Finding",
    "Rank",
    "Run",
    "StepscopeError",
    "StepscopeWarning",
    "Table",
    "__version__",
    "open",
]
