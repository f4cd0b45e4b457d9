"""``stepscope capture HOST:PORT``: ranks of machines that share no folder."""

from __future__ import annotations

import http.client
import json
import pathlib
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Callable

import pytest
from rank_job import Job, until
from stepscope.profiler.dynamic import control as control_module
from stepscope.profiler.dynamic.control import Control

Made = Callable[..., Job]


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


@pytest.fixture
def machine(tmp_path: pathlib.Path, cli: pathlib.Path) -> Iterator[Made]:
    """Ranks with a folder of their own."""
    made: list[Job] = []

    def make(name: str, *arguments: int, **more: str) -> Job:
        made.append(Job(tmp_path / name, cli, *arguments, **more))
        return made[-1]

    yield make
    for one in made:
        for rank in one.ranks:
            if rank.poll() is None:
                rank.kill()
                rank.communicate()


def listens(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


def status_of(port: int, path: str = "/ranks", **headers: str) -> int:
    caller = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    caller.request("GET", path, headers=headers)
    status = caller.getresponse().status
    caller.close()
    return status


@contextmanager
def slow_caller(port: int) -> Iterator[threading.Thread]:
    """Says a byte now and then, and never what it wants; alive until it is hung up on."""
    over = threading.Event()
    with socket.create_connection(("127.0.0.1", port)) as caller:
        caller.sendall(b"GET /ranks HTTP/1.0\r\nX: ")

        def drip() -> None:
            try:
                while not over.wait(0.1):
                    caller.sendall(b"x")
            except OSError:
                pass

        thread = threading.Thread(target=drip)
        thread.start()
        try:
            yield thread
        finally:
            over.set()
            thread.join()


def test_a_slow_caller_does_not_hold_up_the_end(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control_module, "_PATIENCE", 3600.0)
    port = free_port()
    control = Control(f"127.0.0.1:{port}", tmp_path / "profiler_config.json")
    with slow_caller(port) as caller:
        control.close()
        assert not listens(port)
        until(lambda: not caller.is_alive(), "it is hung up on")
    again = Control(f"127.0.0.1:{port}", tmp_path / "profiler_config.json")
    assert status_of(port) == 200
    again.close()


def test_a_slow_caller_keeps_others_waiting_for_a_while_only(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control_module, "_PATIENCE", 1.0)
    port = free_port()
    control = Control(f"127.0.0.1:{port}", tmp_path / "profiler_config.json")

    def answers() -> bool:
        try:
            return status_of(port) == 200
        except (OSError, http.client.HTTPException):
            return False  # a busy machine may be too slow a caller itself

    with slow_caller(port):
        until(answers, "others are answered")
    control.close()


def test_without_a_token_it_answers_to_the_names_of_the_loopback_address_only(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = free_port()
    file = tmp_path / "profiler_config.json"
    control = Control(f"127.0.0.1:{port}", file)
    for host in (
        "localhost",
        f"LOCALHOST:{port}",
        f"127.0.0.1:{port}",
        f"[::1]:{port}",
        "127.1.2.3",
    ):
        assert status_of(port, Host=host) == 200, host
    for host in (
        f"evil.example:{port}",
        "127.evil.example",
        "localhost.evil.example",
        "",
        "10.0.0.1",
    ):
        assert status_of(port, Host=host) == 403, host
    control.close()
    monkeypatch.setenv("STEPSCOPE_CONTROL_TOKEN", "secret")
    control = Control(f"127.0.0.1:{port}", file)
    assert status_of(port, Host="a.name.of.a.tunnel", Authorization="Bearer secret") == 200
    assert status_of(port, Host="localhost") == 401
    control.close()


def test_two_machines_record_the_same_steps(machine: Made) -> None:
    ports = [free_port(), free_port()]
    sockets = [f"127.0.0.1:{port}" for port in ports]
    jobs = [
        machine(name, 2, first, 4, STEPSCOPE_CONTROL=address)
        for name, first, address in (("one", 0, sockets[0]), ("two", 2, sockets[1]))
    ]
    for port in ports:
        until(lambda port=port: listens(port), "a rank listens")  # type: ignore[misc]
    done = jobs[0].record_next(3, target=",".join(sockets))
    assert [rank["rank"] for rank in done["ranks"]] == [0, 1, 2, 3]
    first, last = done["steps"]
    assert last == first + 2
    for job in jobs:
        job.end()
    assert {**jobs[0].steps(), **jobs[1].steps()} == jobs[0].recorded
    assert sorted(jobs[1].steps()) == [2, 3]
    gone = jobs[0].capture(target=sockets[0], expect=1).stderr
    assert "cannot reach the training" in gone


def certificate_in(folder: pathlib.Path) -> str:
    if not shutil.which("openssl"):
        pytest.skip("needs the program openssl")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
         "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1",
         "-keyout", "key.pem", "-out", "cert.pem"],
        cwd=folder, check=True, capture_output=True,
    )  # fmt: skip
    return str(folder / "cert.pem")


@contextmanager
def server(job: Job, *options: str) -> Iterator[Callable[..., tuple[int, Any]]]:
    """``stepscope serve``; gives a function that asks it."""
    (job.folder / "out").mkdir(exist_ok=True)
    program = subprocess.Popen(
        [job.cli, "serve", job.folder, "--port", "0", "--no-token", *options],
        cwd=job.folder, env=job.environment, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert program.stdout
    port = int(program.stdout.readline().rpartition(":")[2].strip().rstrip("/"))

    def ask(path: str, body: dict[str, Any] | None = None) -> tuple[int, Any]:
        caller = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        method, headers = ("POST", {"Content-Type": "application/json"}) if body else ("GET", {})
        caller.request(method, f"/api/v1/{path}", json.dumps(body) if body else None, headers)
        reply = caller.getresponse()
        content = json.loads(reply.read())
        caller.close()
        return reply.status, content

    try:
        yield ask
    finally:
        program.terminate()
        program.communicate(timeout=120)


def test_the_web_server_asks_a_socket_with_tls_and_a_token(
    machine: Made, tmp_path: pathlib.Path
) -> None:
    certificate = certificate_in(tmp_path)
    port = free_port()
    job = machine(
        "one", 2,
        STEPSCOPE_CONTROL=f"127.0.0.1:{port}",
        STEPSCOPE_CONTROL_TOKEN="secret",
        STEPSCOPE_CONTROL_CERT=certificate,
        STEPSCOPE_CONTROL_KEY=str(tmp_path / "key.pem"),
    )  # fmt: skip
    until(lambda: listens(port), "a rank listens")
    target = ("--control", f"127.0.0.1:{port}", "--control-ca", certificate)
    with server(job, *target) as ask:
        status, told = ask("control/ranks")
        assert status == 200 and [rank["rank"] for rank in told["ranks"]] == [0, 1], told
        status, asked = ask("control/capture", {"next": 3, "ranks": [1]})
        assert status == 200 and [rank["rank"] for rank in asked["ranks"]] == [1], asked

        def request() -> dict[str, Any]:
            state: dict[str, Any] = ask("control/ranks")[1]
            return dict(state["requests"][0])

        until(lambda: request()["ranks"][0]["run_state"] == "ready", "the run is in the list")
        done = request()
        assert done["over"] and done["ranks"][0]["state"] == "finished", done
    job.environment["STEPSCOPE_CONTROL_TOKEN"] = "guessed"
    with server(job, *target) as ask:
        status, refused = ask("control/capture", {"next": 1})
        assert status == 403 and "the token is wrong" in refused["error"]["message"], refused
    job.end()
    first, last = done["steps"]
    assert job.steps() == {1: list(range(first, last + 1))}


def test_with_tls_and_a_token(machine: Made, tmp_path: pathlib.Path) -> None:
    certificate = certificate_in(tmp_path)
    port = free_port()
    address = f"127.0.0.1:{port}"
    job = machine(
        "one", 1,
        STEPSCOPE_CONTROL=address,
        STEPSCOPE_CONTROL_TOKEN="secret",
        STEPSCOPE_CONTROL_CERT=certificate,
        STEPSCOPE_CONTROL_KEY=str(tmp_path / "key.pem"),
    )  # fmt: skip
    until(lambda: listens(port), "the rank listens")
    ca = ("--ca", certificate)
    job.capture("--next", "2", "--wait", *ca, target=address)
    assert "cannot reach" in job.capture(target=address, expect=1).stderr, "without TLS"
    before = job.file.read_text()
    job.environment["STEPSCOPE_CONTROL_TOKEN"] = "guessed"
    assert "the token is wrong" in job.capture(*ca, target=address, expect=1).stderr
    assert job.file.read_text() == before
    job.end()


def test_other_machines_need_tls_and_a_token(machine: Made) -> None:
    port = free_port()
    job = machine("one", 1, STEPSCOPE_CONTROL=f"0.0.0.0:{port}")
    log = job.folder / "cfg" / "log" / "rank_0.log"
    until(lambda: log.exists() and "there is no control socket" in log.read_text(), "it says so")
    assert "other machines could reach it" in log.read_text()
    assert not listens(port)
    job.capture("--next", "1", "--wait")  # the folder works all the same
    job.end()


def test_it_is_off_and_survives_strange_callers(machine: Made) -> None:
    port = free_port()
    job = machine("one", 1, STEPSCOPE_CONTROL=f"127.0.0.1:{port}")
    until(lambda: listens(port), "the rank listens")
    before = job.file.read_text()

    def ask(method: str, path: str, body: str = "", **headers: str) -> int:
        caller = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        caller.request(method, path, body, headers)
        status = caller.getresponse().status
        caller.close()
        return status

    with socket.create_connection(("127.0.0.1", port)) as caller:
        caller.sendall(b"\x00\xff" * 100 + b"\r\n\r\n")
    with socket.create_connection(("127.0.0.1", port)):
        pass
    assert ask("GET", "/") == 404
    assert ask("PUT", "/config", "{}") == 400, "no start_step"
    assert ask("PUT", "/config", '{"start_step": 5, "stop_step": 4}') == 400
    assert ask("PUT", "/config", '{"start_step": 5, "stop_step": 5}') == 412, "not read before"
    assert ask("PUT", "/elsewhere", "{}") == 400
    elsewhere = '{"start_step": 5, "stop_step": 5, "prof_path": "/tmp/elsewhere"}'
    assert ask("PUT", "/config", elsewhere) == 400, "not without a token"
    with pytest.raises((OSError, http.client.HTTPException, AssertionError)):
        assert ask("PUT", "/config", " " * (2 << 20)) == 200
    assert ask("GET", "/ranks") == 200
    assert job.file.read_text() == before
    job.end()
    without = machine("two", 1)
    assert not listens(port)
    without.end()
