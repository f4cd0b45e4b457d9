"""The programs of docs/pytorch.md as they are written, and the callbacks of trainers."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
from collections.abc import Iterator
from typing import Any, Callable

import pytest
import stepscope

OFFLINE = {
    "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1",
    "CUDA_VISIBLE_DEVICES": "",
}  # fmt: skip
Started = Callable[[str], str]


def rows(run: stepscope.Run, sql: str) -> list[tuple[Any, ...]]:
    table = run.query(sql)
    return list(zip(*(table[name].tolist() for name in table.columns)))


@pytest.fixture
def program(tmp_path: pathlib.Path) -> Iterator[Started]:
    """Runs a program of its own, as a user would."""

    def start(text: str) -> str:
        file = tmp_path / "program.py"
        file.write_text(text)
        done = subprocess.run(
            [sys.executable, str(file)], cwd=tmp_path, env={**os.environ, **OFFLINE}, text=True,
            capture_output=True, timeout=1200,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    yield start


def test_the_torch_program(
    examples: Callable[[str, str], list[str]], program: Started, tmp_path: pathlib.Path
) -> None:
    (text,) = examples("pytorch.md", "PyTorch")
    assert "aten::" in program(text), "which of them take longest depends on the machine"
    assert len(list((tmp_path / "traces").glob("*.pt.trace.json"))) == 1
    (recording,) = (tmp_path / "traces").glob("*_ascend_ms")
    with stepscope.open(recording) as run:
        assert rows(run, "select step from steps order by step") == [(2,), (3,), (4,)]
        assert rows(run, "select count(*) from slices where name = 'forward'") == [(3,)]
        assert rows(run, "select count(*) from ops where input_shapes is not null")[0][0] > 0


def phases_of(run: stepscope.Run, *names: str) -> dict[str, int]:
    chosen = ", ".join(f"'{name}'" for name in names)
    return dict(
        rows(
            run,
            f"select name, count(*) from slices where name in ({chosen})"
            " and cat = 'user_annotation' group by name",
        )
    )


def test_the_hugging_face_program(
    examples: Callable[[str, str], list[str]], program: Started, tmp_path: pathlib.Path
) -> None:
    (text,) = examples("pytorch.md", "Hugging Face")
    program(text)
    with stepscope.open(tmp_path / "trained" / "stepscope") as run:
        assert rows(run, "select step, complete from steps order by step") == [
            (step, True) for step in (4, 5, 6)
        ]
        # The evaluation behind step 4 lies where step 5 begins.
        assert phases_of(run, "forward and backward", "optimizer", "evaluation") == {
            "forward and backward": 3, "optimizer": 3, "evaluation": 1,
        }  # fmt: skip
        outside = rows(run, "select name, step from slices where step is null"
                            " and name in ('optimizer', 'forward and backward')")  # fmt: skip
        assert outside == []
        inside = rows(
            run,
            "select count(*) from slices f join ops using (rank, track)"
            " where f.name = 'forward and backward' and ops.name = 'aten::linear'"
            " and ops.ts between f.ts and f.ts + f.dur",
        )
        assert inside[0][0] > 0
        loaders = "select count(*), count(distinct stage) from queues where batch is not null"
        assert rows(run, loaders) == [(3 + 1, 2)]


def test_a_hugging_face_training_that_is_resumed(
    examples: Callable[[str, str], list[str]], program: Started, tmp_path: pathlib.Path
) -> None:
    """Steps go on counting, and the schedule counts from where it goes on."""
    (text,) = examples("pytorch.md", "Hugging Face")
    text = text.replace("eval_steps=4", "eval_steps=4, save_steps=4")
    before = text.replace("max_steps=8", "max_steps=4").replace("callbacks=[recording],", "")
    text = text.replace("trainer.train()", "trainer.train(resume_from_checkpoint=True)")
    program(before + text.replace("max_steps=8", "max_steps=12"))
    with stepscope.open(tmp_path / "trained" / "stepscope") as run:
        assert rows(run, "select step from steps order by step") == [(8,), (9,), (10,)]
        assert phases_of(run, "save", "evaluation") == {"save": 1, "evaluation": 1}


def test_the_lightning_program(
    examples: Callable[[str, str], list[str]], program: Started, tmp_path: pathlib.Path
) -> None:
    (text,) = examples("pytorch.md", "Lightning")
    program(text)
    with stepscope.open(tmp_path / "stepscope") as run:
        assert rows(run, "select step, complete from steps order by step") == [
            (step, True) for step in (4, 5, 6)
        ]
        phases = phases_of(run, "forward", "backward", "optimizer", "validation")
        assert phases == {"forward": 3, "backward": 3, "optimizer": 3}
        assert rows(run, "select count(*) from queues") == [(3,)]
        assert "stream_overlap" not in {finding.code for finding in run.quality}
        inside = rows(
            run,
            "select p.name, count(*) from slices s join slices p on p.id = s.parent and"
            " p.rank = s.rank where s.name in ('forward', 'backward', 'optimizer') group by 1",
        )
        assert inside == [("Optimizer.step#SGD.step", 9)], "torch's range has all of them"


def test_lightning_steps_of_several_batches_and_validation(
    examples: Callable[[str, str], list[str]], program: Started, tmp_path: pathlib.Path
) -> None:
    """With the other package, which is the same under its older name."""
    (text,) = examples("pytorch.md", "Lightning")
    text = text.replace("import lightning\n", "import pytorch_lightning as lightning\n")
    text = text.replace(
        "max_steps=8,", "max_steps=12, accumulate_grad_batches=2, val_check_interval=8,"
    )
    text = text.replace("(dataset, batch_size=64))", "(dataset, batch_size=32), "
                        "torch.utils.data.DataLoader(dataset, batch_size=64))")  # fmt: skip
    text = text.replace("    def configure", "    def validation_step(self, batch, index):\n"
                        "        pass\n\n    def configure")  # fmt: skip
    program(text)
    with stepscope.open(tmp_path / "stepscope") as run:
        assert rows(run, "select step from steps order by step") == [(4,), (5,), (6,)]
        phases = phases_of(run, "forward", "backward", "optimizer", "validation")
        assert phases == {"forward": 6, "backward": 6, "optimizer": 3, "validation": 1}
        assert "stream_overlap" not in {finding.code for finding in run.quality}


def test_a_training_that_fails_leaves_a_complete_recording(
    examples: Callable[[str, str], list[str]], program: Started, tmp_path: pathlib.Path
) -> None:
    (text,) = examples("pytorch.md", "Lightning")
    fails = "        if index == 4:\n            raise ValueError('at 4')\n"
    text = text.replace(
        "        values, labels = batch\n", f"        values, labels = batch\n{fails}"
    )
    text = text.replace("trainer.fit", "try:\n    trainer.fit") + "except ValueError as error:\n"
    assert "at 4" in program(text + "    print(error)\n")
    with stepscope.open(tmp_path / "stepscope") as run:
        assert "ended_abnormally" not in {finding.code for finding in run.quality}
        assert rows(run, "select min(step) from steps") == [(4,)]
