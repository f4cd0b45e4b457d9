"""mindformers' Trainer with our monitor, from the keys of its YAML."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stepscope.mindformers.settings import from_yaml

if TYPE_CHECKING:
    from stepscope.mindformers.monitor import ProfileMonitor


def profile_monitor(config: Any, as_mindformers: bool = False) -> ProfileMonitor | None:
    """The callback that a configuration asks for; None where its ``profile`` is not true.

    ``as_mindformers``: round to sinks as mindformers does, see ``round_as_mindformers``.
    """
    if not config.get("profile"):
        return None
    from stepscope.mindformers.monitor import ProfileMonitor

    return ProfileMonitor.of(from_yaml(config), config, as_mindformers)


def replace_profile_monitor(as_mindformers: bool = False) -> None:
    """Makes every Trainer that comes after it use our monitor in the place of mindformers' own."""
    from mindformers import Trainer

    def build(trainer: Any) -> None:
        monitor = profile_monitor(trainer.config, as_mindformers)
        if monitor is not None:
            trainer.config.auto_tune = False  # as mindformers does: its trials would be recorded
            trainer.config.profile_cb = monitor

    Trainer._build_profile_cb = build
