"""The worker processes of torch's DataLoader: what their batches take.

Lies outside ``stepscope.torch``, because a worker that was spawned imports it, and nothing more.
Everything is put into the worker, by the function that it starts with; the objects of the parent,
its DataLoader above all, stay as they are.
"""

from __future__ import annotations

from typing import Any, Callable

from stepscope import _record

# torch's own, while ours stands in its place. A forked worker has it from its parent; in one that
# was spawned torch's stands where it belongs.
_loop: Callable[..., Any] | None = None


class WorkerLoop:
    """What a worker starts with: torch's loop, with batches that are timed. It is pickled where
    workers are spawned, so it holds no functions."""

    def __init__(self, address: str, collate: int) -> None:
        self._address = address
        self._collate = collate

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        from torch.utils.data._utils.worker import _worker_loop

        try:
            if _record.join(self._address):
                _time_batches(self._collate)
        except Exception:  # a worker without times is as good as any
            pass
        return (_loop or _worker_loop)(*arguments, **options)


def install() -> None:
    """Workers that start from now on record their batches. Does nothing the second time."""
    global _loop
    from torch.utils.data._utils import worker

    address = _record.worker_address()
    if address and not isinstance(worker._worker_loop, WorkerLoop):
        _loop = worker._worker_loop
        worker._worker_loop = WorkerLoop(address, _record.name("collate"))


def remove() -> None:
    """Workers start as torch makes them. Those that run go on, and record nothing."""
    global _loop
    from torch.utils.data._utils import worker

    if isinstance(worker._worker_loop, WorkerLoop):
        worker._worker_loop = _loop
        _loop = None


def _time_batches(collate: int) -> None:
    from torch.utils.data._utils import fetch

    for kind in (fetch._MapDatasetFetcher, fetch._IterableDatasetFetcher):
        kind.fetch = _timed(kind.fetch, collate)


def _timed(fetch: Callable[..., Any], collate: int) -> Callable[..., Any]:
    now, end_range, pipeline = _record.now, _record.end_range, _record.PIPELINE

    def timed(fetcher: Any, index: Any) -> Any:
        start = now()
        if not start:
            return fetch(fetcher, index)
        if not isinstance(fetcher.collate_fn, _TimedCollate):
            fetcher.collate_fn = _TimedCollate(fetcher.collate_fn, collate)
        try:
            return fetch(fetcher, index)
        finally:
            end_range(start, pipeline, 0)  # 0: the stage that this process works for

    return timed


class _TimedCollate:
    def __init__(self, collate: Callable[..., Any], name: int) -> None:
        self._collate = collate
        self._name = name

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        start = _record.now()
        try:
            return self._collate(*arguments, **options)
        finally:
            _record.end_range(start, _record.PIPELINE, self._name)
