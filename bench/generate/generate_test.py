"""Recounts generated traces from their JSON text and compares every number with the answer key.

The recount shares no code with the generator and never goes through floating point.
STEPSCOPE_GENERATE names the program; the default is build/stepscope-generate.
"""

from __future__ import annotations

import collections
import gzip
import json
import os
import pathlib
import re
import subprocess
from decimal import Decimal
from typing import Any

import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(
    os.environ.get("STEPSCOPE_GENERATE", REPOSITORY / "build" / "stepscope-generate")
)
DEVICE_CATEGORIES = {"kernel", "gpu_memcpy", "gpu_memset"}

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason=f"{PROGRAM} is not built")

Json = dict[str, Any]


def generate(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [str(PROGRAM), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def generate_or_fail(*arguments: object) -> None:
    done = generate(*arguments)
    assert done.returncode == 0, done.stderr


def read_trace(path: pathlib.Path) -> Json:
    opened = gzip.open(path, "rt") if path.suffix == ".gz" else open(path)
    with opened as file:
        trace: Json = json.load(file, parse_float=Decimal)
    return trace


def nanoseconds(microseconds: Decimal | int) -> int:
    value = Decimal(microseconds) * 1000
    assert value == int(value), "more than three decimals"
    return int(value)


def union_ns(spans: list[tuple[int, int]]) -> int:
    total, busy_until = 0, None
    for start, end in sorted(spans):
        if busy_until is None or start >= busy_until:
            total += end - start
            busy_until = end
        elif end > busy_until:
            total += end - busy_until
            busy_until = end
    return total


def recount_flows(events: list[Json]) -> Json:
    ids: dict[tuple[str, str], list[int]] = collections.defaultdict(list)
    for event in events:
        if event["ph"] in "sf":
            ids[event["cat"], event["ph"]].append(event["id"])
    return {
        kind: {
            "starts": len(ids[kind, "s"]),
            "ends": len(ids[kind, "f"]),
            "paired": len(set(ids[kind, "s"]) & set(ids[kind, "f"])),
        }
        for kind in ("ac2g", "fwdbwd")
    }


def recount(trace: Json) -> Json:
    """The members of the answer key that one file alone determines."""
    events = trace["traceEvents"]
    counts = collections.Counter(f"{e['ph']}/{e.get('cat', '')}" for e in events)
    slices = [e for e in events if e["ph"] == "X"]
    duration_by_cat: collections.Counter[str] = collections.Counter()
    by_name: dict[tuple[str, str], list[int]] = collections.defaultdict(lambda: [0, 0])
    spans, device_spans, steps = [], [], []
    for event in slices:
        ts, dur = nanoseconds(event["ts"]), nanoseconds(event["dur"])
        duration_by_cat[event["cat"]] += dur
        named = by_name[event["cat"], event["name"]]
        named[0] += 1
        named[1] += dur
        spans.append((ts, ts + dur))
        if event["cat"] in DEVICE_CATEGORIES:
            device_spans.append((ts, ts + dur))
        if event["cat"] == "user_annotation" and event["name"].startswith("ProfilerStep#"):
            steps.append({"name": event["name"], "ts_ns": ts, "dur_ns": dur})
    top = sorted(by_name.items(), key=lambda item: (-item[1][1], item[0]))[:20]
    return {
        "rank": trace["distributedInfo"]["rank"],
        "events": len(events),
        "slices": len(slices),
        "counts": dict(counts),
        "duration_ns_by_cat": dict(duration_by_cat),
        "kernels": {"count": counts["X/kernel"], "total_ns": duration_by_cat["kernel"]},
        "flows": recount_flows(events),
        "memory_peak_bytes": max(
            e["args"]["Total Allocated"] for e in events if e["name"] == "[memory]"
        ),
        "device_busy_ns": union_ns(device_spans),
        "first_ts_ns": min(start for start, _ in spans),
        "last_end_ns": max(end for _, end in spans),
        "steps": steps,
        "top_names": [
            {"cat": cat, "name": name, "count": count, "total_ns": total}
            for (cat, name), (count, total) in top
        ],
    }


def recount_waits(traces: list[Json], offsets_ns: list[int]) -> list[Json]:
    """How long each rank waited inside its collectives for the last one to arrive."""
    starts: dict[tuple[str, str, int], dict[int, int]] = collections.defaultdict(dict)
    for rank, trace in enumerate(traces):
        for event in trace["traceEvents"]:
            args = event.get("args", {})
            if event.get("cat") == "kernel" and "Seq" in args:
                key = (args["Process Group Name"], args["Process Group Ranks"], args["Seq"])
                starts[key][rank] = nanoseconds(event["ts"]) - offsets_ns[rank]
    waits = [{"count": 0, "wait_ns": 0} for _ in traces]
    for members in starts.values():
        last = max(members.values())
        for rank, start in members.items():
            waits[rank]["count"] += 1
            waits[rank]["wait_ns"] += last - start
    return waits


def load_and_check(folder: pathlib.Path, key_path: pathlib.Path) -> tuple[Json, list[Json]]:
    """Reads the answer key and all traces; fails unless every number agrees."""
    key = json.loads(key_path.read_text())
    traces = [read_trace(folder / rank["file"]) for rank in key["ranks"]]
    offsets = [rank["clock_offset_ns"] for rank in key["ranks"]]
    waits = recount_waits(traces, offsets)
    for rank, trace, wait in zip(key["ranks"], traces, waits):
        found = recount(trace)
        found["collectives"] = wait
        assert trace["baseTimeNanoseconds"] == key["base_time_ns"]
        for member, value in found.items():
            assert rank[member] == value, f"rank {rank['rank']}: {member}"
        assert set(rank) - set(found) == {"file", "text_bytes", "clock_offset_ns"}
    return key, traces


def test_twenty_megabytes_have_the_totals_of_the_answer_key(tmp_path: pathlib.Path) -> None:
    output = tmp_path / "trace.json"
    generate_or_fail("--output", output, "--size-mb", 20)
    assert abs(output.stat().st_size - 20e6) < 2.5e6
    key, _ = load_and_check(tmp_path, tmp_path / "trace.expected.json")
    assert key["ranks"][0]["text_bytes"] == output.stat().st_size
    assert len(key["ranks"][0]["steps"]) == 5
    assert 240 < output.stat().st_size / key["ranks"][0]["events"] < 300


def test_all_causes_together_keep_the_totals(tmp_path: pathlib.Path) -> None:
    generate_or_fail(
        *("--output", tmp_path, "--ranks", 4, "--steps", 2, "--layers", 4, "--seed", 7),
        *("--straggler", "2:1.5", "--slow-link", "0-1:3", "--clock-skew-us", 500),
        *("--slow-data", 20, "--tiny-kernels", "--memory-leak", "--sync-points", "--low-mfu"),
    )
    key, _ = load_and_check(tmp_path, tmp_path / "expected.json")
    assert [cause["cause"] for cause in key["planted"]] == [
        "straggler",
        "slow_link",
        "clock_skew",
        "slow_data",
        "tiny_kernels",
        "memory_leak",
        "sync_points",
        "low_mfu",
    ]
    for rank in key["ranks"]:
        name = pathlib.Path(rank["file"]).as_posix()
        assert re.fullmatch(
            rf"rank_{rank['rank']}/worker{rank['rank']}_\d+\.\d+\.pt\.trace\.json", name
        )


def test_straggler_arrives_last_and_the_others_wait(tmp_path: pathlib.Path) -> None:
    generate_or_fail("--output", tmp_path, "--ranks", 4, "--straggler", "2:1.6", "--steps", 2)
    key, _ = load_and_check(tmp_path, tmp_path / "expected.json")
    waits = [rank["collectives"]["wait_ns"] for rank in key["ranks"]]
    assert waits[2] * 10 < min(waits[:2] + waits[3:])


def test_slow_link_slows_the_pair_that_uses_it(tmp_path: pathlib.Path) -> None:
    generate_or_fail("--output", tmp_path, "--ranks", 4, "--slow-link", "2-3:5", "--steps", 2)
    _, traces = load_and_check(tmp_path, tmp_path / "expected.json")
    shortest = []
    for trace in traces:
        gathers = [e for e in trace["traceEvents"] if "AllGather" in e["name"]]
        assert gathers
        shortest.append(min(e["dur"] for e in gathers))
    assert min(shortest[2:]) > 3 * max(shortest[:2])


def test_slow_data_starves_the_device(tmp_path: pathlib.Path) -> None:
    busy = {}
    for factor in (1, 20):
        output = tmp_path / f"data{factor}.json"
        generate_or_fail("--output", output, "--slow-data", factor)
        key, _ = load_and_check(tmp_path, tmp_path / f"data{factor}.expected.json")
        rank = key["ranks"][0]
        busy[factor] = rank["device_busy_ns"] / sum(s["dur_ns"] for s in rank["steps"])
    assert busy[1] > 0.8
    assert busy[20] < 0.5


def test_leak_raises_memory_with_every_batch(tmp_path: pathlib.Path) -> None:
    peaks = []
    for steps in (2, 6):
        output = tmp_path / f"leak{steps}.json"
        generate_or_fail("--output", output, "--memory-leak", "--steps", steps)
        key, _ = load_and_check(tmp_path, tmp_path / f"leak{steps}.expected.json")
        peaks.append(key["ranks"][0]["memory_peak_bytes"])
    assert peaks[1] - peaks[0] == 4 * (64 << 20)


def test_host_slices_nest_and_streams_are_serial(tmp_path: pathlib.Path) -> None:
    generate_or_fail("--output", tmp_path / "t.json", "--steps", 2)
    trace = read_trace(tmp_path / "t.json")
    lanes: dict[tuple[Any, Any], list[tuple[int, int]]] = collections.defaultdict(list)
    for event in trace["traceEvents"]:
        if event["ph"] == "X" and event["cat"] not in ("Trace", "gpu_user_annotation"):
            start = nanoseconds(event["ts"])
            lanes[event["pid"], event["tid"]].append((start, -start - nanoseconds(event["dur"])))
    deepest = 0
    for (pid, _), spans in lanes.items():
        open_ends: list[int] = []
        for start, negative_end in sorted(spans):
            while open_ends and open_ends[-1] <= start:
                open_ends.pop()
            assert not open_ends or -negative_end <= open_ends[-1]
            assert not open_ends or pid != 0, "device work overlaps on one stream"
            open_ends.append(-negative_end)
            deepest = max(deepest, len(open_ends))
    assert deepest >= 6


def test_kernels_link_to_their_launch_and_operator(tmp_path: pathlib.Path) -> None:
    generate_or_fail("--output", tmp_path / "t.json", "--steps", 1)
    events = read_trace(tmp_path / "t.json")["traceEvents"]
    operators = {e["args"]["External id"] for e in events if e.get("cat") == "cpu_op"}
    calls = {
        e["args"]["correlation"]: e
        for e in events
        if e.get("cat") in ("cuda_runtime", "cuda_driver")
    }
    device = [e for e in events if e.get("cat") in DEVICE_CATEGORIES]
    assert device
    for event in device:
        call = calls[event["args"]["correlation"]]
        assert event["ts"] > call["ts"]
        assert event["args"]["External id"] == call["args"]["External id"]
        assert event["args"]["External id"] in operators


def test_same_seed_same_bytes_and_gzip_holds_the_same_text(tmp_path: pathlib.Path) -> None:
    for name, seed in (("a.json", 3), ("b.json", 3), ("c.json", 4)):
        generate_or_fail("--output", tmp_path / name, "--steps", 1, "--seed", seed)
    generate_or_fail("--output", tmp_path / "z" / "a.json.gz", "--steps", 1, "--seed", 3)
    first = (tmp_path / "a.json").read_text()
    assert first.replace("a.json", "b.json") == (tmp_path / "b.json").read_text()
    assert first.replace("a.json", "c.json") != (tmp_path / "c.json").read_text()
    assert (
        first.replace("a.json", "a.json.gz") == gzip.open(tmp_path / "z" / "a.json.gz", "rt").read()
    )
    load_and_check(tmp_path / "z", tmp_path / "z" / "a.expected.json")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "--output is missing"),
        (["--output", "x.json", "--ranks", "2"], "must be a folder"),
        (["--output", "x", "--ranks", "0"], "cannot use '0'"),
        (["--output", "x", "--straggler", "1:2"], "does not exist"),
        (["--output", "x", "--healthy", "--sync-points"], "--healthy excludes"),
        (["--output", "x", "--nonsense"], "unknown option --nonsense"),
        (["--output", "x", "--size-mb"], "needs a value"),
    ],
)
def test_mistakes_are_explained(arguments: list[str], message: str) -> None:
    done = generate(*arguments)
    assert done.returncode == 2
    assert message in done.stderr


def test_unwritable_output_is_an_error(tmp_path: pathlib.Path) -> None:
    (tmp_path / "file").write_text("")
    done = generate("--output", tmp_path / "file" / "t.json")
    assert done.returncode == 1
    assert "cannot create" in done.stderr
