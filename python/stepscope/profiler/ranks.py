"""Who this process is in a distributed job.

Frameworks are asked only if the program has imported them already: importing one here could cost
seconds, or choose a device behind the program's back.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass

_RANK = ("RANK_ID", "RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID")
_WORLD = ("RANK_SIZE", "WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS")
_DEVICE = ("DEVICE_ID", "LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID")


@dataclass(frozen=True)
class Place:
    rank: int
    #: None: nobody said
    world_size: int | None
    device: int


def find_place() -> Place:
    rank, world_size = _from_torch() or _from_mindspore() or (None, None)
    if rank is None:
        rank = _number(_RANK)
        world_size = _number(_WORLD)
    return Place(rank or 0, world_size, _number(_DEVICE) or 0)


def _from_torch() -> tuple[int, int] | None:
    distributed = sys.modules.get("torch.distributed")
    try:
        if distributed and distributed.is_available() and distributed.is_initialized():
            return int(distributed.get_rank()), int(distributed.get_world_size())
    except Exception:  # half-imported, or of a kind that we do not know: the environment may say
        pass
    return None


def _from_mindspore() -> tuple[int, int] | None:
    communication = sys.modules.get("mindspore.communication")
    try:
        if communication:
            return int(communication.get_rank()), int(communication.get_group_size())
    except Exception:  # raises until init() was called
        pass
    return None


def _number(names: Sequence[str]) -> int | None:
    texts = (os.environ.get(name, "") for name in names)
    return next((int(text) for text in texts if text.isascii() and text.isdigit()), None)
