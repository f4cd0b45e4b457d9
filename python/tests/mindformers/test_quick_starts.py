"""The quick starts of docs/suites.md with mindformers' own Trainer, as they are written."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
from typing import Any, Callable

import pytest
import stepscope

pytestmark = pytest.mark.mindformers
Blocks = Callable[[str, str, str], list[str]]
_PAGE, _HEADING = "suites.md", "mindformers"


def rows(run: stepscope.Run, sql: str) -> list[tuple[Any, ...]]:
    table = run.query(sql)
    return list(zip(*(table[name].tolist() for name in table.columns)))


def holds_steps_3_to_6(run: stepscope.Run, folder: pathlib.Path) -> None:
    """By number, and by what the program saw of the time."""
    counts = rows(run, "select step, count(*) from ops group by step order by step")
    assert [step for step, _ in counts] == [3, 4, 5, 6]
    assert len({count for _, count in counts}) == 1, "every step has the same operators"
    assert counts[0][1] > 500
    for number, begin, end in json.loads((folder / "truth.json").read_text())["steps"]:
        inside = f"select count(*) from ops where ts >= {begin} and ts + dur <= {end}"
        expected = counts[0][1] if 3 <= number <= 6 else 0
        assert rows(run, inside) == [(expected,)], number


@pytest.fixture
def run_shell(cli: pathlib.Path, training: pathlib.Path) -> Callable[[str], str]:
    """Runs a command of the page in the program's folder."""

    def run_it(command: str) -> str:
        programs = [str(cli.parent), str(pathlib.Path(sys.executable).parent), os.environ["PATH"]]
        packages = [str(pathlib.Path(stepscope.__file__).parent.parent)]
        done = subprocess.run(
            command,
            shell=True,
            cwd=training,
            env={
                **os.environ,
                "PATH": os.pathsep.join(programs),
                "PYTHONPATH": os.pathsep.join([*packages, os.environ.get("PYTHONPATH", "")]),
                "GLOG_v": "3",
            },
            text=True,
            capture_output=True,
            timeout=1200,
        )
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        return done.stdout + done.stderr

    return run_it


def add_keys(blocks: Blocks, training: pathlib.Path) -> None:
    (keys,) = blocks(_PAGE, _HEADING, "yaml")
    with (training / "train.yaml").open("a") as file:
        file.write(keys)


def test_an_unchanged_program(
    blocks: Blocks, run_shell: Callable[[str], str], training: pathlib.Path
) -> None:
    add_keys(blocks, training)
    (command,) = blocks(_PAGE, _HEADING, "sh")
    run_shell(command)
    with stepscope.open(training / "stepscope_runs") as run:
        holds_steps_3_to_6(run, training)
        about = json.loads(rows(run, "select versions from ranks")[0][0])
        assert len(about["windows"]) == 1
        assert about["metadata"]["distributed_args"]["tensor_model_parallel_size"] == 1
        assert rows(run, "select count(*) > 0 from memory") == [(True,)], "profile_memory"
    assert not (training / "output" / "profile").exists(), "one run, in one place"


def test_our_monitor(
    blocks: Blocks, run_shell: Callable[[str], str], training: pathlib.Path
) -> None:
    add_keys(blocks, training)
    program, _ = blocks(_PAGE, _HEADING, "python")
    (training / "record.py").write_text(program)
    run_shell("python record.py train.yaml")
    folder = training / "output" / "profile" / "rank_0" / "profiler"
    with stepscope.open(folder) as run:
        holds_steps_3_to_6(run, training)
        assert rows(run, "select count(*) > 0 from memory") == [(True,)], "profile_memory"
    (recorded,) = folder.glob("*_ascend_ms")
    pairs = json.loads((recorded / "profiler_metadata.json").read_text())
    assert pairs["distributed_args"]["pipeline_model_parallel_size"] == 1
    assert (recorded / "ASCEND_PROFILER_OUTPUT" / "step_trace_time.csv").exists(), "analysed"


def test_steps_chosen_while_it_trains(
    blocks: Blocks, run_shell: Callable[[str], str], training: pathlib.Path
) -> None:
    with (training / "train.yaml").open("a") as file:
        file.write("profile: True\n")
    (training / "dyn_cfg").mkdir()
    wanted = {"start_step": 3, "stop_step": 6}
    (training / "dyn_cfg" / "profiler_config.json").write_text(json.dumps(wanted))
    _, program = blocks(_PAGE, _HEADING, "python")
    (training / "record.py").write_text(program)
    run_shell("python record.py train.yaml")
    with stepscope.open(training / "dynprof_data") as run:
        holds_steps_3_to_6(run, training)
    assert (training / "dynprof_data" / "rank0_start3_stop6").is_dir()
