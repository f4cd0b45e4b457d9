"""DuckDB: read_json into a table, args kept as JSON text."""

from __future__ import annotations

import sys

import duckdb
from result import report

EVENT = (
    "STRUCT(ph VARCHAR, cat VARCHAR, name VARCHAR, pid VARCHAR, tid VARCHAR, "
    "ts DOUBLE, dur DOUBLE, args JSON)"
)
GIGABYTES_PER_OBJECT = 4  # read_json must hold the whole document as one object.

connection = duckdb.connect()
connection.execute(
    f"""
    CREATE TABLE events AS
    SELECT unnest(traceEvents, recursive := true)
    FROM read_json(?, columns = {{traceEvents: '{EVENT}[]'}}, format = 'auto',
                   maximum_object_size = {GIGABYTES_PER_OBJECT * 1_000_000_000 - 1})
    """,
    [sys.argv[1]],
)
row = connection.execute("SELECT count(*) FROM events WHERE ph = 'X'").fetchone()
assert row is not None
report(row[0], "duckdb")
