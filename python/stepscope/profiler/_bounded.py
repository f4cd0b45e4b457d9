"""Work on a disk that may hang, which the training must not wait for without end."""

from __future__ import annotations

import threading
from typing import Callable

#: seconds; as the collector waits for its writer
PATIENCE = 5.0


def within(seconds: float, work: Callable[[], None]) -> bool:
    """Does it on a thread of its own and raises what it raises. False when it takes longer: nobody
    can take a thread out of the disk, so that one is left behind, and does not keep the program
    from ending. Costs a thread, about 0.1 ms."""
    failures: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as failure:
            failures.append(failure)

    thread = threading.Thread(target=run, name="stepscope-disk", daemon=True)
    try:
        thread.start()
    except RuntimeError:  # the interpreter ends (3.12), or the system has none left
        work()
        return True
    thread.join(seconds)
    if thread.is_alive():
        return False
    if failures:
        raise failures[0]
    return True
