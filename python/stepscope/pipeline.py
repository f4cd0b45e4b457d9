"""The input pipeline of a training program: its stages, and the queues between them.

    from stepscope.pipeline import Stage

    read = Stage("read", workers=1, capacity=64)
    decode = Stage("decode", kind="map", workers=4, capacity=16, input=read)

    with decode.item():                # what it takes to make one
        image = decode_image(data)
    images = decode.watch(queue.Queue(16))
    images.put(image)                  # sizes, and how long a producer waits for room
    batch = images.get()               # ... or a consumer for an item

They end in the tables ``stages`` and ``queues`` and as slices, like those of torch's DataLoader and
of MindSpore's minddata, which need none of this. Nothing here raises because of a recording; while
nothing records, a call costs a tenth of a microsecond or two.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Any, Generic, Protocol, TypeVar

from stepscope import _record

_T = TypeVar("_T")
_NOT_KNOWN = -1


class _Queue(Protocol[_T]):
    """What queues have in common: ``queue``'s, ``multiprocessing``'s, and many others."""

    def get(self, *arguments: Any, **options: Any) -> _T: ...
    def put(self, item: _T, *arguments: Any, **options: Any) -> Any: ...
    def qsize(self) -> int: ...


class Stage:
    """A stage of the pipeline, and the queue that it fills.

    Args:
        name: as it is called in ``stages``, ``queues`` and ``slices``.
        kind: what it does, in a word: "read", "map", "batch".
        workers: threads or processes that work for it.
        capacity: of its queue.
        input: the stage that it takes from, or several.
    """

    def __init__(
        self,
        name: str,
        *,
        kind: str = "",
        workers: int = 0,
        capacity: int = 0,
        input: Stage | Iterable[Stage] | None = None,
    ) -> None:
        self.name = name
        self._kind = kind
        self._workers = max(int(workers), 0)
        self._inputs = [input] if isinstance(input, Stage) else list(input or ())
        self._process = os.getpid()
        self._address = _record.worker_address()
        self._id = 0
        self._describe(max(int(capacity), 0))

    def item(self) -> _Item:
        """``with stage.item():`` is around what makes one item."""
        return _Item(self._id)

    def items(self, iterable: Iterable[_T]) -> Iterator[_T]:
        """The items of an iterable; getting each of them is the stage's work."""
        source = iter(iterable)
        while True:
            with self.item():
                try:
                    item = next(source)
                except StopIteration:
                    return
            yield item

    def size(self, items: int) -> None:
        """A sample of the number of items in the queue."""
        _record.queue_size(self._id, items)

    def watch(self, queue: _Queue[_T]) -> WatchedQueue[_T]:
        """The stage's queue, whose ``get`` and ``put`` record sizes and waits. Hand it to all who
        use the queue."""
        capacity = _capacity_of(queue)
        if capacity and os.getpid() == self._process:
            self._describe(capacity)
        return WatchedQueue(queue, self._id)

    def work(self) -> None:
        """Says that the calling thread works for the stage, so that its processor time is the
        stage's. In a worker process also lets it record into its parent's recording; stages are
        made in the parent, before."""
        if os.getpid() == self._process:
            _record.stage_worker(self._id, 0)
        elif self._address:
            _record.join(self._address)

    def employ(self, process: int) -> None:
        """Says that a process, given by its id, works for the stage."""
        _record.stage_worker(self._id, process)

    def end(self) -> None:
        """Later recordings do not know the stage any more."""
        _record.end_stage(self._id)

    def _describe(self, capacity: int) -> None:
        first = self._inputs[0]._id if self._inputs else 0
        self._id = _record.stage(self.name, self._kind, self._workers, capacity, first)
        for other in self._inputs[1:]:
            _record.stage_input(self._id, other._id)


class _Item:
    __slots__ = ("_stage", "_start")

    def __init__(self, stage: int) -> None:
        self._stage = stage
        self._start = 0

    def __enter__(self) -> None:
        self._start = _record.now()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _record.end_range(self._start, _record.PIPELINE, self._stage)


class WatchedQueue(Generic[_T]):
    """A queue whose ``get`` and ``put`` are recorded; anything else is the queue's own."""

    def __init__(self, queue: _Queue[_T], stage: int) -> None:
        self._queue = queue
        self._stage = stage
        self._got = itertools.count(1)
        self._put = itertools.count(1)

    def get(self, *arguments: Any, **options: Any) -> _T:
        start = _record.now()
        if not start:
            next(self._got)
            return self._queue.get(*arguments, **options)
        size = _size_of(self._queue)
        item = self._queue.get(*arguments, **options)
        _record.queue_get(start, self._stage, size, next(self._got))
        return item

    def put(self, item: _T, *arguments: Any, **options: Any) -> Any:
        start = _record.now()
        if not start:
            next(self._put)
            return self._queue.put(item, *arguments, **options)
        size = _size_of(self._queue)
        answer = self._queue.put(item, *arguments, **options)
        _record.queue_put(start, self._stage, size, next(self._put))
        return answer

    def get_nowait(self) -> _T:
        return self.get(False)

    def put_nowait(self, item: _T) -> Any:
        return self.put(item, False)

    def __getattr__(self, name: str) -> Any:
        if name == "_queue":  # not there yet while a copy is unpickled
            raise AttributeError(name)
        return getattr(self._queue, name)


def _size_of(queue: Any) -> int:
    try:
        return int(queue.qsize())
    except Exception:  # some have it and cannot tell
        return _NOT_KNOWN


def _capacity_of(queue: object) -> int:
    for name in ("maxsize", "_maxsize"):
        value = getattr(queue, name, None)
        # multiprocessing's queues without a bound have that of a semaphore.
        if isinstance(value, int) and 0 < value < 2**31 - 1:
            return value
    return 0
