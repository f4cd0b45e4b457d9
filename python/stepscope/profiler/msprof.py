"""CANN's program msprof: makes tables and timelines of the raw data of an NPU.

Raw data are folders PROF_* of a run directory. They mean something to msprof alone, which need not
be installed where the training ran: a run can be exported elsewhere, and be opened again then.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from stepscope.profiler.run_directory import find_prof_folders, make_folder

_TIMEOUT_S = 10 * 3600  # MindSpore's: large jobs take hours
_GRACE_S = 10
_LOG = "logs/msprof.log"
_OUTPUT = "mindstudio_profiler_output"
_NO_MODEL = "4294967295"
_LATEST = Path("/usr/local/Ascend/latest")
_SCRIPT = "tools/profiler/profiler_tool/analysis/msprof/msprof.py"
#: what msprof leaves behind and nobody reads
_LEFT_OVER = ("mindstudio_profiler_log", "*/sqlite", "*/data/all_file.complete")


def export(
    directory: Path, steps: Sequence[int] | None = None, simplify: bool = True
) -> Iterator[str]:
    """Exports the PROF_ folders of a run directory that are not exported yet, or again where only
    some steps are wanted. Yields what could not be done, in sentences."""
    program = _find("msprof", "bin/msprof", "tools/profiler/bin/msprof")
    for folder in find_prof_folders(directory):
        types, collectives = _wanted(directory)
        missing = [kind for kind in types if steps or not _is_exported(folder, kind)]
        if not missing:
            continue
        if not program:
            commands = " && ".join(
                shlex.join(line) for line in _commands("msprof", folder, missing, collectives)
            )
            yield (
                f"{folder.name} holds raw data of the NPU, and CANN's program msprof, which reads "
                f"them, was not found. Where CANN is installed, run: {commands}"
            )
            continue
        script = _find("", _SCRIPT) if steps else ""
        if steps and not script:
            yield f"step_list has no effect on {folder.name}: CANN has no {_SCRIPT} here"
        lines = (
            _commands_of_steps(script, folder, steps)
            if steps and script
            else _commands(program, folder, missing, collectives)
        )
        failed, failure = _run_all(lines, directory / _LOG)
        if failure:
            if failed == lines[0] and "text" in missing and not steps:
                shutil.rmtree(folder / _OUTPUT, ignore_errors=True)  # half of it would look whole
            yield f"{folder.name} is not all exported: {failure}; see {directory / _LOG}"
        elif simplify:
            _simplify(folder)


def _wanted(directory: Path) -> tuple[list[str], bool]:
    """The forms that were asked for when the run was recorded, and whether it has the parts of
    collectives."""
    for path in sorted(directory.glob("profiler_info_*.json")):
        try:
            parameters = json.loads(path.read_text("utf-8"))["profiler_parameters"]
            types = [kind for kind in parameters["export_type"] if kind in ("text", "db")]
            return types or ["text"], parameters["profiler_level"] in ("Level1", "Level2")
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return ["text"], False


def _is_exported(folder: Path, kind: str) -> bool:
    if kind == "db":
        return any(folder.glob("msprof_*.db"))
    return (folder / _OUTPUT).is_dir() and any((folder / _OUTPUT).iterdir())


def _commands(
    program: str, folder: Path, types: Sequence[str], collectives: bool
) -> list[list[str]]:
    lines = []
    for kind in types:
        form = ["--type=db"] if kind == "db" else []
        lines.append([program, "--export=on", f"--output={folder}", *form])
        if collectives:
            rule = "--rule=communication,communication_matrix"
            lines.append([program, "--analyze=on", rule, f"--output={folder}", *form])
    return lines


def _commands_of_steps(script: str, folder: Path, steps: Sequence[int]) -> list[list[str]]:
    chosen = ["--iteration-id", str(steps[0]), "--iteration-count", str(len(steps))]
    return [
        ["python3", script, "export", what, "-dir", str(folder), "--model-id", _NO_MODEL, *chosen]
        for what in ("timeline", "summary")
    ]


def _find(in_path: str, *below: str) -> str:
    """A program of PATH, or a file below one of CANN's folders; empty where there is none."""
    found = shutil.which(in_path) if in_path else None
    if found:
        return found
    homes = [os.environ.get(name) for name in ("ASCEND_TOOLKIT_HOME", "ASCEND_HOME_PATH")]
    for home in (*(Path(home) for home in homes if home), _LATEST):
        for name in below:
            if os.access(home / name, os.R_OK):
                return str(home / name)
    return ""


def _timeout_s() -> float:
    try:
        return float(os.environ["STEPSCOPE_MSPROF_TIMEOUT_S"])
    except (KeyError, ValueError):
        return _TIMEOUT_S


def _run_all(lines: Sequence[list[str]], log: Path) -> tuple[list[str], str]:
    """Runs commands until one fails; what they print goes to the log. Returns which, and why."""
    make_folder(log.parent)
    until = time.monotonic() + _timeout_s()
    handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o640)
    with os.fdopen(handle, "ab", 0) as file:
        for line in lines:
            file.write(f"$ {shlex.join(line)}\n".encode())
            try:
                failure = _run(line, file.fileno(), until - time.monotonic())
            except OSError as error:
                failure = f"{line[0]} cannot be started, {error.strerror}"
            if failure:
                file.write(f"{failure}\n".encode())
                return line, failure
    return [], ""


def _run(line: Sequence[str], output: int, timeout_s: float) -> str:
    # A group of its own: msprof starts programs, which have to end with it.
    process = subprocess.Popen(
        line, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
    )
    try:
        code = process.wait(max(timeout_s, 0))
        return f"msprof ended with {code}" if code else ""
    except subprocess.TimeoutExpired:
        return f"msprof took more than {_timeout_s():g} s (STEPSCOPE_MSPROF_TIMEOUT_S)"
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is not None:
            return
        os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE_S)


def _simplify(folder: Path) -> None:
    for pattern in _LEFT_OVER:
        for path in folder.glob(pattern):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink()
