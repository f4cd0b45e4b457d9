"""One thread's memcpy in bytes per second, best of five. Not a tool: the machine's own limit."""

from __future__ import annotations

import os
import time

SIZE_BYTES = 256 << 20

source = bytearray(os.urandom(1 << 20)) * (SIZE_BYTES >> 20)
target = bytearray(SIZE_BYTES)
best_s = float("inf")
for _ in range(5):
    start = time.perf_counter()
    memoryview(target)[:] = source
    best_s = min(best_s, time.perf_counter() - start)
print(SIZE_BYTES / best_s)
