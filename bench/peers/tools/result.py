"""How a tool's script tells run.py what it found: one JSON line at the end of its output."""

from __future__ import annotations

import importlib.metadata
import json


def report(slices: int, package: str | None = None, failed: list[str] | None = None) -> None:
    """How many slices (X events) the tool holds, which version of it ran, what it could not do."""
    version = importlib.metadata.version(package) if package else ""
    print(json.dumps({"slices": slices, "version": version, "failed": failed or []}), flush=True)
