"""Recording trainings of mindformers.

``stepscope record -- python run_mindformer.py --config x.yaml`` needs nothing of this: mindformers'
own monitor then records with our profiler. Where Stepscope's monitor is wanted, which also knows
data sinking, the program says so before it makes its Trainer, and the YAML stays as it is:

    from stepscope.mindformers import replace_profile_monitor

    replace_profile_monitor()
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stepscope.mindformers.monitor import ProfileMonitor
    from stepscope.mindformers.settings import MonitorSettings
    from stepscope.mindformers.sinks import round_as_mindformers, round_to_sinks
    from stepscope.mindformers.trainer import profile_monitor, replace_profile_monitor

# `monitor` imports MindSpore; arithmetic and settings do without it.
_HOME = {
    "MonitorSettings": "settings",
    "ProfileMonitor": "monitor",
    "profile_monitor": "trainer",
    "replace_profile_monitor": "trainer",
    "round_as_mindformers": "sinks",
    "round_to_sinks": "sinks",
}

__all__ = [
    "MonitorSettings",
    "ProfileMonitor",
    "profile_monitor",
    "replace_profile_monitor",
    "round_as_mindformers",
    "round_to_sinks",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'stepscope.mindformers' has no attribute {name!r}")
    value: object = getattr(import_module(f"stepscope.mindformers.{_HOME[name]}"), name)
    globals()[name] = value
    return value
