"""Python's own json module: the whole document as objects."""

from __future__ import annotations

import json
import platform
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    document = json.load(file)
events = document["traceEvents"] if isinstance(document, dict) else document
slices = sum(event.get("ph") == "X" for event in events)
version = platform.python_version()
print(json.dumps({"slices": slices, "events": len(events), "version": version}))
