"""torch's DataLoader as a pipeline: how long the loop waits, what lies ready, who works for it.

While a window records, ``__next__`` of DataLoader's iterators is ours and calls torch's; iterators,
loaders and batches are torch's own. What is known of an iterator is read from its attributes, as
torch 2.15 has them; a version without one loses the sizes or the workers, and nothing else.
"""

from __future__ import annotations

import functools
import weakref
from typing import Any, Callable

from stepscope import _record
from stepscope.profiler._log import Once, guarded

_NOT_KNOWN = -1


class Loaders:
    """Numbers loaders, so that one has the same name in all windows. Numbers of those that are gone
    are given again."""

    def __init__(self) -> None:
        #: by id(); the reference tells whether the id was reused
        self._numbers: dict[int, tuple[weakref.ref[Any], int]] = {}

    def number_of(self, iterator: Any) -> int:
        # An iterator does not know its loader, but each loader has a sampler of its own.
        for owner in (iterator._index_sampler, iterator._dataset, iterator):
            known = self._numbers.get(id(owner))
            if known and known[0]() is owner:
                return known[1]
            try:
                reference = weakref.ref(owner)
            except TypeError:  # a list, for one
                continue
            self._numbers = {key: pair for key, pair in self._numbers.items() if pair[0]()}
            taken = {number for _, number in self._numbers.values()}
            number = next(n for n in range(len(taken) + 1) if n not in taken)
            self._numbers[id(owner)] = (reference, number)
            return number
        return 0


_loaders = Loaders()


class _View:
    """One iterator as a pipeline."""

    def __init__(self, iterator: Any, number: int) -> None:
        self._iterator = weakref.ref(iterator)
        name = f"DataLoader_{number}"
        workers = int(getattr(iterator, "_num_workers", 0))
        capacity = workers * int(getattr(iterator, "_prefetch_factor", None) or 0)
        kind = f"DataLoader of {type(iterator._dataset).__name__}"
        #: the stage that makes batches, and the one that the loop takes them from
        self.maker = self.stage = _record.stage(name, kind, workers, capacity, 0)
        self.in_loop = workers == 0
        for worker in getattr(iterator, "_workers", ()):
            if worker.pid:
                _record.stage_worker(self.maker, worker.pid)
        thread = getattr(iterator, "_pin_memory_thread", None)
        if thread is not None:
            self.stage = _record.stage(f"{name} pin_memory", "pin_memory", 1, capacity, self.maker)
            if thread.native_id:
                _record.stage_worker(self.stage, thread.native_id)

    @property
    def stages(self) -> set[int]:
        return {self.maker, self.stage}

    def shows(self, iterator: Any) -> bool:
        return self._iterator() is iterator

    @property
    def is_over(self) -> bool:
        return self._iterator() is None

    def ready(self, iterator: Any) -> int:
        """Batches that the loop can have without waiting. Of workers that take turns, the next one
        in order may be missing all the same."""
        if self.in_loop:
            return _NOT_KNOWN
        if self.stage != self.maker:
            _record.queue_size(self.maker, iterator._worker_result_queue.qsize())
        # Those that came out of turn wait in _task_info, among those that are still being made.
        kept: int = len(iterator._task_info) - iterator._tasks_outstanding
        size: int = iterator._data_queue.qsize()
        return size + max(kept, 0)


class LoaderQueues:
    """Attached while a window records."""

    def __init__(self) -> None:
        self._once = Once()
        #: of iterators that live, by id(); loops make a new one in every epoch
        self._views: dict[int, _View] = {}
        #: as many as there were loaders at a time, as their names are given again
        self._stages: set[int] = set()
        self._active = False
        self._original: Callable[[Any], Any] | None = None
        self._ours: Callable[[Any], Any] | None = None

    def start(self) -> None:
        from torch.utils.data.dataloader import _BaseDataLoaderIter

        original = _BaseDataLoaderIter.__next__
        now, queue_get, end_range = _record.now, _record.queue_get, _record.end_range
        pipeline, look = _record.PIPELINE, self._look

        @functools.wraps(original)
        def next_batch(iterator: Any) -> Any:
            start = now() if self._active else 0
            if not start:
                return original(iterator)
            view, size = look(iterator)
            batch = original(iterator)
            if view:
                number = getattr(iterator, "_num_yielded", _NOT_KNOWN)
                queue_get(start, view.stage, size, number)
                if view.in_loop:
                    end_range(start, pipeline, view.maker)
            return batch

        self._original, self._ours = original, next_batch
        self._active = True
        _BaseDataLoaderIter.__next__ = next_batch

    def stop(self) -> None:
        self.detach()
        for stage in self._stages:
            _record.end_stage(stage)
        self._stages.clear()
        self._views.clear()

    def detach(self) -> None:
        """All of the stop in a forked child: the stages are its parent's."""
        from torch.utils.data.dataloader import _BaseDataLoaderIter

        self._active = False
        # What somebody else has put above ours meanwhile stays; ours then only passes calls on.
        if self._ours and _BaseDataLoaderIter.__next__ is self._ours:
            _BaseDataLoaderIter.__next__ = self._original

    def _look(self, iterator: Any) -> tuple[_View | None, int]:
        view = self._views.get(id(iterator))
        with guarded("a look at a DataLoader", self._once):
            if not view or not view.shows(iterator):
                self._views = {key: view for key, view in self._views.items() if not view.is_over}
                view = self._views[id(iterator)] = _View(iterator, _loaders.number_of(iterator))
                self._stages |= view.stages
            return view, view.ready(iterator)
        return view, _NOT_KNOWN
