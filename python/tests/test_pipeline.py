"""Stages and queues of pipelines of the program's own."""

from __future__ import annotations

import os
import pathlib
import pickle
import queue
import subprocess
import sys
import threading
import time
from typing import Any

import pytest
import stepscope
from stepscope.pipeline import Stage

SUPPORT = str(pathlib.Path(__file__).parent / "support")


def rows(run: stepscope.Run, sql: str) -> list[tuple[Any, ...]]:
    table = run.query(sql)
    return list(zip(*(table[name].tolist() for name in table.columns)))


def busy(seconds: float) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pass


def test_a_pipeline_of_threads(tmp_path: pathlib.Path) -> None:
    read = Stage("read", kind="read", capacity=2)
    decode = Stage("decode", kind="map", workers=1, input=read)
    files: Any = read.watch(queue.Queue(2))
    images: Any = decode.watch(queue.Queue(4))

    def reading() -> None:
        read.work()
        for item in read.items(range(6)):
            files.put(item)
        files.put(None)

    def decoding() -> None:
        decode.work()
        while (item := files.get()) is not None:
            with decode.item():
                busy(0.02)
            images.put(item)
        images.put(None)

    waited_ns: list[int] = []

    def take() -> Any:
        began = time.monotonic_ns()
        item = images.get()
        waited_ns.append(time.monotonic_ns() - began)
        return item

    with stepscope.Profiler(output_path=str(tmp_path), data_process=True):
        threads = [threading.Thread(target=work) for work in (reading, decoding)]
        for thread in threads:
            thread.start()
        batches = list(iter(take, None))
        for thread in threads:
            thread.join()
    assert batches == list(range(6))
    with stepscope.open(tmp_path) as run:
        assert rows(run, "select stage, kind, capacity, consumer, position from stages") == [
            ("read", "read", 2, "decode", 1),
            ("decode", "map", 4, None, 0),
        ]
        taken = rows(
            run,
            'select batch, size, "fetch" from queues'
            " where stage = 'decode' and \"fetch\" is not null order by batch",
        )
        assert [number for number, _, _ in taken] == list(range(1, 8))
        # The loop is faster than the stage: it finds the queue empty and waits.
        assert 0 in [size for _, size, _ in taken]
        assert sum(wait for _, _, wait in taken) > sum(waited_ns) / 2
        assert rows(run, "select count(*) from queues where stage = 'read' and push is not null")[
            0
        ] == (7,)
        worked = rows(run, "select count(*), sum(dur) from slices where name = 'decode'"
                           " and cat = 'pipeline'")  # fmt: skip
        assert worked[0][0] == 6
        assert worked[0][1] >= 6 * 20e6
        # One more for the look that finds the end.
        assert rows(run, "select count(*) from slices where name = 'read' and cat = 'pipeline'")[
            0
        ] == (7,)
        waited = rows(run, "select cat, count(*) from slices where name = 'decode'"
                           " and cat like 'pipeline_%' group by cat order by cat")  # fmt: skip
        assert waited == [("pipeline_get", 7), ("pipeline_put", 7)]
        assert "data_process" not in str([found.example for found in run.quality])
    read.end()
    decode.end()


# A program of its own: what is spawned imports it.
WITH_PROCESSES = """
import multiprocessing, sys, time
import stepscope
from stepscope.pipeline import Stage
from system_samples import wait_for_samples

def work(stage, results, sampled):
    stage.work()
    for item in range(5):
        with stage.item():
            until = time.monotonic() + 0.05
            while time.monotonic() < until:
                pass
        results.put(item)
    end = time.monotonic() + 90
    while not sampled.is_set() and time.monotonic() < end:  # busy
        pass

if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    stage = Stage("augment", workers=2)
    results, sampled = context.Queue(8), context.Event()
    taken = stage.watch(results)
    with stepscope.Profiler(output_path=sys.argv[2], data_process=True):
        workers = [context.Process(target=work, args=(stage, results, sampled)) for _ in range(2)]
        for worker in workers:
            worker.start()
            stage.employ(worker.pid)
        for _ in range(10):
            taken.get(timeout=300)
        wait_for_samples()
        sampled.set()
        for worker in workers:
            worker.join()
    print(*(worker.pid for worker in workers))
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_workers_that_are_processes(tmp_path: pathlib.Path, method: str) -> None:
    program = tmp_path / "program.py"
    program.write_text(WITH_PROCESSES)
    command = [sys.executable, str(program), method, str(tmp_path / "data")]
    paths = [SUPPORT, os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    workers = sorted(done.stdout.split())
    with stepscope.open(tmp_path / "data") as run:
        made = rows(
            run,
            "select tracks.pid, count(*), sum(dur) from slices join tracks using (rank, track)"
            " where cat = 'pipeline' and name = 'augment' and process = 'augment'"
            " group by tracks.pid",
        )
        assert sorted(pid for pid, _, _ in made) == workers
        assert [(count, total >= 5 * 50e6) for _, count, total in made] == [(5, True)] * 2
        assert rows(run, "select distinct capacity from queues") == [(8,)]
        cpu = rows(
            run,
            "select tracks.pid, max(value) from counters join tracks using (rank, track)"
            " where process = 'augment' and thread = 'cpu %' group by tracks.pid",
        )
        assert sorted(pid for pid, _ in cpu) == workers
        assert all(percent > 0 for _, percent in cpu)


def test_without_a_recording_nothing_happens() -> None:
    stage = Stage("idle", capacity=3)
    watched: Any = stage.watch(queue.Queue(3))
    watched.put(1)
    watched.put_nowait(2)
    assert watched.qsize() == 2
    assert [watched.get(), watched.get_nowait()] == [1, 2]
    with pytest.raises(queue.Empty):
        watched.get(timeout=0.01)
    with pytest.raises(ZeroDivisionError), stage.item():
        _ = 1 / 0
    assert list(stage.items([])) == []
    stage.size(3)
    stage.end()


def test_what_goes_wrong_in_a_queue_is_the_programs(tmp_path: pathlib.Path) -> None:
    class Closed:
        def get(self) -> None:
            raise OSError("closed")

        def qsize(self) -> int:
            raise NotImplementedError

        def put(self, item: object) -> str:
            return "taken"

    stage = Stage("odd")
    watched: Any = stage.watch(Closed())
    with stepscope.Profiler(output_path=str(tmp_path)):
        with pytest.raises(OSError, match="closed"):
            watched.get()
        assert watched.put(1) == "taken"
        copy = pickle.loads(pickle.dumps(stage))
        assert (copy.name, copy._process) == ("odd", os.getpid())
    stage.end()
    with stepscope.open(tmp_path) as run:
        assert rows(run, "select size, batch, push is null from queues") == [(None, 1, False)]
