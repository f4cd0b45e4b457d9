#!/usr/bin/env python3
"""Clients that ask the server for timeline viewports and tables, all at once.

    python3 bench/server/load.py TRACE_OR_FOLDER_OR_STORE [--clients 64] [--seconds 60] [--lanes 40]
                                 [--no-tables]

Serves the path with build/stepscope, lets the clients ask for random viewports over random lanes
(two requests of three, or all) and for result tables, and prints: requests a second, latency as
the clients see it and until the server had the answer, errors, the server's resident memory after
a tenth of the time and at the end.
"""

from __future__ import annotations

import argparse
import http.client
import json
import multiprocessing
import pathlib
import random
import subprocess
import time

ROOT = pathlib.Path(__file__).parents[2]
TABLES = ("operators", "kernels", "step_times", "findings", "device_time")


def resident_mb(pid: int) -> float:
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def get(connection: http.client.HTTPConnection, path: str) -> tuple[int, bytes, float]:
    """Status, answer, and the seconds that the server says it took to make it."""
    connection.request("GET", f"/api/v1/{path}")
    reply = connection.getresponse()
    made = reply.headers.get("Server-Timing", "dur=0").partition("dur=")[2]
    return reply.status, reply.read(), float(made) / 1000


def ask(port: int, run: str, facts: dict, lanes: int, end: float, seed: int, results) -> None:
    chance = random.Random(seed)
    times: dict[str, list[float]] = {"viewport": [], "table": [], "viewport, at the server": []}
    errors = 0
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    while time.time() < end:
        if not facts["tables"] or chance.random() < 0.67:
            kind = "viewport"
            length = facts["length"] / 2 ** chance.randint(0, 20)
            start = chance.random() * max(1, facts["length"] - length)
            tracks = ",".join(
                map(str, chance.sample(facts["tracks"], min(lanes, len(facts["tracks"]))))
            )
            path = (
                f"runs/{run}/timeline/view?from={int(start)}&to={int(start + length) + 1}"
                f"&width=1920&tracks={tracks}"
            )
        else:
            kind = "table"
            path = f"runs/{run}/analyses/{chance.choice(TABLES)}?limit=200"
        started = time.perf_counter()
        try:
            status, _, made = get(connection, path)
            errors += status != 200
            if kind == "viewport":
                times["viewport, at the server"].append(made)
        except (OSError, http.client.HTTPException):
            errors += 1
            connection.close()
        times[kind].append(time.perf_counter() - started)
    results.put((times, errors))


def percentile(values: list[float], part: float) -> float:
    values = sorted(values)
    return values[min(len(values) - 1, int(part * len(values)))] * 1000 if values else 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=pathlib.Path)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--lanes", type=int, default=40)
    parser.add_argument("--no-tables", dest="tables", action="store_false")
    options = parser.parse_args()
    # Stores are not listed among the runs of a folder.
    served = options.path if options.path.suffix == ".stepscope" else options.path.parent
    command = [ROOT / "build/stepscope", "serve", served, "--port", "0", "--no-token"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        port = int(server.stdout.readline().split(":")[-1].strip("/\n"))
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        while True:
            runs = json.loads(get(connection, "runs")[1])["runs"]
            (run,) = [one for one in runs if one["name"] == options.path.name]
            if run["state"] not in ("found", "importing"):
                break
            time.sleep(0.1)
        run_id = run["id"]
        about = json.loads(get(connection, f"runs/{run_id}")[1])
        tracks = json.loads(get(connection, f"runs/{run_id}/timeline/tracks")[1])["tracks"]
        facts = {
            "length": int(about["last_ns"]) - int(about["first_ns"]),
            "tracks": [one["track"] for one in tracks if one["slices"] > 0],
            "tables": options.tables,
        }
        for table in TABLES if options.tables else ():  # the first asks computes
            get(connection, f"runs/{run_id}/analyses/{table}?limit=1")
        results = multiprocessing.Queue()
        end = time.time() + options.seconds
        clients = [
            multiprocessing.Process(
                target=ask, args=(port, run_id, facts, options.lanes, end, seed, results)
            )
            for seed in range(options.clients)
        ]
        for client in clients:
            client.start()
        time.sleep(options.seconds / 10)
        early = resident_mb(server.pid)
        answers = [results.get() for _ in clients]
        late = resident_mb(server.pid)
    finally:
        server.terminate()
        server.wait()
    errors = sum(errors for _, errors in answers)
    print(f"{options.clients} clients, {options.seconds:.0f} s, {about['slices']:,} slices")
    for kind in ("viewport", "viewport, at the server", "table"):
        values = [value for times, _ in answers for value in times[kind]]
        rate = len(values) / options.seconds
        median, p99 = percentile(values, 0.5), percentile(values, 0.99)
        print(f"{kind:23} {rate:8.0f}/s  median {median:.2f} ms  p99 {p99:.2f} ms")
    print(f"errors {errors}; resident {early:.0f} MB early, {late:.0f} MB at the end")


if __name__ == "__main__":
    main()
