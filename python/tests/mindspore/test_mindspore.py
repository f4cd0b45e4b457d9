"""Real training, compared with what the program itself saw."""

from __future__ import annotations

import json
import pathlib
import shutil
import signal
from typing import Any, Callable

import pytest
import stepscope

pytestmark = pytest.mark.mindspore
Started = Callable[..., dict[str, Any]]
Opened = Callable[[], stepscope.Run]

PROGRAMS = pathlib.Path(__file__).parent / "programs"

_MODES = [("pynative", "lenet", 107), ("pynative", "mlp", 90), ("graph", "mlp", 75)]
_BATCHES = "select min(batch), max(batch), count(*) from queues where stage = 'dataset_iterator'"
_MODULES = "select name, count(*) from slices where cat = 'module' group by name"


def rows(run: stepscope.Run, sql: str) -> list[tuple[Any, ...]]:
    table = run.query(sql)
    columns = [table[name].tolist() for name in table.columns]
    return list(zip(*columns))


def left_behind(process: int) -> list[pathlib.Path]:
    return list(pathlib.Path("/dev/shm").glob(f"stepscope-mindspore-{process}-*"))


def inside_its_step(run: stepscope.Run, truth: list[list[int]]) -> None:
    """Every operator lies in its step as the program timed it, to the microsecond."""
    for number, begin, end in truth:
        first, last = rows(run, f"select min(ts), max(ts + dur) from ops where step = {number}")[0]
        assert begin - 1000 <= first <= last <= end + 1000, number


def test_no_operator_is_lost_between_windows(train: Started, recorded: Opened) -> None:
    steps = 1200  # nine windows of 10,000 operators and a short one
    truth = train("loop.py", "graph", "mlp", str(steps), "{}")
    counts = rows(recorded(), "select step, count(*) from ops group by step order by step")
    assert counts == [(number, 75) for number in range(2, steps + 2)]
    assert left_behind(truth["pid"]) == []


@pytest.mark.parametrize(("mode", "network", "operators"), _MODES)
def test_every_operator_is_in_its_step(
    train: Started, recorded: Opened, mode: str, network: str, operators: int
) -> None:
    options = {"record_shapes": True, "profile_memory": True, "with_stack": True}
    truth = train("loop.py", mode, network, "6", json.dumps(options))
    run = recorded()
    counts = rows(run, "select step, count(*) from ops group by step order by step")
    assert counts == [(number, operators) for number in range(2, 8)]
    inside_its_step(run, truth["steps"])
    with_shapes = rows(run, "select count(*) from ops where input_shapes is not null")[0][0]
    assert with_shapes == 6 * operators if mode == "graph" else with_shapes > 0
    assert rows(run, "select count(*) > 0, max(total_reserved) from memory") == [(True, 2**30)]
    first, last = truth["steps"][0][1], truth["steps"][-1][2]
    outside = f"select count(*) from memory where ts not between {first} - 5e9 and {last} + 5e9"
    assert rows(run, outside) == [(0,)]
    modules = dict(
        rows(run, "select name, count(*) from slices where cat = 'module' group by name")
    )
    if mode == "pynative":
        assert modules["d1-Dense"] == 6
        assert modules[{"lenet": "LeNet", "mlp": "MLP"}[network]] == 6


def test_windows_follow_each_other_without_a_gap(train: Started, recorded: Opened) -> None:
    """1000 steps are eight windows or more; memory stays where it was."""
    truth = train("loop.py", "graph", "mlp", "1000", "{}")
    run = recorded()
    counts = rows(run, "select count(*), count(distinct step) from ops")
    assert counts == [(1000 * 75, 1000)]
    inside_its_step(run, truth["steps"][:3] + truth["steps"][-3:])
    grown = truth["memory"][-1] - truth["memory"][100]
    assert grown < 8 << 20, "400 steps of MindSpore's own profiler are 10 MiB"


@pytest.mark.parametrize("mode", ["graph", "pynative"])
@pytest.mark.parametrize("sink", ["sink", "plain"])
def test_steps_of_model_train_mark_themselves(
    train: Started, recorded: Opened, mode: str, sink: str
) -> None:
    # On CPU MindSpore takes dataset_sink_mode and does not sink: calls and numbers are the same.
    truth = train("model.py", mode, sink, "none")
    run = recorded()
    steps = rows(run, "select step from steps order by step")
    assert steps == [(number,) for number, _, _ in truth["steps"]]
    counts = rows(run, "select step, count(*) from ops where step > 1 group by step")
    assert len({count for _, count in counts}) == 1
    if mode == "graph":
        assert counts[0][1] == 43
        modules = dict(rows(run, _MODULES))
        assert modules["c1-Conv2d"] >= 24
        assert "_backbone-LeNet" in modules
    assert rows(run, "select count(*) > 0 from queues") == [(True,)]
    # The same tables as those of other pipelines.
    stages = rows(run, "select stage, kind, position from stages order by position desc")
    assert stages == [
        ("GeneratorOp_2", "GeneratorOp", 3),
        ("BatchOp_1", "BatchOp", 2),
        ("EpochCtrlOp_0", "EpochCtrlOp", 1),
        ("dataset_iterator", "iterator", 0),
    ]
    used = rows(run, "select count(*) > 0 from counters join tracks using (rank, track)"
                     " where process = 'BatchOp_1' and thread = 'user_utilization'")  # fmt: skip
    assert used == [(True,)]


@pytest.mark.parametrize("mode", ["graph", "pynative"])
def test_host_events_when_the_variable_asks_for_them(
    train: Started, recorded: Opened, mode: str
) -> None:
    truth = train("loop.py", mode, "mlp", "3", "{}", MS_ENABLE_RUNTIME_PROFILER="1")
    run = recorded()
    sql = "select min(ts), max(ts + dur), count(*) from slices where name like '%KernelLaunch%'"
    if mode == "pynative":
        sql = sql.replace("%KernelLaunch%", "Pynative%")
    first, last, count = rows(run, sql)[0]
    assert count >= 3
    assert truth["steps"][0][1] - 1000 <= first <= last <= truth["steps"][-1][2] + 1_000_000_000
    assert rows(run, "select count(distinct step) from ops") == [(3,)]


def test_a_killed_program_keeps_all_but_its_last_two_seconds(
    train: Started, tmp_path: pathlib.Path
) -> None:
    for _ in range(3):  # a busy machine may hold up who writes
        truth = train("killed.py", expect=-signal.SIGKILL)
        with stepscope.open(tmp_path) as run:
            last, ended_ns = rows(run, "select max(step), max(ts + dur) from ops")[0]
            behind = rows(run, f"select count(*) from steps where step > {last} and complete")
            lost = rows(run, "select example from quality where code = 'source_left_out'")
        for folder in [*left_behind(truth["pid"]), *tmp_path.glob("stepscope-mindspore-*")]:
            shutil.rmtree(folder)  # what the next recording would do
        lost_s = (truth["killed_ns"] - ended_ns) / 1e9
        if lost_s <= 2:
            break
        for folder in tmp_path.glob("*_ascend_ms"):
            shutil.rmtree(folder)
    assert last <= truth["last_step"]
    assert lost_s <= 2
    assert behind == [(0,)]
    assert [str(text).partition(":")[0] for (text,) in lost] == ["mindspore pipeline"]


def test_stop_at_step_records_its_steps(train: Started, recorded: Opened) -> None:
    train("model.py", "graph", "plain", "step")
    run = recorded()
    counts = rows(run, "select step, count(*) from ops group by step order by step")
    assert counts == [(3, 43), (4, 43), (5, 43)]
    assert rows(run, _BATCHES) == [(4, 5, 2)], "that of step 3 was fetched before it began"


def test_stop_at_epoch_records_its_epoch(train: Started, recorded: Opened) -> None:
    train("model.py", "graph", "sink", "epoch")
    run = recorded()
    counts = rows(run, "select step, count(*) from ops group by step order by step")
    assert sum(count for _, count in counts) == 8 * 43
    assert rows(run, _BATCHES) == [(9, 16, 8)]


@pytest.mark.parametrize("how", ["profiler", "callback", "dynamic"])
def test_an_evaluation_has_no_steps_of_the_training_and_does_not_end_it(
    train: Started, recorded: Opened, how: str
) -> None:
    truth = train("fit.py", how)
    assert truth["trained"] == list(range(1, 13))
    wanted = truth["trained"] if how == "profiler" else [3, 4, 5, 6]
    run = recorded()
    assert run.query("select step from steps order by ts")["step"].tolist() == wanted
    assert "was not reached" not in truth["said"]


def test_batches_that_are_fetched_between_steps_are_waited_for(
    train: Started, recorded: Opened
) -> None:
    train("fit.py", "slow_input")  # 200 ms a batch
    run = recorded()
    verdict = run.pipeline()
    assert verdict["input_bound"][0] in ("moderately", "highly")
    assert verdict["wait_share"][0] > 0.05
    findings = run.analysis("findings")
    (gain_ns,) = findings["gain_ns"][findings["rule"] == "slow_input"]
    assert gain_ns * verdict["waits"][0] > 0.5 * verdict["exposed_wait_ns"][0]
    # Ten times a second where the machine is idle, and not once.
    (count, first, last) = rows(run, "select count(*), min(ts), max(ts) from queues "
                                     "where stage = 'BatchOp_1'")[0]  # fmt: skip
    assert count >= (last - first) / 0.7e9


def test_a_profiler_that_goes_out_of_scope_stops_at_once(train: Started, recorded: Opened) -> None:
    truth = train("dropped.py")
    assert truth["still_recording"] is False
    assert "was deleted while it recorded" in truth["said"]
    assert rows(recorded(), "select count(*) > 0 from ops") == [(True,)]


def test_two_ranks_tell_waiting_from_transfer(train: Started, recorded: Opened) -> None:
    train("ranks.py", "1", "0.4", ranks=2)
    run = recorded()
    assert rows(run, "select distinct rank from communications order by rank") == [(0,), (1,)]
    # The exchange begins when the last rank has come: before, a rank waits.
    apart = """
        with c as (select rank, step, name, ts, dur, elements,
                          max(ts) over (partition by step, name) as all_there
                   from communications where op = 'AllReduce' and step is not null),
             s as (select rank, step, sum(all_there - ts)::bigint as wait,
                          sum(ts + dur - all_there)::bigint as transfer, count(*) as calls
                   from c group by rank, step)
        select rank, median(wait) as wait, median(transfer) as transfer, sum(calls)::bigint
        from s group by rank order by rank
    """
    # The middle one of three steps: a busy machine may hold a rank up in one.
    (_, waited, moved, count), (_, late_waited, late_moved, late_count) = rows(run, apart)
    assert count == late_count == 3 * 6
    assert waited > 0.3e9, "rank 0 waits for the straggler"
    assert late_waited < waited / 3
    assert abs(moved - late_moved) < waited / 3, "the transfer takes both as long"
    sizes = "select distinct elements from communications where rank = 0 order by elements"
    assert rows(run, sizes) == [(10,), (128,), (1280,), (8192,), (16384,)]


def test_the_two_profilers_keep_out_of_each_others_way(train: Started, recorded: Opened) -> None:
    truth = train("both.py")
    assert "MindSpore's own profiler" in truth["said"]
    assert truth["ours_first"] == 75 * 3
    assert truth["theirs_first"] == 0


@pytest.mark.parametrize("options", ["", '{"start": true, "activities": ["CPU"]}'])
def test_an_unchanged_program_gets_our_profiler(
    train: Started, recorded: Opened, options: str
) -> None:
    truth = train("unchanged.py", injected=True, MS_PROFILER_OPTIONS=options)
    assert truth["profile_is_from"].startswith("stepscope.")
    run = recorded()
    assert rows(run, "select count(*) from ops")[0][0] >= 3 * 75
    if not options:
        assert rows(run, "select count(distinct step) from ops") == [(3,)]


@pytest.mark.parametrize("options", ["", '{"start": true, "activities": ["CPU"]}'])
def test_an_unchanged_program_inside_of_stepscope_record(
    record_program: Callable[..., str], recorded: Opened, tmp_path: pathlib.Path, options: str
) -> None:
    variables = {"GLOG_v": "3", "OMP_NUM_THREADS": "1", "MS_PROFILER_OPTIONS": options}
    said = record_program(PROGRAMS / "unchanged.py", tmp_path, **variables)
    assert "nothing to stop" not in said
    truth = json.loads((tmp_path / "truth.json").read_text())
    assert truth["profile_is_from"].startswith("stepscope.")
    run = recorded()
    assert rows(run, "select source_path like '%/runs/%' from ranks") == [(True,)]
    about = json.loads(rows(run, "select versions from ranks")[0][0])
    assert len(about["windows"]) == 1
    if options:
        assert rows(run, "select count(*) from ops")[0][0] >= 8 * 75
    else:
        counts = rows(run, "select step, count(*) from ops group by step order by step")
        assert [count for _, count in counts] == [75, 75, 75]
        ranges = rows(run, "select name from slices where name like 'step _' order by name")
        assert ranges == [("step 1",), ("step 2",), ("step 3",)]
        marked = rows(run, "select count(*) from steps")[0][0]
        assert marked >= 8, "those outside of the window too"


def test_all_names_are_ours_and_the_parallel_context_is_kept(
    train: Started, recorded: Opened
) -> None:
    truth = train("names.py", injected=True)
    assert all(module.startswith("stepscope.") for module in truth["modules"]), truth
    assert "parallel_strategy has no effect" not in truth["said"]
    run = recorded()
    assert rows(run, "select distinct step from ops") == [(2,)]
    parallel = json.loads(rows(run, "select parallel from ranks")[0][0])
    assert parallel["parallel_mode"] == "data_parallel"
    assert parallel["gradients_mean"] is True
    assert parallel["pipeline_stages"] == 1


@pytest.mark.parametrize(("callback", "steps"), [("step", [3, 4, 5]), ("epoch", range(9, 17))])
def test_the_callbacks_of_mindspores_documentation(
    record_program: Callable[..., str],
    recorded: Opened,
    tmp_path: pathlib.Path,
    callback: str,
    steps: list[int],
) -> None:
    variables = {"GLOG_v": "3", "OMP_NUM_THREADS": "1"}
    record_program(PROGRAMS / "their_callbacks.py", callback, tmp_path, **variables)
    truth = json.loads((tmp_path / "truth.json").read_text())
    assert truth["profiler_is_from"].startswith("stepscope.")
    run = recorded()
    counts = rows(run, "select step, count(*) from ops group by step order by step")
    assert counts == [(step, 43) for step in steps]


def test_a_slow_step_of_model_train_is_captured(train: Started) -> None:
    """A watch, and a loader that stops for eight seconds."""
    truth = train("watched.py", "40")
    ((path, kind),) = truth["captures"]
    assert kind == "slow_step"
    with stepscope.open(path) as run:
        (versions,) = rows(run, "select versions from ranks")
        (trigger,) = json.loads(versions[0])["triggers"]
        longest = rows(run, "select step from steps order by dur desc limit 1")[0][0]
        assert trigger["step"] == longest
        assert trigger["seconds"] >= 2
        assert rows(run, "select min(step) from steps")[0][0] < longest


@pytest.mark.parametrize(("when", "batches"), [("after", 8), ("gone", 8), ("epochs", 24)])
def test_a_pipeline_whose_iterator_is_made_after_the_start(
    train: Started, recorded: Opened, when: str, batches: int
) -> None:
    truth = train("iterator.py", when)
    assert truth["rest"] == 7
    run = recorded()
    assert rows(run, _BATCHES) == [(1, batches, batches)]
    assert "minddata told nothing" not in truth["said"]
    assert [found.code for found in run.quality] == ["no_steps"]


def test_no_more_than_a_hundred_pipelines_are_recorded_and_that_is_said(
    train: Started, recorded: Opened
) -> None:
    train("iterator.py", "many")
    run = recorded()
    assert rows(run, _BATCHES) == [(1, 800, 800)]
    (left_out,) = [found.example for found in run.quality if found.code == "source_left_out"]
    assert (
        left_out == "mindspore pipeline: only the first 100 data pipelines of a window are recorded"
    )


def test_windows_of_a_profiler_that_was_made_before_the_iterator(
    train: Started, recorded: Opened
) -> None:
    """As in the callbacks of MindSpore's documentation."""
    truth = train("iterator.py", "between")
    assert truth["rest"] == 4
    run = recorded()
    assert rows(run, "select count(*) from ranks") == [(2,)], "a run for each"
    batches = rows(
        run, "select batch from queues where stage = 'dataset_iterator' order by ts, batch"
    )
    assert batches == [(3,), (5,), (6,), (7,), (8,)]


@pytest.mark.parametrize("when", ["before", "second"])
def test_a_pipeline_that_minddata_does_not_tell_of_is_said(
    train: Started, recorded: Opened, when: str
) -> None:
    truth = train("iterator.py", when)
    run = recorded()
    why = "minddata told nothing: it only records the first pipeline whose iterator is made after"
    missing = [finding for finding in run.quality if finding.code == "not_honoured"]
    assert rows(run, "select count(*) from stages") == [(0,)]
    assert truth["said"].count(f"data_process has no effect: {why}") == 1
    assert why in (missing[0].example or "")
    assert run.why_empty("pipeline").startswith("data_process was on")


def test_every_window_of_stepscope_record_has_its_pipeline(
    record_program: Callable[..., str], recorded: Opened, tmp_path: pathlib.Path
) -> None:
    variables = {"GLOG_v": "3", "OMP_NUM_THREADS": "1"}
    record_program(PROGRAMS / "iterators.py", tmp_path, **variables)
    run = recorded()
    assert rows(run, _BATCHES) == [(1, 13, 13)], "5 of the first, 8 of the second"
    assert rows(run, "select stage from stages where kind = 'BatchOp'") == [("BatchOp_0",)]
    # Of minddata's own lists nothing is worth a word, and its files are no other recording.
    assert [found.code for found in run.quality] == ["no_steps"]


def test_steps_of_several_trainings_have_different_numbers(
    train: Started, recorded: Opened
) -> None:
    train("trainings.py")
    run = recorded()
    counts = rows(run, "select step, count(*) from ops where step is not null group by step")
    assert sorted(step for step, _ in counts) == [1, 2, 3, 4, 5, 6, 7, 8]
    assert rows(run, "select count(*) from steps") == [(8,)]
    assert "duplicate_id" not in [found.code for found in run.quality]
