"""The server as a program: start and stop, a port that is taken, TLS, a full disk, one store."""

from __future__ import annotations

import contextlib
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
def serving(*options: object, limit: int | None = None, port: int = 0) -> Iterator[str]:
    """The link of a server that runs meanwhile; `limit`: the largest file it can write."""

    def restrict() -> None:
        if limit is not None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    command = [STEPSCOPE, "serve", "--port", str(port), *map(str, options)]
    child = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, bufsize=1, preexec_fn=restrict
    )
    try:
        assert child.stdout is not None
        line = child.stdout.readline()
        assert line.startswith("Web address: "), line
        yield line.split(": ", 1)[1].strip()
        assert child.poll() is None, "the server ended"
    finally:
        child.terminate()
        child.wait(timeout=20)
        if child.stdout is not None:
            child.stdout.close()


def ask(link: str, path: str, context: ssl.SSLContext | None = None) -> Any:
    address, token = link.split("?token=")
    request = urllib.request.Request(f"{address}api/v1/{path}")
    request.add_header("X-Stepscope-Token", token)
    with urllib.request.urlopen(request, timeout=20, context=context) as reply:
        return json.load(reply)


def settled(link: str) -> list[dict[str, Any]]:
    for _ in range(200):
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
            timeout=20,
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
        timeout=20,
    )
    assert started.returncode == 0, started.stderr
    lines = dict(line.split(": ", 1) for line in started.stdout.splitlines())
    assert lines["service start state"] == "success"
    assert lines["Summary base dir"] == str(runs)
    try:
        assert [run["name"] for run in settled(lines["Web address"])] == ["one.json"]
    finally:
        stopped = subprocess.run([STEPSCOPE, "stop", *where], capture_output=True, timeout=20)
    assert stopped.returncode == 0, stopped.stderr
    with pytest.raises(urllib.error.URLError):
        ask(lines["Web address"], "runs")
    assert subprocess.run([STEPSCOPE, "stop", *where], capture_output=True).returncode != 0


def test_a_folder_that_is_not_there_says_what_was_expected(tmp_path: pathlib.Path) -> None:
    told = subprocess.run(
        [STEPSCOPE, "serve", tmp_path / "nowhere"], capture_output=True, text=True, timeout=20
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
            timeout=20,
        )
        assert told.returncode != 0
        assert "TLS" in told.stderr


def test_a_full_disk_is_the_runs_reason_and_the_server_goes_on(runs: pathlib.Path) -> None:
    with serving(runs, limit=4096) as link:
        (run,) = settled(link)
        assert run["state"] == "failed"
        assert "free some space" in run["reason"]
        with pytest.raises(urllib.error.HTTPError) as refused:
            ask(link, f"runs/{run['id']}")
        error = json.load(refused.value)["error"]
        assert error["code"] == "bad_input"
        assert "one.json" in error["where"]
        assert ask(link, "runs")["runs"]


def test_one_trace_and_one_store_can_be_opened(runs: pathlib.Path) -> None:
    with serving(runs / "one.json") as link:
        (run,) = settled(link)
        assert run["state"] == "ready"
    store = runs / "one.json.stepscope"
    assert store.exists()
    with serving(store) as link:
        (run,) = settled(link)
        assert run["state"] == "ready", run
