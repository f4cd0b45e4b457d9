"""The keys of a mindformers YAML that are about profiling, checked.

A wrong value never stops a training: it is replaced by the default, and the log says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from stepscope.profiler._log import logger

_FIRST, _LAST = 1, 10
_OUTPUT = "./output"

# What the YAML calls them, newest name first.
_KEYS = {
    "start_step": ("profile_start_step",),
    "stop_step": ("profile_stop_step",),
    "start_profile": ("init_start_profile",),
    "profile_communication": ("profile_communication",),
    "profile_memory": ("profile_memory",),
    "output_path": ("profile_output", "output_path", "output_dir"),
    "profile_rank_ids": ("profile_rank_ids",),
    "profile_pipeline": ("profile_pipeline",),
    "profiler_level": ("profiler_level", "profile_level"),
    "with_stack": ("with_stack",),
    "data_simplification": ("data_simplification",),
    "mstx": ("mstx",),
}


@dataclass(frozen=True)
class MonitorSettings:
    """Defaults are those of mindformers' documentation."""

    start_step: int = _FIRST
    stop_step: int = _LAST
    #: None: True, unless another start_step than the first was asked for
    start_profile: bool | None = None
    profile_communication: bool = False
    profile_memory: bool = False
    output_path: str = _OUTPUT
    #: None: all
    profile_rank_ids: tuple[int, ...] | None = None
    profile_pipeline: bool = False
    profiler_level: int = 0
    with_stack: bool = False
    data_simplification: bool = True
    mstx: bool = False

    @property
    def starts_at_once(self) -> bool:
        if self.start_profile is None:
            return self.start_step == _FIRST
        return self.start_profile

    def folder(self, rank: int) -> Path:
        """Where the recordings of a rank go."""
        if "{id}" in self.output_path:
            return Path(self.output_path.replace("{id}", str(rank)))
        return Path(self.output_path) / "profile" / f"rank_{rank}" / "profiler"

    def wants(self, rank: int, pipeline_ranks: frozenset[int]) -> bool:
        if self.profile_rank_ids is None and not self.profile_pipeline:
            return True
        return rank in (self.profile_rank_ids or ()) or rank in pipeline_ranks


def checked(**given: object) -> MonitorSettings:
    """None means "not given" everywhere."""
    usual = MonitorSettings()
    accepted = {
        name: _checked(name, value, getattr(usual, name))
        for name, value in given.items()
        if value is not None
    }
    return _reconciled(replace(usual, **accepted))


def from_yaml(config: Mapping[str, Any]) -> MonitorSettings:
    """Of a mindformers configuration, or of what ``yaml.safe_load`` returns."""
    found: dict[str, object] = {}
    for item in fields(MonitorSettings):
        values = (config.get(key) for key in _KEYS[item.name])
        found[item.name] = next((value for value in values if value is not None), None)
    return checked(**found)


def pipeline_ranks(stages: int, ranks: int) -> frozenset[int]:
    """The first rank of each stage.

    Raises:
        ValueError: the ranks cannot be divided into that many stages.
    """
    if stages < 1 or ranks % stages:
        raise ValueError(
            f"profile_pipeline: {ranks} ranks cannot be divided into {stages} pipeline stages"
        )
    return frozenset(range(0, ranks, ranks // stages))


def _checked(name: str, value: object, usual: Any) -> Any:
    whole = isinstance(value, int) and not isinstance(value, bool)
    if name in ("start_step", "stop_step"):
        fits, wanted = whole and value >= 1, "a step's number, 1 is the first"  # type: ignore[operator]
    elif name == "profiler_level":
        fits, wanted = whole and value in (0, 1, 2), "0, 1 or 2"
    elif name == "profile_rank_ids":
        ranks = value if isinstance(value, (list, tuple)) else (None,)
        fits = all(isinstance(rank, int) and not isinstance(rank, bool) for rank in ranks)
        wanted = "a list of ranks"
        value = tuple(ranks) or None  # an empty list has always meant all
    elif name == "output_path":
        fits, wanted = isinstance(value, str) and bool(value), "the name of a folder"
    else:
        fits, wanted = isinstance(value, bool), "true or false"
    if fits:
        return value
    logger.warning("%s must be %s, not %r: reset to %r", _KEYS[name][0], wanted, value, usual)
    return usual


def _reconciled(s: MonitorSettings) -> MonitorSettings:
    if s.start_step > s.stop_step:
        logger.warning(
            "profile_start_step %d is behind profile_stop_step %d: reset to %d and %d",
            s.start_step, s.stop_step, _FIRST, _LAST,
        )  # fmt: skip
        s = replace(s, start_step=_FIRST, stop_step=_LAST)
    if s.start_profile and s.start_step != _FIRST:
        logger.warning(
            "init_start_profile starts at once: profile_start_step %d has no effect. Set "
            "init_start_profile to False to start with that step, as newer mindformers do anyway",
            s.start_step,
        )
    if s.profile_communication and s.profiler_level == 0:
        logger.warning("profile_communication needs profiler_level 1 or 2: set to 1")
        s = replace(s, profiler_level=1)
    return s
