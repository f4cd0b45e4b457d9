"""Configurations of training suites, which are dictionaries here and objects there."""

from __future__ import annotations

from typing import Any


def value_of(config: Any, name: str, default: Any = None) -> Any:
    """The default where it is missing or None."""
    value = config.get(name) if hasattr(config, "get") else getattr(config, name, None)
    return default if value is None else value
