"""``stepscope.torch.profile`` where ``torch.profiler.profile`` was used."""

from __future__ import annotations

import gzip
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import weakref
from typing import Any, Callable, cast

import pytest
import stepscope
import torch
from stepscope.torch import (
    ProfilerActivity,
    profile,
    record_function,
    schedule,
    tensorboard_trace_handler,
)
from stepscope.torch._averages import KeyAverages, Window, key_averages
from stepscope.torch._events import Events

PROGRAM = """
import torch
from torch.profiler import (
    ProfilerActivity, profile, record_function, schedule, tensorboard_trace_handler
)

model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
with profile(
    activities=[ProfilerActivity.CPU],
    schedule=schedule(wait=1, warmup=1, active=2, repeat=2),
    on_trace_ready=tensorboard_trace_handler("traces", use_gzip=True),
    record_shapes=True, profile_memory=True, with_stack=True, with_flops=False,
) as prof:
    for _ in range(9):
        with record_function("train"):
            model(torch.ones(2, 4)).sum().backward()
            optimizer.step()
        prof.step()
print(prof.key_averages(group_by_input_shape=True).table(
    sort_by="self_cpu_time_total", row_limit=5))
"""


def run_program(text: str, folder: pathlib.Path) -> str:
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", text], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_changing_the_import_line_is_enough(tmp_path: pathlib.Path) -> None:
    theirs = run_program(PROGRAM, tmp_path / "theirs").splitlines()
    ours = run_program(
        PROGRAM.replace("from torch.profiler", "from stepscope.torch"), tmp_path / "ours"
    ).splitlines()
    assert ours[1].split() == theirs[1].split()  # the columns
    assert len(ours) == len(theirs)
    for folder in ("theirs", "ours"):
        traces = sorted((tmp_path / folder / "traces").glob("*.pt.trace.json.gz"))
        assert len(traces) == 2
        with gzip.open(traces[0]) as file:
            events = json.load(file)["traceEvents"]
        names = [event["name"] for event in events]
        assert names.count("train") == 2
        assert "ProfilerStep#2" in names
        assert "ProfilerStep#3" in names


def test_every_window_goes_to_the_handler(trainer: Any) -> None:
    windows: list[tuple[int, list[int]]] = []

    def ready(profiler: profile) -> None:
        with stepscope.open(profiler.run_path or "") as run:
            windows.append((profiler.step_num, list(run.steps["step"])))

    with profile(schedule=schedule(wait=1, warmup=1, active=2), on_trace_ready=ready) as profiler:
        for _ in range(8):
            trainer.step()
            profiler.step()
    assert windows == [(4, [2, 3]), (8, [6, 7])]


def test_averages_have_the_memory_of_ranges() -> None:
    with profile(profile_memory=True) as profiler:
        with record_function("A"):
            first = torch.empty(1000)
            del first
        with record_function("B"):
            second = torch.empty(2000)
        with record_function("C"):
            del second
    averages = {item.key: item for item in profiler.key_averages()}
    memory = {
        name: (averages[name].cpu_memory_usage, averages[name].self_cpu_memory_usage)
        for name in ("A", "B", "C")
    }
    assert memory == {"A": (0, -4000), "B": (8000, 0), "C": (-8000, -8000)}


def test_averages(trainer: Any) -> None:
    with profile(record_shapes=True, profile_memory=True, with_modules=True) as profiler:
        for _ in range(3):
            trainer.step()
    averages = {item.key: item for item in profiler.key_averages()}
    linear, addmm = averages["aten::linear"], averages["aten::addmm"]
    assert (linear.count, addmm.count) == (6, 6)
    assert linear.cpu_time_total > addmm.cpu_time_total >= addmm.self_cpu_time_total > 0
    assert linear.self_cpu_time_total < linear.cpu_time_total
    assert addmm.self_cpu_memory_usage == 3 * (3 * 8 + 3 * 2) * 4
    assert linear.cpu_memory_usage == addmm.cpu_memory_usage
    assert linear.cuda_time_total == 0
    # Modules have no rows, and their time is not lost: it is that of what is around them.
    assert averages["forward"].self_cpu_time_total < averages["forward"].cpu_time_total - 1
    by_shape = profiler.key_averages(group_by_input_shape=True)
    shapes = sorted(item.input_shapes for item in by_shape if item.key == "aten::linear")
    assert shapes == [[[3, 4], [8, 4], [8]], [[3, 8], [2, 8], [2]]]
    assert all(isinstance(item.input_shapes, list) for item in by_shape)
    assert "[[3, 4], [8, 4], [8]]" in by_shape.table()
    assert {item.input_shapes for item in averages.values()} == {""}
    total = sum(item.self_cpu_time_total for item in averages.values())
    assert profiler.key_averages().self_cpu_time_total == pytest.approx(total)


@pytest.mark.parametrize("limit", [None, -1])
def test_a_table_without_a_limit_has_all_rows(trainer: Any, limit: int | None) -> None:
    with profile() as profiler:
        trainer.step()
    averages = profiler.key_averages()
    assert len(averages.table(row_limit=limit).splitlines()) == len(averages) + 5


def test_switches_may_be_numbers(trainer: Any, caplog: pytest.LogCaptureFixture) -> None:
    names = ("record_shapes", "profile_memory", "with_stack")
    ones: dict[str, Any] = dict.fromkeys(names, 1)
    with profile(**ones) as profiler:
        trainer.step()
    assert [profiler.effective_parameters()[name] for name in names] == [True] * 3
    zeros: dict[str, Any] = dict.fromkeys(names, 0)
    chosen = profile(**zeros).effective_parameters()
    assert [chosen[name] for name in names] == [False] * 3
    assert "must be" not in caplog.text
    with stepscope.open(profiler.run_path or "") as run:
        assert run.query("select count(input_shapes) as n from ops")["n"][0] > 0
        assert run.query("select count(*) as n from memory")["n"][0] > 0
    wrong: dict[str, Any] = {"record_shapes": "yes"}
    assert profile(**wrong).effective_parameters()["record_shapes"] is False
    assert "record_shapes must be True or False, not 'yes'" in caplog.text


def test_steps_are_one_row_of_the_averages(trainer: Any) -> None:
    cycle = schedule(wait=1, warmup=1, active=3, repeat=1)
    with profile(schedule=cycle, record_shapes=True) as profiler:
        for _ in range(5):
            trainer.step()
            profiler.step()
    for by_shape in (False, True):
        rows = [row for row in profiler.key_averages(by_shape) if "ProfilerStep" in row.key]
        assert [(row.key, row.count) for row in rows] == [("ProfilerStep*", 3)]
    forward = next(row for row in profiler.key_averages() if row.key == "forward")
    assert rows[0].cpu_time_total > forward.cpu_time_total
    steps = [event.trace_name for event in profiler.events() if event.name == "ProfilerStep*"]
    assert steps == ["ProfilerStep#2", "ProfilerStep#3", "ProfilerStep#4"]


@pytest.mark.parametrize("marks", [False, True])
def test_without_a_schedule_steps_are_no_rows_as_in_torch(trainer: Any, marks: bool) -> None:
    with profile() as profiler:
        for _ in range(3):
            trainer.step()
            if marks:
                profiler.step()
    for rows in (profiler.key_averages(), profiler.events()):
        assert not [row.key for row in rows if "ProfilerStep" in row.key]
        assert rows.self_cpu_time_total > 0
    assert all(event.cpu_parent is None for event in profiler.events() if event.key == "forward")
    with stepscope.open(profiler.run_path or "") as run:
        assert run.steps.num_rows >= 3, "the run itself has them"


def test_all_that_torchs_profiler_can_do_can_be_called() -> None:
    theirs = {name for name in dir(torch.profiler.profile) if not name.startswith("_")}
    assert theirs <= {*dir(profile), *vars(profile())}
    rows = {name for name in dir(torch.autograd.profiler_util.EventList) if name[0] != "_"}
    for ours in (Events, KeyAverages):
        assert rows - set(dir(ours)) == {"supported_export_stacks_metrics"}


def test_events(trainer: Any) -> None:
    with profile(record_shapes=True, profile_memory=True) as profiler:
        for _ in range(2):
            trainer.step()
    events = profiler.events()
    averages = {item.key: item for item in profiler.key_averages()}
    for key, average in averages.items():
        mine = [event for event in events if event.key == key]
        assert len(mine) == average.count
        total = sum(event.self_cpu_time_total for event in mine)
        assert total == pytest.approx(average.self_cpu_time_total)
    starts = [event.time_range.start for event in events]
    assert starts == sorted(starts)
    assert starts[0] >= 0
    linear = next(event for event in events if event.name == "aten::linear")
    assert linear.input_shapes == [[3, 4], [8, 4], [8]]
    assert linear.cpu_parent is not None and linear.cpu_parent.name == "forward"
    assert linear.cpu_parent.is_user_annotation
    assert "aten::addmm" in {child.name for child in linear.cpu_children}
    inside = sum(child.cpu_time_total for child in linear.cpu_children)
    assert linear.self_cpu_time_total == pytest.approx(linear.cpu_time_total - inside)
    assert linear.time_range.elapsed_us() == pytest.approx(linear.cpu_time_total)
    assert linear.cuda_time_total == 0
    assert linear.cpu_time_total_str.endswith("us") or linear.cpu_time_total_str.endswith("ms")
    assert linear.thread > 0
    assert linear.device_type == torch.autograd.DeviceType.CPU
    # The lists can do what torch's can.
    assert len(events.table(row_limit=3).splitlines()) == 3 + 5
    assert [row.key for row in events.key_averages()] == list(averages)
    total = events.total_average()
    assert (total.key, total.count) == ("Total", len(events))
    also = profiler.key_averages().total_average()
    assert also.count == total.count
    assert also.self_cpu_time_total == pytest.approx(total.self_cpu_time_total)
    assert also.self_cpu_memory_usage == total.self_cpu_memory_usage


def test_stacks_are_written_for_flame_graphs(tmp_path: pathlib.Path) -> None:
    def outer_function() -> None:
        until = time.thread_time() + 0.3  # of the processor, on a busy machine
        while time.thread_time() < until:
            sum(range(1000))

    with profile(with_stack=True) as profiler:
        outer_function()
    profiler.export_stacks("stacks.txt")
    lines = (tmp_path / "stacks.txt").read_text().splitlines()
    stacks = [line.rsplit(" ", 1) for line in lines]
    assert all(len(stack) == 2 and " " not in stack[0] for stack in stacks)
    assert len({stack for stack, _ in stacks}) == len(stacks), "one line for each"
    mine = [int(us) for stack, us in stacks if "outer_function" in stack]
    assert sum(mine) > 100_000
    assert any(stack.split(";")[-1] != stack for stack, _ in stacks), "with what is around it"


def test_what_has_no_effect_is_said_once(
    trainer: Any, caplog: pytest.LogCaptureFixture, tmp_path: pathlib.Path
) -> None:
    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        profiler.preset_metadata_json("answer", "[42]")
        for _ in range(2):
            profiler.toggle_collection_dynamic(False, [ProfilerActivity.CPU])
            profiler.export_memory_timeline("memory.html")
            profiler.set_custom_trace_id_callback(lambda: "id")
            trainer.step()
    for name in ("toggle_collection_dynamic", "export_memory_timeline", "trace_id_callback"):
        assert caplog.text.count(f"{name} has no effect: ") == 1
    profiler.export_stacks("stacks.txt", "self_cuda_time_total")
    assert "stacks have self_cpu_time_total, not 'self_cuda_time_total'" in caplog.text
    assert not (tmp_path / "stacks.txt").exists()
    profiler.export_stacks("stacks.txt")
    assert "no stack was recorded" in caplog.text
    assert (tmp_path / "stacks.txt").read_text() == ""
    with stepscope.open(profiler.run_path or "") as run:
        about = json.loads(run.query("select versions from ranks")["versions"][0])
    assert about["metadata"]["answer"] == [42]
    early = profile()
    assert early.events() == []
    assert "no window is complete yet" in caplog.text


def test_the_numbers_of_torchs_schedule_are_kept(trainer: Any) -> None:
    def kept(function: Callable[[int], Any] | None) -> tuple[bool, Any]:
        profiler = profile(schedule=function)
        chosen = profiler.effective_parameters()
        return chosen["is_set_schedule"], chosen["schedule"]

    numbers = {"wait": 1, "warmup": 1, "active": 3, "repeat": 1, "skip_first": 2}
    assert kept(schedule(**numbers)) == (True, numbers)
    skipping = {**numbers, "skip_first_wait": 1}
    assert kept(schedule(**skipping)) == (True, skipping)
    assert kept(lambda _step: torch.profiler.ProfilerAction.NONE) == (True, None)
    assert kept(None)[0] is False
    with profile(schedule=schedule(**{**numbers, "skip_first": 0})) as profiler:
        for _ in range(5):
            trainer.step()
            profiler.step()
    info = next(pathlib.Path(profiler.run_path or "").glob("profiler_info_*.json"))
    written = json.loads(info.read_text())["profiler_parameters"]
    assert written["schedule"] == {**numbers, "skip_first": 0}


def test_our_own_options_are_taken(caplog: pytest.LogCaptureFixture) -> None:
    profiler = profile(gpu_tier="kernels", system_interval_ms=20, max_disk_gb=0.5)
    with profiler:
        pass
    info = next(pathlib.Path(profiler.run_path or "").glob("profiler_info_*.json"))
    kept = json.loads(info.read_text())["stepscope"]
    assert kept["sources"]["system"] == {"interval_ms": 20}
    assert kept["budget"]["max_disk_gb"] == 0.5
    profile(gpu_tier="all")
    assert "gpu_tier must be 'pulse' or 'kernels' or 'full', not 'all'" in caplog.text


UNCHANGED = """
import torch
model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    model(torch.ones(2, 4)).sum().backward()
    optimizer.step()
"""


@pytest.mark.parametrize("variable", ["STEPSCOPE_OPTIONS", "MS_PROFILER_OPTIONS"])
def test_an_unchanged_program_gets_what_the_environment_asks_for(
    record_program: Callable[..., str], tmp_path: pathlib.Path, variable: str
) -> None:
    options = {"start": True, "activities": ["CPU"], "record_shapes": True}
    said = record_program("-c", UNCHANGED, **{variable: json.dumps(options)})
    assert "had no effect" not in said
    with stepscope.open(tmp_path / "runs") as run:
        shapes = run.query("select input_shapes from ops where name = 'aten::linear'")
        assert list(shapes["input_shapes"]) == ["[[2,4],[4,4],[4]]"] * 3
        assert run.query("select count(*) as n from steps")["n"][0] >= 2


def test_a_launcher_is_not_recorded(
    record_program: Callable[..., str], tmp_path: pathlib.Path
) -> None:
    (tmp_path / "train.py").write_text(UNCHANGED)
    command = ("-m", "torch.distributed.run", "--nproc-per-node", "1", "train.py")
    record_program(*command, STEPSCOPE_OPTIONS='{"start": true, "activities": ["CPU"]}')
    (run,) = (tmp_path / "runs").glob("*_ascend_ms")
    assert (run / "profiler_info_0.json").exists()


class KernelsAlone:
    """A run of which nothing was recorded on the host."""

    class Rows(list[Any]):
        @property
        def num_rows(self) -> int:
            return len(self)

        def to_pylist(self) -> list[Any]:
            return self

        def __getitem__(self, column: Any) -> Any:
            return [row[column] for row in self]

    def query(self, sql: str) -> Rows:
        kernels = [{"name": "gemm", "count": 2, "ns": 3000, "first": 1}]
        return self.Rows(kernels if "from slices" not in sql and "from kernels" in sql else [])


def test_averages_of_kernels_alone() -> None:
    (row,) = key_averages(cast("stepscope.Run", KernelsAlone()), False, Window())
    assert (row.key, row.count, row.device_time_total, row.device_time) == ("gemm", 2, 3.0, 1.5)


def test_export(trainer: Any, tmp_path: pathlib.Path) -> None:
    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        trainer.step()
    profiler.export_chrome_trace("plain.json")
    profiler.export_chrome_trace("packed.json.gz")
    plain = (tmp_path / "plain.json").read_bytes()
    assert gzip.decompress((tmp_path / "packed.json.gz").read_bytes()) == plain
    assert any(event["name"] == "aten::linear" for event in json.loads(plain)["traceEvents"])


def test_a_packed_export_leaves_other_files_alone(trainer: Any, tmp_path: pathlib.Path) -> None:
    with profile(activities=[ProfilerActivity.CPU], output_path="runs") as profiler:
        trainer.step()
    (tmp_path / "x.json").write_text("mine")
    profiler.export_chrome_trace("x.json.gz")
    (tmp_path / "taken.json.gz").mkdir()
    profiler.export_chrome_trace("taken.json.gz")  # fails, which is logged
    assert (tmp_path / "x.json").read_text() == "mine"
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"runs", "x.json", "x.json.gz", "taken.json.gz"}


def test_ctrl_c_ends_a_program_as_it_does_without_a_profiler(tmp_path: pathlib.Path) -> None:
    program = (
        "import os, signal, time, stepscope.torch as profiler\n"
        "handler = profiler.tensorboard_trace_handler('traces')\n"
        "recording = profiler.profile(on_trace_ready=handler)\n"
        "recording.start()\n"
        "os.kill(os.getpid(), signal.SIGINT)\n"
        "time.sleep(60)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True)
    assert done.returncode == -signal.SIGINT, done.stderr
    assert list(tmp_path.glob("traces/*.pt.trace.json"))


def test_recordings_lie_where_the_handler_says(trainer: Any, tmp_path: pathlib.Path) -> None:
    with profile(on_trace_ready=tensorboard_trace_handler("traces", "worker7")) as profiler:
        trainer.step()
    assert pathlib.Path(profiler.run_path or "").parent == tmp_path / "traces"
    assert [path.name[:8] for path in (tmp_path / "traces").glob("*.json")] == ["worker7."]


@pytest.mark.parametrize("name", ["runs/lr=0.1,bs=32", "a(b)+c@d:e%20f", "x'y;*?[z] #&", "数 ü"])
def test_a_folder_may_have_any_name(trainer: Any, tmp_path: pathlib.Path, name: str) -> None:
    handler = tensorboard_trace_handler(name)
    for options in ({"on_trace_ready": handler}, {"output_path": tmp_path / name}):
        with profile(**cast("Any", options)) as profiler:
            trainer.step()
        assert pathlib.Path(profiler.run_path or "").parent == tmp_path / name
        assert profiler.key_averages()
    assert len(list((tmp_path / name).glob("*.json"))) == 1
    with stepscope.open(profiler.run_path or "") as run:
        assert run.query("select count(*) as n from ops")["n"][0] > 0


@pytest.mark.parametrize("name", ["file", "file/below", "x" * 300, "nul\0"])
def test_where_a_folder_cannot_be_used_the_recording_is_kept_elsewhere(
    trainer: Any, tmp_path: pathlib.Path, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    with profile(on_trace_ready=tensorboard_trace_handler(name)) as profiler:
        trainer.step()
    run = pathlib.Path(profiler.run_path or "")
    assert "cannot be used: " in caplog.text
    assert f"Recordings are kept in {run.parent}" in caplog.text
    del profiler
    assert run.is_dir()
    shutil.rmtree(run.parent)


def test_a_temporary_recording_goes_with_its_profiler(trainer: Any) -> None:
    with profile() as profiler:
        trainer.step()
    path = pathlib.Path(profiler.run_path or "")
    assert path.exists()
    del profiler
    assert not path.exists()


def test_a_child_that_ends_leaves_its_parents_recording(trainer: Any) -> None:
    """A forked process runs what is to be done at the end of the program, too."""
    with profile() as profiler:
        trainer.step()
    child = os.fork()
    if child == 0:
        weakref.finalize._exitfunc()  # type: ignore[attr-defined]  # all of its exit that counts
        os._exit(0)
    os.waitpid(child, 0)
    assert profiler.run_path and pathlib.Path(profiler.run_path).is_dir()


FORKED = """
import json, os, stepscope, torch
from stepscope.torch import profile

model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
options = {"record_shapes": True, "profile_memory": True, "with_modules": True}

def train(steps):
    loader = torch.utils.data.DataLoader(torch.ones(2 * steps, 4), batch_size=2)
    for batch in loader:
        with torch.no_grad():
            model(batch)
        optimizer.step()

def show(who, profiler):
    with stepscope.open(profiler.run_path) as run:
        linear = next(row for row in profiler.key_averages() if row.key == "aten::linear")
        batches = run.query("select count(*) as n from queues where batch is not null")["n"]
        modules = run.query("select count(*) as n from slices where name = 'Linear'")["n"]
        quality = [finding.code for finding in run.quality]
        found = linear.count, linear.cpu_memory_usage, batches[0], modules[0], run.steps.num_rows
        print(who, json.dumps([*map(int, found), quality]), flush=True)

with profile(**options) as outer:
    train(2)
    child = os.fork()
    if child == 0:
        with profile(**options) as inner:
            train(3)
        show("child", inner)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    train(2)
show("parent", outer)
"""


def test_a_forked_child_of_a_recorded_program_records_for_itself(tmp_path: pathlib.Path) -> None:
    """Operators, their bytes, batches, modules, steps: each of them once, and no complaint."""
    child, parent = run_program(FORKED, tmp_path / "here").splitlines()
    assert child == f"child {json.dumps([3, 3 * 2 * 4 * 4, 3, 3, 3, []])}"
    assert parent == f"parent {json.dumps([4, 4 * 2 * 4 * 4, 4, 4, 4, []])}"


def test_modules_with_ideas_of_their_own_still_run(caplog: pytest.LogCaptureFixture) -> None:
    class Strange(torch.nn.Module):
        def named_modules(self, *_: Any, **__: Any) -> Any:
            raise ValueError("no names here")

        def forward(self, number: int) -> int:
            return number + 1

    with profile(with_modules=True) as profiler:
        assert [Strange()(1) for _ in range(3)] == [2, 2, 2]
    with stepscope.open(profiler.run_path or "") as run:
        assert run.query("select count(*) as n from slices where name = 'Strange'")["n"][0] == 3
    assert caplog.text.count("no names here") == 1


def test_torch_profiler_works_before_beside_and_after(trainer: Any) -> None:
    def by_torch(**options: Any) -> int:
        with torch.profiler.profile(
            activities=[torch.profiler.ProfilerActivity.CPU], **options
        ) as profiler:
            trainer.step()
        return len(profiler.events())

    usual = by_torch()
    with profile(record_shapes=True) as beside:
        assert by_torch() == usual
    assert beside.key_averages()
    with profile(profile_memory=True):
        trainer.step()
    assert by_torch(profile_memory=True) > 0
    activities = [torch.profiler.ProfilerActivity.CPU]
    with (
        torch.profiler.profile(activities=activities),
        profile(profile_memory=True) as inside,
    ):
        trainer.step()
    with stepscope.open(inside.run_path or "") as run:
        findings = {finding.code: finding for finding in run.quality}
    assert "torch.profiler runs on this thread" in (findings["not_honoured"].example or "")


def test_mistakes_are_logged_and_do_no_harm(trainer: Any, caplog: pytest.LogCaptureFixture) -> None:
    unknown: dict[str, Any] = {"post_processing_timeout_s": 1.0, "with_flips": True}
    profiler = profile(activities=[ProfilerActivity.CPU], **unknown)
    assert not profiler.key_averages()
    profiler.export_chrome_trace("nothing.json")
    profiler.step()
    profiler.stop()
    trainer.step()
    text = caplog.text
    assert "post_processing_timeout_s has no effect: it is of torch's own recorder" in text
    assert "with_flips has no effect: nobody knows it" in text
    assert "no window is complete yet" in text
    assert not pathlib.Path("nothing.json").exists()


def test_the_generic_profiler_records_operators_too(trainer: Any) -> None:
    handler = stepscope.tensorboard_trace_handler("data")
    with stepscope.profile(record_shapes=True, on_trace_ready=handler):
        trainer.step()
    with stepscope.open("data") as run:
        shapes = run.query("select input_shapes from ops where name = 'aten::relu'")
        assert list(shapes["input_shapes"]) == ["[[3,8]]"]
        assert "not_honoured" not in {finding.code for finding in run.quality}


def test_inside_of_stepscope_record_it_joins(
    record_program: Callable[..., str], tmp_path: pathlib.Path
) -> None:
    program = PROGRAM.replace("from torch.profiler import", "from stepscope.torch import")
    said = record_program("-c", program)
    assert "Self CPU %" in said, "the table of the last window"
    assert len(list(tmp_path.glob("traces/*.pt.trace.json.gz"))) == 2
    assert not list(tmp_path.glob("traces/*_ascend_ms"))
    with stepscope.open(tmp_path / "runs") as run:
        steps = run.query("select step from steps where step < 9 order by step")["step"].tolist()
        assert steps == list(range(9))
        with_operators = run.query(
            "select step, count(*) as n from ops where name = 'aten::linear' group by step "
            "order by step"
        )
        assert with_operators["step"].tolist() == [2, 3, 6, 7], "the windows that it chose"
        assert with_operators["n"].tolist() == [1, 1, 1, 1]
        names = run.query("select count(*) as n from slices where name = 'train'")["n"].tolist()
        assert names == [4]


def test_averages_are_of_the_last_window(record_program: Callable[..., str]) -> None:
    program = PROGRAM.replace("from torch.profiler import", "from stepscope.torch import")
    program += """
print("calls", {row.key: row.count for row in prof.key_averages()}["aten::linear"])
"""
    assert "calls 2" in record_program("-c", program)


def test_a_warm_up_records_nothing_and_leaves_nothing(trainer: Any, tmp_path: pathlib.Path) -> None:
    with profile(
        schedule=schedule(wait=0, warmup=2, active=2, repeat=1),
        record_shapes=True,
        output_path=str(tmp_path),
    ) as prof:
        for _ in range(5):
            trainer.step()
            prof.step()
    with stepscope.open(prof.run_path or "") as run:
        steps = run.query("select distinct step from ops order by step")["step"].tolist()
        assert steps == [2, 3]
        shapes = run.query("select count(input_shapes) > 0 as n from ops")["n"].tolist()
        assert shapes == [True]
    from stepscope.torch._library import load

    with profile(schedule=schedule(wait=0, warmup=2, active=2), output_path=str(tmp_path)) as prof:
        trainer.step()  # a loop that ends within the warm-up
    assert prof.run_path is None
    assert load().stop() == 0


def test_it_says_what_it_will_cost_and_what_it_did(
    trainer: Any, tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "stepscope")
    with profile(
        schedule=schedule(wait=2, warmup=1, active=3, repeat=1), output_path=str(tmp_path)
    ) as prof:
        for _ in range(8):
            trainer.step()
            prof.step()
    said = [record.getMessage() for record in caplog.records]
    before = next(text for text in said if text.startswith("recording starts"))
    assert "for each operator of PyTorch" in before
    after = next(text for text in said if text.startswith("recorded "))
    assert "with recording (median of 3)" in after
    assert "without recording (median of 1)" in after
    with stepscope.open(prof.run_path or "") as run:
        about = json.loads(run.query("select versions from ranks")["versions"][0])["metadata"]
    assert "for each operator of PyTorch" in about["estimated"]
    assert about["step_times"]["with_recording"]["steps"] == 3
