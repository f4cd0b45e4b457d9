"""mindformers' Trainer with our monitor, from the keys of its YAML."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

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


def replace_profile_monitor(make: Callable[[Any], Any] = profile_monitor) -> None:
    """Makes every Trainer that comes after it use our monitor in the place of mindformers' own,
    where its ``profile`` is true.

    Args:
        make: makes a callback of the Trainer's configuration; another than ``profile_monitor``, for
            example, to watch a folder with ``DynamicProfilerMonitor``.
    """
    from mindformers import Trainer

    def build(trainer: Any) -> None:
        if trainer.config.profile:
            trainer.config.auto_tune = False  # as mindformers does: its trials would be recorded
            trainer.config.profile_cb = make(trainer.config)

    Trainer._build_profile_cb = build
