"""What the callbacks record, held against what torch.profiler records of the same program."""

from __future__ import annotations

import collections
import json
import pathlib
import subprocess
import sys
import threading
from typing import Any, Callable

import pytest
import stepscope
import torch
from stepscope.torch import profile

Recorded = Callable[..., stepscope.Run]


def kineto_events(function: Callable[[], object], path: pathlib.Path, **options: Any) -> list[Any]:
    activities = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=activities, **options) as profiler:
        function()
    profiler.export_chrome_trace(str(path))
    events: list[Any] = json.loads(path.read_text())["traceEvents"]
    return events


def test_the_same_operators_as_torch_profiler(
    trainer: Any, recorded: Recorded, tmp_path: pathlib.Path
) -> None:
    events = kineto_events(trainer.step, tmp_path / "kineto.json")
    theirs = collections.Counter(
        event["name"] for event in events if event.get("cat") in ("cpu_op", "user_annotation")
    )
    run = recorded(trainer.step)
    names = run.query("select name from slices where cat in ('cpu_op', 'user_annotation')")["name"]
    ours = collections.Counter(name for name in names if not name.startswith("ProfilerStep"))
    assert ours == theirs
    assert ours["forward"] == 1
    assert not run.quality


def test_shapes_and_types_are_kinetos(
    trainer: Any, recorded: Recorded, tmp_path: pathlib.Path
) -> None:
    def program() -> None:
        trainer.step()
        torch.cat([torch.ones(2, 3), torch.ones(1, 3, dtype=torch.float64).float()])
        torch.stack([torch.ones(2, dtype=torch.bfloat16)] * 2).sum(dim=[0])
        # The same place of the program with other inputs than last time.
        for size in (2, 3, 2, 2, 3):
            torch.add(torch.ones(size), torch.ones(size, dtype=torch.int32))
            torch.cat([torch.ones(1)] * size).sum(dim=[])
            torch.ones(size, 3)[:, torch.tensor([1])]

    events = kineto_events(program, tmp_path / "kineto.json", record_shapes=True)
    theirs = collections.Counter(
        (event["name"], json.dumps(event["args"]["Input Dims"]), tuple(event["args"]["Input type"]))
        for event in events
        if "Input Dims" in event.get("args", {})
    )
    run = recorded(program, record_shapes=True)
    rows = run.query("select name, input_shapes, input_types from ops where input_shapes <> ''")
    ours = collections.Counter(
        (name, json.dumps(json.loads(shapes)), tuple(json.loads(types)))
        for name, shapes, types in (row.values() for row in rows.to_pylist())
    )
    assert ours == theirs


def test_without_the_wish_there_are_no_shapes(trainer: Any, recorded: Recorded) -> None:
    run = recorded(trainer.step)
    assert run.query("select count(input_shapes) as n from ops")["n"][0] == 0


def test_arrows_from_forward_to_backward(
    trainer: Any, recorded: Recorded, tmp_path: pathlib.Path
) -> None:
    def named(events: list[Any]) -> collections.Counter[tuple[str, str]]:
        starts = {(e["tid"], e["ts"]): e["name"] for e in events if e.get("cat") == "cpu_op"}
        ends: dict[int, dict[str, str]] = collections.defaultdict(dict)
        for event in events:
            if event.get("cat") == "fwdbwd":
                ends[event["id"]][event["ph"]] = starts[event["tid"], event["ts"]]
        return collections.Counter((arrow["s"], arrow["f"]) for arrow in ends.values())

    theirs = named(kineto_events(trainer.step, tmp_path / "kineto.json"))
    rows = recorded(trainer.step).query(
        "select a.name as start, b.name as finish from flows f "
        "join slices a on a.id = f.from_slice join slices b on b.id = f.to_slice "
        "where f.kind = 'fwdbwd'"
    )
    ours = collections.Counter((row["start"], row["finish"]) for row in rows.to_pylist())
    assert ours == theirs
    assert ours["aten::addmm", "AddmmBackward0"] == 2


def test_threads_of_the_program_are_recorded(recorded: Recorded) -> None:
    def program() -> None:
        threads = [threading.Thread(target=lambda: torch.ones(2).cos()) for _ in range(3)]
        for thread in threads:
            thread.start()
            thread.join()

    run = recorded(program)
    tracks = run.query("select distinct track from ops where name = 'aten::cos'")
    assert tracks.num_rows == 3


def test_allocator_events(recorded: Recorded) -> None:
    def program() -> None:
        block = torch.empty(1000, dtype=torch.float64)
        del block

    run = recorded(program, profile_memory=True)
    rows = run.query(
        "select device_kind, device, address, bytes, total_allocated, name from memory order by ts"
    ).to_pylist()
    before = rows[1]["total_allocated"]  # torch counts what earlier recordings of the process left
    totals = [(row["bytes"], row["total_allocated"] - before) for row in rows]
    assert totals == [(8000, 8000), (-8000, 0)]
    assert rows[0]["address"] == rows[1]["address"]
    assert (rows[0]["device_kind"], rows[0]["device"]) == ("CPU", -1)
    assert rows[0]["name"] == "aten::empty"


def test_modules_have_the_names_of_the_model(trainer: Any, recorded: Recorded) -> None:
    run = recorded(trainer.step, with_modules=True)
    rows = run.query("select name, id, parent from slices where cat = 'module' order by ts")
    names = [row["name"] for row in rows.to_pylist()]
    assert names == ["Sequential", "0 (Linear)", "1 (ReLU)", "2 (Linear)"]
    inside = run.query(
        "select m.name as module from slices s join slices m on m.id = s.parent "
        "where s.name = 'aten::linear' order by s.ts"
    )
    assert list(inside["module"]) == ["0 (Linear)", "2 (Linear)"]


def test_a_module_that_raises_ends(recorded: Recorded) -> None:
    class Broken(torch.nn.Module):
        def forward(self, value: torch.Tensor) -> torch.Tensor:
            raise ValueError("on purpose")

    outer = torch.nn.Sequential(torch.nn.ReLU(), Broken())

    def program() -> None:
        with pytest.raises(ValueError, match="on purpose"):
            outer(torch.ones(2))
        torch.nn.ReLU()(torch.ones(2))

    run = recorded(program, with_modules=True)
    rows = run.query("select name, depth from slices where cat = 'module' order by ts").to_pylist()
    names = [row["name"] for row in rows]
    assert names == ["Sequential", "0 (ReLU)", "1 (Broken)", "ReLU"]
    assert [row["depth"] for row in rows] == [0, 1, 1, 0]


def test_steps_come_from_the_optimizer_when_nobody_marks_them(
    trainer: Any, recorded: Recorded
) -> None:
    def program() -> None:
        trainer.step()
        torch.ones(2).cos()

    run = recorded(program, times=3)
    assert list(run.steps["step"]) == [0, 1, 2]
    assert all(run.steps["complete"])
    last = run.query("select step from ops where name = 'aten::cos' order by ts")["step"]
    assert list(last.filled(-1)) == [1, 2, -1]  # behind the last step there is none


def test_marked_steps_are_not_mixed_with_the_optimizers(trainer: Any) -> None:
    with profile() as profiler:
        for _ in range(3):
            profiler.step()
            trainer.step()
    with stepscope.open(profiler.run_path or "") as run:
        assert list(run.steps["step"]) == [1, 2, 3]


def test_a_compiled_model_is_compiled_as_before(trainer: Any, recorded: Recorded) -> None:
    compiled = torch.compile(trainer.model, backend="eager", fullgraph=True)
    run = recorded(lambda: compiled(torch.ones(3, 4)), with_modules=True)
    assert run.query("select count(*) as n from ops where name = 'aten::linear'")["n"][0] >= 2


def test_operators_that_take_the_place_of_others_keep_their_names(recorded: Recorded) -> None:
    """Names are known by their address, which a removed operator leaves to the next one."""
    names = [f"kind{number:02}" for number in range(40)]

    def replace_operators() -> None:
        for name in names:
            library = torch.library.Library("stepscope_test", "DEF")
            library.define(f"{name}(Tensor x) -> Tensor")
            library.impl(name, lambda x: x.clone(), "CPU")
            for _ in range(3):
                getattr(torch.ops.stepscope_test, name)(torch.ones(2))
            library._destroy()

    run = recorded(replace_operators)
    found = run.query(
        "select name, count(*) as n from ops where name like 'stepscope_test::%' group by name "
        "order by name"
    )
    assert found["name"].tolist() == [f"stepscope_test::{name}" for name in names]
    assert set(found["n"].tolist()) == {3}


def test_a_program_that_imports_torch_while_it_is_recorded(tmp_path: pathlib.Path) -> None:
    program = """
import sys
import stepscope
profiler = stepscope.Profiler(output_path="o", activities=[stepscope.ProfilerActivity.CPU])
assert "torch" not in sys.modules
import torch
for _ in range(3):
    torch.mm(torch.ones(4, 4), torch.ones(4, 4))
    profiler.step()
profiler.stop()
"""
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True, timeout=1200)
    (run,) = (tmp_path / "o").glob("*_ascend_ms")
    with stepscope.open(run) as opened:
        assert opened.query("select count(*) n from ops where name = 'aten::mm'")["n"].tolist() == [
            3
        ]
