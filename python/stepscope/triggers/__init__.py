"""Captures of what happens in a training program, with the seconds before it.

    import stepscope.triggers

    with stepscope.triggers.watch("captures") as watch:
        for batch in batches:
            train(batch)
            watch.step()  # not needed where PyTorch's optimizer or MindSpore's Model steps

Recording is on all the time, but nothing is written: the last seconds are kept in memory. A slow
step, a stall, a failed allocation or a signal that ends the program writes them into a run
directory, with some steps more; ``stepscope info`` and the report say why. docs/triggers.md has the
rules, and what is caught on which framework.
"""

from stepscope.triggers.rules import Rules, SlowStep
from stepscope.triggers.watch import Capture, Watch, watch

__all__ = ["Capture", "Rules", "SlowStep", "Watch", "watch"]
