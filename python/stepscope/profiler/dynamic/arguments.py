"""What the monitor makes of wrong arguments: they never stop a training program."""

from __future__ import annotations

from pathlib import Path

from stepscope.profiler._log import logger
from stepscope.profiler.dynamic.config import FILE_NAME
from stepscope.profiler.run_directory import (
    ProfilerPathErrorException,
    absolute,
    check_path,
)

OUTPUT = "./dyn_profile_data"
POLL_INTERVAL = 2


def checked_interval(value: object) -> int:
    if type(value) is int and value >= 1:
        return value
    logger.error(
        "poll_interval must be a whole number of seconds from 1 on, not %r: reset to %d",
        value, POLL_INTERVAL,
    )  # fmt: skip
    return POLL_INTERVAL


def checked_output(value: object) -> Path:
    if not isinstance(value, str):
        logger.warning("output_path must be a string, not %r: reset to %s", value, OUTPUT)
        value = OUTPUT
    try:
        return check_path(value)
    except ProfilerPathErrorException as error:
        logger.error("output_path: %s: reset to %s", error, OUTPUT)
        return check_path(OUTPUT)


def checked_file(cfg_path: object) -> Path:
    """The configuration file: in the folder that is named, or what is named itself."""
    if not isinstance(cfg_path, str):
        raise TypeError(f"cfg_path must be a string, not {cfg_path!r}")
    path = Path(absolute(cfg_path))
    return path if path.suffix == ".json" and not path.is_dir() else path / FILE_NAME
