"""Says whether the collector works on this machine, before anything is measured.

Twenty steps with each tier beside torch.profiler, in one process each: the kernels must be the same
in number, and none lost. Then a program that knows nothing of us, recorded from outside: its NVTX
ranges, kernels inside of CUDA graphs, calls of the runtime and the driver, memory. Then recordings
that begin and end while other threads launch, recordings in turns with torch.profiler, and a watch
over a program that asks for more memory than the GPU has and gets over it. Exits 1
when something is wrong. Runs of the program stay in the folder that is named, if one is.

    python3 bench/gpu/smoke.py [FOLDER]
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

STEPS = 20
HERE = Path(__file__).resolve().parent
MODES = ("torch_default", "pulse", "kernels", "full", "everything")


def record(mode: str, loop: str) -> None:
    import loops
    import profilers
    import torch

    step = loops.LOOPS[loop]()
    for _ in range(5):
        step()
    torch.cuda.synchronize()
    profiler = profilers.make(mode)
    with tempfile.TemporaryDirectory() as folder:
        profiler.start(Path(folder))
        for _ in range(STEPS):
            step()
        # Not synchronised: what still runs now must be in the recording.
        facts = profiler.stop(Path(folder))
    print("ANSWER " + json.dumps(facts), flush=True)


def record_beside_others(tuning: str) -> None:
    """Recordings begin and end while threads launch."""
    import loops
    import profilers

    profilers.set_tuning(tuning)
    done = threading.Event()
    counts = [0, 0, 0]

    def work(number: int) -> None:
        step = loops.tiny_mlp()
        while not done.is_set():
            step()
            counts[number] += 1

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    while min(counts) < 20:
        time.sleep(0.01)
    counted = ("dropped", "without_time", "kernels", "late_kernels")
    lost = dict.fromkeys(("not_recorded", *counted), 0)
    had_stayed = ""  # a digit for each recording: whether CUPTI was there since an earlier one
    for number in range(60):
        print(f"recording {number} beside threads, {had_stayed}", file=sys.stderr)
        ours = profilers.Ours(3, tuning=tuning)
        with tempfile.TemporaryDirectory() as folder:
            ours.start(Path(folder))
            time.sleep(0.05)
            facts = ours.stop(Path(folder))
        lost["not_recorded"] += facts["not_recorded"]
        for name in counted:
            lost[name] += facts["summary"]["gpu"][-1][name]
        had_stayed += str(facts["summary"]["gpu"][-1]["had_stayed"])
    done.set()
    for thread in threads:
        thread.join()
    answer = {"steps_of_threads": counts, "lost": lost, "had_stayed": had_stayed}
    print("ANSWER " + json.dumps(answer), flush=True)


def take_turns() -> None:
    """torch.profiler and ours, one after the other. It has to be the first: see call_tracer.h."""
    import loops
    import profilers

    step = loops.tiny_mlp()
    step()
    turns: list[tuple[Any, ...]] = []
    for mode in ("torch_default", "full", "torch_default", "kernels", "torch_default", "full"):
        profiler = profilers.make(mode)
        with tempfile.TemporaryDirectory() as folder:
            profiler.start(Path(folder))
            for _ in range(STEPS):
                step()
            turns.append((mode, profiler.stop(Path(folder))["kernels"]))
    print("ANSWER " + json.dumps({"turns": turns}), flush=True)


def run_out_of_memory() -> None:
    """The program catches the failure itself; the watch must capture it all the same."""
    import loops
    import stepscope.triggers
    import torch

    step = loops.tiny_mlp()
    with tempfile.TemporaryDirectory() as folder:
        with stepscope.triggers.watch(folder, capture_steps=2) as watch:
            for number in range(30):
                step()
                if number != 20:
                    continue
                try:
                    torch.empty(1 << 50, dtype=torch.uint8, device="cuda")
                except torch.cuda.OutOfMemoryError:
                    print("the program went on", file=sys.stderr)
        captures = [(capture.kind, capture.what) for capture in watch.captures]
        runs = len(list(Path(folder).glob("*/FRAMEWORK/stepscope.raw")))
    print("ANSWER " + json.dumps({"captures": captures, "runs": runs}), flush=True)


def child(*words: str) -> dict[str, Any] | None:
    """The answer of this file, run with other words; None when it has none."""
    done = subprocess.run(
        [sys.executable, __file__, *words], capture_output=True, text=True, timeout=200
    )
    answers = [line for line in done.stdout.splitlines() if line.startswith("ANSWER ")]
    if answers and done.returncode == 0:
        answer: dict[str, Any] = json.loads(answers[-1][len("ANSWER ") :])
        return answer
    print(f"{' '.join(words)}: exit {done.returncode}\n{done.stderr[-3000:]}")
    return None


def check_kernels(loop: str) -> bool:
    good = True
    kernels = {}
    with ThreadPoolExecutor(len(MODES)) as pool:
        answers = list(pool.map(lambda mode: child("record", mode, loop), MODES))
    for mode, facts in zip(MODES, answers):
        if facts is None:
            good = False
            continue
        summary = facts.pop("summary", {})
        kernels[mode] = facts.get("kernels")
        print(f"{loop} {mode}: {json.dumps(facts)}")
        for part in ("rows", "gpu", "not_honoured", "source_left_out", "error"):
            if summary.get(part):
                print(f"    {part}: {json.dumps(summary[part])}")
        good &= not facts.get("not_recorded")
    same = len({count for mode, count in kernels.items() if mode != "pulse"}) == 1
    print(f"{loop}: kernels {kernels} {'the same' if same else 'DIFFERENT'}\n", flush=True)
    return good and same


def check_from_outside(tier: str, output: Path) -> bool:
    """As `stepscope record` does it."""
    import profilers
    from stepscope.torch import _library

    injected = _library.collector_library().parent / "libstepscope_injection.so"
    settings = {
        "CUDA_INJECTION64_PATH": str(injected),
        "NVTX_INJECTION64_PATH": str(injected),
        "STEPSCOPE_OUTPUT": str(output),
        "STEPSCOPE_TIER": tier,
    }
    done = subprocess.run(
        [sys.executable, HERE / "program.py"],
        env=os.environ | settings,
        capture_output=True,
        text=True,
        timeout=120,
    )
    runs = list(output.glob("*/FRAMEWORK/stepscope.raw"))
    print(f"from outside, {tier}: exit {done.returncode}, {len(runs)} runs; {done.stdout.strip()}")
    if done.returncode or len(runs) != 1:
        print(done.stderr[-2000:])
        return False
    summary = profilers.read_summary(runs[0].parent)
    print(f"    {json.dumps(summary)}", flush=True)
    rows = summary.get("rows", {})
    wanted = {"ranges": 10, "device_memory": 1}
    if tier != "pulse":
        wanted |= {"kernels": 900, "graph_kernels": 900, "copies": 1}
    if tier == "full":
        wanted |= {"runtime_calls": 900, "driver_calls": 10, "synchronizations": 1}
    missing = {name: least for name, least in wanted.items() if rows.get(name, 0) < least}
    if missing:
        print(f"    too few rows: {missing}")
    return not missing


def check_beside_others() -> bool:
    threads = child("beside")
    print(f"beside threads: {json.dumps(threads)}")
    turns = child("turns")
    print(f"in turns with torch.profiler: {json.dumps(turns)}")
    if turns is None or threads is None:
        return False
    lost = threads["lost"]
    # Of what such threads launch at the very end CUPTI leaves a little without a time. What comes
    # with the next recording only would be lost unseen.
    if lost["not_recorded"] + lost["late_kernels"] > 0.01 * lost["kernels"]:
        return False
    return len({count for _, count in turns["turns"]}) == 1


def check_out_of_memory() -> bool:
    facts = child("out_of_memory")
    print(f"out of memory: {json.dumps(facts)}")
    kinds = [kind for kind, _ in facts["captures"]] if facts else []
    return facts is not None and kinds == ["allocation_failure"] and facts["runs"] == 1


def main() -> None:
    words = sys.argv[1:]
    if words[:1] == ["record"]:
        return record(words[1], words[2])
    if words[:1] == ["beside"]:
        return record_beside_others(words[1] if len(words) > 1 else "")
    if words[:1] == ["turns"]:
        return take_turns()
    if words[:1] == ["out_of_memory"]:
        return run_out_of_memory()
    good = True
    for loop in ("tiny_mlp", "graph_mlp", "gpt2_few"):
        good &= check_kernels(loop)
    with tempfile.TemporaryDirectory() as folder:
        for tier in ("pulse", "kernels", "full"):
            good &= check_from_outside(tier, Path(words[0] if words else folder) / tier)
    good &= check_beside_others()
    good &= check_out_of_memory()
    print("smoke test:", "good" if good else "NOT GOOD")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
