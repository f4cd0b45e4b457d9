"""polars: five columns of every event, without args."""

from __future__ import annotations

import sys

import polars
from result import report

# One field type throughout: pid, tid and id are numbers in some events and strings in others.
EVENT = polars.Struct(
    {
        "ph": polars.String,
        "cat": polars.String,
        "name": polars.String,
        "ts": polars.Float64,
        "dur": polars.Float64,
    }
)

document = polars.read_json(sys.argv[1], schema={"traceEvents": polars.List(EVENT)})
events = document.explode("traceEvents").unnest("traceEvents")
report(events.filter(polars.col("ph") == "X").height, "polars")
