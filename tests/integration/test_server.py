"""The server as a program: start and stop, a port that is taken, TLS, a full disk, one store."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import pathlib
import resource
import signal
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

ROOT = pathlib.Path(__file__).parents[2]
BUILD = pathlib.Path(os.environ.get("STEPSCOPE_BINARY_DIR", ROOT / "build"))
STEPSCOPE = BUILD / "stepscope"

TRACE = {
    "traceEvents": [
        {"ph": "X", "cat": "cpu_op", "name": f"op{i}", "pid": 1, "tid": 1, "ts": i * 10, "dur": 5}
        for i in range(2000)
    ]
}


@pytest.fixture()
def runs(tmp_path: pathlib.Path) -> pathlib.Path:
    folder = tmp_path / "runs"
    folder.mkdir()
    (folder / "one.json").write_text(json.dumps(TRACE))
    return folder


@contextlib.contextmanager
def serving(
    *options: object, limit: int | None = None, port: int = 0, command: str = "serve"
) -> Iterator[str]:
    """The link of a server that runs meanwhile; `limit`: the largest file it can write."""

    def restrict() -> None:
        if limit is not None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    words = [STEPSCOPE, command, "--port", str(port), *map(str, options)]
    child = subprocess.Popen(
        words, stdout=subprocess.PIPE, text=True, bufsize=1, preexec_fn=restrict
    )
    try:
        assert child.stdout is not None
        line = child.stdout.readline()
        assert line.startswith("Web address: "), line
        yield line.split(": ", 1)[1].strip()
        assert child.poll() is None, "the server ended"
    finally:
        child.terminate()
        child.wait(timeout=120)
        if child.stdout is not None:
            child.stdout.close()


def ask(link: str, path: str, context: ssl.SSLContext | None = None) -> Any:
    address, token = link.split("?token=")
    request = urllib.request.Request(f"{address}api/v1/{path}")
    request.add_header("X-Stepscope-Token", token)
    with urllib.request.urlopen(request, timeout=120, context=context) as reply:
        return json.load(reply)


def settled(link: str) -> list[dict[str, Any]]:
    end = time.monotonic() + 120
    while time.monotonic() < end:
        runs: list[dict[str, Any]] = ask(link, "runs")["runs"]
        if runs and all(run["state"] in ("ready", "failed") for run in runs):
            return runs
        time.sleep(0.05)
    raise AssertionError("the runs are not imported")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_a_taken_port_names_its_holder_and_the_next_free_one(runs: pathlib.Path) -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]
        told = subprocess.run(
            [STEPSCOPE, "serve", runs, "--port", str(port)],
            capture_output=True,
            text=True,
            timeout=120,
        )
    assert told.returncode != 0
    assert f"process {os.getpid()}" in told.stderr
    assert "is free" in told.stderr


def test_start_and_stop(runs: pathlib.Path, tmp_path: pathlib.Path) -> None:
    where = ["--workspace", str(tmp_path / "workspace"), "--port", str(free_port())]
    started = subprocess.run(
        [STEPSCOPE, "start", "--summary-base-dir", runs, *where],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert started.returncode == 0, started.stderr
    lines = dict(line.split(": ", 1) for line in started.stdout.splitlines())
    assert lines["service start state"] == "success"
    assert lines["Summary base dir"] == str(runs)
    try:
        assert [run["name"] for run in settled(lines["Web address"])] == ["one.json"]
    finally:
        stopped = subprocess.run([STEPSCOPE, "stop", *where], capture_output=True, timeout=120)
    assert stopped.returncode == 0, stopped.stderr
    with pytest.raises(urllib.error.URLError):
        ask(lines["Web address"], "runs")
    assert subprocess.run([STEPSCOPE, "stop", *where], capture_output=True).returncode != 0


def test_a_second_start_on_the_same_folder_names_the_first(
    runs: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    where = ["--workspace", str(tmp_path / "workspace"), "--port", str(free_port())]

    def start(folder: pathlib.Path) -> subprocess.CompletedProcess[str]:
        command = [STEPSCOPE, "start", "--summary-base-dir", folder, *where]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)

    first = start(runs)
    assert first.returncode == 0, first.stderr
    address = dict(line.split(": ", 1) for line in first.stdout.splitlines())["Web address"]
    try:
        note = next((tmp_path / "workspace").glob("server.*.json"))
        assert note.stat().st_mode & 0o777 == 0o600
        pid = json.loads(note.read_text())["pid"]
        again = start(runs / ".." / runs.name)
        assert again.returncode == 2
        assert f"process {pid}" in again.stdout
        assert f"Web address: {address}" in again.stdout
        other = tmp_path / "other"
        other.mkdir()
        refused = start(other)
        assert refused.returncode == 1
        assert f"process {pid}" in refused.stderr
        assert str(runs) in refused.stderr
        log = refused.stderr.rsplit("more failed details in log: ", 1)[1].strip().rstrip(")")
        assert "cannot take the port" in pathlib.Path(log).read_text()
        assert ask(address, "runs")["runs"]
    finally:
        subprocess.run([STEPSCOPE, "stop", *where], capture_output=True, timeout=120, check=False)


def test_a_workspace_that_cannot_be_written_is_said_at_once(
    runs: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    (tmp_path / "file").write_text("")
    for command in ("start", "serve"):
        for place in ("file", "file/below"):
            told = subprocess.run(
                [STEPSCOPE, command, runs, "--port", "0", "--workspace", tmp_path / place],
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
            assert told.returncode == 1, (command, place, told.stdout)
            assert str(tmp_path / place) in told.stderr


def test_a_prefix_that_leads_elsewhere_is_refused(runs: pathlib.Path) -> None:
    for wrong in (["--url-path-prefix", "/../x"], ["--allow-frame", "http://a;b"]):
        told = subprocess.run(
            [STEPSCOPE, "serve", runs, "--port", "0", *wrong],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert told.returncode == 1
        assert wrong[1] in told.stderr


def test_frames_of_other_sites_are_allowed_one_by_one(runs: pathlib.Path) -> None:
    origins = ["http://localhost:8888", "https://hub.example.org"]
    with serving("--allow-frame", origins[0], "--allow-frame", origins[1], runs) as link:
        address, token = link.split("?token=")
        page = urllib.request.Request(address, headers={"X-Stepscope-Token": token})
        with urllib.request.urlopen(page, timeout=120) as reply:
            policy = reply.headers["Content-Security-Policy"]
        assert policy.endswith("frame-ancestors 'self' " + " ".join(origins))


def test_a_folder_that_is_not_there_says_what_was_expected(tmp_path: pathlib.Path) -> None:
    told = subprocess.run(
        [STEPSCOPE, "serve", tmp_path / "nowhere"], capture_output=True, text=True, timeout=120
    )
    assert told.returncode != 0
    assert "nowhere" in told.stderr
    assert "folder with recordings" in told.stderr


def test_tls(runs: pathlib.Path, tmp_path: pathlib.Path) -> None:
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    request = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
    made = subprocess.run(
        [*request, *names, "-keyout", key, "-out", certificate],
        capture_output=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    with serving(runs, "--cert", certificate, "--key", key) as link:
        assert link.startswith("https://")
        trusted = ssl.create_default_context(cafile=str(certificate))
        assert ask(link, "runs", trusted)["runs"]
        with pytest.raises(urllib.error.URLError):  # nobody trusts a certificate by itself
            ask(link, "runs")
    for options in (["--cert", certificate], ["--cert", key, "--key", certificate]):
        told = subprocess.run(
            [STEPSCOPE, "serve", runs, "--port", "0", *options],
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert told.returncode != 0
        assert "TLS" in told.stderr


def test_a_full_disk_is_the_runs_reason_and_the_server_goes_on(runs: pathlib.Path) -> None:
    with serving(runs, limit=4096) as link:
        (run,) = settled(link)
        assert run["state"] == "failed"
        assert "ulimit -f" in run["reason"]  # which is how the disk is made full here
        with pytest.raises(urllib.error.HTTPError) as refused:
            ask(link, f"runs/{run['id']}")
        error = json.load(refused.value)["error"]
        assert error["code"] == "no_space"
        assert "another disk" in error["remedy"]
        assert "one.json" in error["where"]
        assert ask(link, "runs")["runs"]


def pytorch_trace(steps: int = 6) -> dict[str, Any]:
    """What torch.profiler leaves of a training whose device mostly waits for data, in us."""
    events: list[dict[str, Any]] = []

    def add(cat: str, name: str, tid: int, ts: int, dur: int, **args: object) -> None:
        pid = 0 if cat == "kernel" else 100
        event = {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur}
        events.append({**event, "args": args})

    for step in range(steps):
        start = 1_000_000 + step * 10_000
        add("user_annotation", f"ProfilerStep#{step}", 100, start, 9_900)
        loader = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
        add("user_annotation", loader, 100, start + 100, 6_000)
        for i, name in enumerate(("aten::addmm", "aten::relu", "aten::addmm", "aten::sum")):
            at, number = start + 6_200 + i * 500, step * 10 + i
            add("cpu_op", name, 100, at, 300, **{"External id": number})
            add("cuda_runtime", "cudaLaunchKernel", 100, at + 100, 20, correlation=number)
            kernel = "sgemm_128x64" if name == "aten::addmm" else f"{name[6:]}_kernel"
            known = {"correlation": number, "device": 0, "stream": 7, "External id": number}
            add("kernel", kernel, 7, at + 150, 280, **known)
    device = {"id": 0, "name": "NVIDIA H200", "totalGlobalMem": 1 << 37, "numSms": 132}
    return {"schemaVersion": 1, "deviceProperties": [device], "traceEvents": events}


def test_one_command_shows_what_a_pytorch_trace_holds(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for screen in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(screen, raising=False)
    trace = tmp_path / "worker0.1700000000000.pt.trace.json.gz"
    trace.write_bytes(gzip.compress(json.dumps(pytorch_trace()).encode()))
    with serving(trace, "--workspace", tmp_path / "workspace", command="open") as link:
        assert link.startswith("http://127.0.0.1:")
        (run,) = settled(link)
        assert (run["state"], run["steps"]) == ("ready", 6), run

        def rows(table: str) -> list[dict[str, Any]]:
            reply = ask(link, f"runs/{run['id']}/analyses/{table}")
            names = [column["name"] for column in reply["columns"]]
            return [dict(zip(names, row, strict=True)) for row in reply["rows"]]

        (budget,) = [row for row in rows("step_budget") if row["step"] == 3]
        assert budget["step_ns"] == 9_900_000
        assert rows("findings")[0]["rule"] == "slow_input"
        assert {"aten::addmm", "aten::relu"} <= {row["name"] for row in rows("operators")}
        assert {row["name"] for row in rows("kernels")} >= {"sgemm_128x64", "relu_kernel"}
        tracks = ask(link, f"runs/{run['id']}/timeline/tracks")["tracks"]
        assert sum(track["slices"] for track in tracks) == 6 * 14


def test_one_trace_and_one_store_can_be_opened(runs: pathlib.Path) -> None:
    with serving(runs / "one.json") as link:
        (run,) = settled(link)
        assert run["state"] == "ready"
    store = runs / "one.json.stepscope"
    assert store.exists()
    with serving(store) as link:
        (run,) = settled(link)
        assert run["state"] == "ready", run
