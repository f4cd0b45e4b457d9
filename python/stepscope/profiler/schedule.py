"""Which steps are recorded."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from stepscope.profiler._log import logger
from stepscope.profiler.enums import ProfilerAction


@dataclass(frozen=True)
class Schedule:
    """``skip_first`` steps nothing; then cycles of ``wait``, ``warmup`` and ``active`` steps."""

    wait: int
    active: int
    warmup: int = 0
    #: number of cycles; 0: until the program ends
    repeat: int = 0
    skip_first: int = 0

    def __call__(self, step: int) -> ProfilerAction:
        """What to do during a step; the first one is 0."""
        if step < 0:
            raise ValueError(f"steps are counted from 0, there is no step {step}")
        if step < self.skip_first:
            return ProfilerAction.NONE
        length = self.wait + self.warmup + self.active
        cycle, place = divmod(step - self.skip_first, length)
        if 0 < self.repeat <= cycle or place < self.wait:
            return ProfilerAction.NONE
        if place < self.wait + self.warmup:
            return ProfilerAction.WARM_UP
        return ProfilerAction.RECORD if place < length - 1 else ProfilerAction.RECORD_AND_SAVE

    def to_dict(self) -> dict[str, int]:
        return asdict(self)

    def __str__(self) -> str:
        return f"schedule({', '.join(f'{name}={value}' for name, value in asdict(self).items())})"


def numbers_of(function: Any) -> dict[str, int] | None:
    """What a schedule was made with; None of a function that only it knows of. That of
    ``torch.profiler.schedule`` keeps its numbers as variables around it."""
    if isinstance(function, Schedule):
        return function.to_dict()
    if getattr(function, "__qualname__", "") != "schedule.<locals>.schedule_fn":
        return None
    cells = zip(function.__code__.co_freevars, function.__closure__ or ())
    found = {name: cell.cell_contents for name, cell in cells}
    known = {name: found[name] for name in Schedule.__dataclass_fields__ if name in found}
    if len(known) != len(Schedule.__dataclass_fields__):
        return None
    skips_wait = found.get("skip_first_wait", 0)  # of the first cycle; not in every torch
    return {**known, "skip_first_wait": skips_wait} if skips_wait else known


def schedule(
    *, wait: int, active: int, warmup: int = 0, repeat: int = 0, skip_first: int = 0
) -> Schedule:
    """Makes a schedule. Wrong numbers are replaced, with a line in the log.

    Args:
        wait: steps of each cycle in which nothing happens.
        active: steps of each cycle that are recorded.
        warmup: steps between them, in which the recorder gets ready.
        repeat: number of cycles; 0: until the program ends.
        skip_first: steps before the first cycle.
    """
    result = Schedule(
        wait=_at_least(0, "wait", wait),
        active=_at_least(1, "active", active),
        warmup=_at_least(0, "warmup", warmup),
        repeat=_at_least(0, "repeat", repeat),
        skip_first=_at_least(0, "skip_first", skip_first),
    )
    if not result.warmup:
        logger.warning("%s has no warm-up: its first step also shows the recorder's start", result)
    return result


def schedule_of_any_age(
    *,
    wait: int,
    active: int,
    warmup: int = 0,
    repeat: int = 0,
    skip_first: int = 0,
    warm_up: int = 0,
) -> Schedule:
    """As ``schedule``, for programs of MindSpore 2.5 too, which say ``warm_up``: what
    ``mindspore.profiler.schedule`` is where Stepscope takes its place."""
    chosen = warmup if warm_up == 0 else warm_up
    return schedule(wait=wait, active=active, warmup=chosen, repeat=repeat, skip_first=skip_first)


def _at_least(least: int, name: str, value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value >= least:
        return value
    logger.warning(
        "schedule: %s must be a whole number from %d on, not %r: reset to %d",
        name, least, value, least,
    )  # fmt: skip
    return least
