"""The words of the profiler's parameters. Values are what files and environment options hold."""

from __future__ import annotations

from enum import Enum


class ProfilerLevel(Enum):
    """How much is collected from the device."""

    #: nothing of the device's operators; only together with ``mstx``
    LevelNone = "LevelNone"
    #: durations of kernels and of whole communication operators
    Level0 = "Level0"
    #: and the driver's API calls, counters of the cores, parts of communication operators
    Level1 = "Level1"
    #: and the runtime below
    Level2 = "Level2"


class ProfilerActivity(Enum):
    """Where events come from."""

    CPU = "CPU"
    NPU = "NPU"
    GPU = "GPU"


class AicoreMetrics(Enum):
    """The group of counters that an Ascend core collects; one at a time."""

    PipeUtilization = "PipeUtilization"
    ArithmeticUtilization = "ArithmeticUtilization"
    Memory = "Memory"
    MemoryL0 = "MemoryL0"
    MemoryUB = "MemoryUB"
    ResourceConflictRatio = "ResourceConflictRatio"
    L2Cache = "L2Cache"
    MemoryAccess = "MemoryAccess"
    AiCoreNone = "None"


class ExportType(Enum):
    """The form of the analysis' files."""

    Text = "text"
    Db = "db"


class HostSystem(Enum):
    """Counters of the machine."""

    CPU = "cpu"
    MEM = "mem"
    DISK = "disk"
    NETWORK = "network"
    OSRT = "osrt"


class ProfilerAction(Enum):
    """What the profiler does during a step."""

    NONE = 0
    WARM_UP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3

    @staticmethod
    def of(given: object) -> ProfilerAction | None:
        """This one, or MindSpore's or torch's of the same name; torch writes WARMUP."""
        if isinstance(given, ProfilerAction):
            return given
        name = str(getattr(given, "name", "")).replace("WARMUP", "WARM_UP")
        return ProfilerAction.__members__.get(name)

    @staticmethod
    def get_by_value(value: int) -> ProfilerAction | None:
        return next((action for action in ProfilerAction if action.value == value), None)
