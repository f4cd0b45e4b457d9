#!/bin/sh
# On a machine with an NVIDIA GPU and PyTorch: checks that the collector works, and measures what it
# adds to a step. Results go to $OUT (default: build-gpu/out).
#
# Usage: bench/gpu/run_on_gpu_machine.sh [smoke|bench|all] [SECONDS]
#   SECONDS  for the benchmark; default 240
#
# Uses the installed package (pip install .) and build/bench, or, where nothing can be installed,
# build-gpu/package and build-gpu/bench that build_portable.sh made elsewhere.
set -u
cd "$(dirname "$0")/../.."
what=${1:-all}
seconds=${2:-240}
OUT=${OUT:-build-gpu/out}
mkdir -p "$OUT"
export PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=4
export PYTHONPATH="$PWD/build-gpu/package:$PWD/bench/gpu"

echo "== machine"
nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader
python3 - <<'PYTHON'
import sys, torch
print("python", sys.version.split()[0], "torch", torch.__version__, "cuda", torch.version.cuda)
print(*{line.split()[-1] for line in open("/proc/self/maps") if "libcupti" in line})
PYTHON
status=0
if [ "$what" != bench ]; then
  echo "== smoke test"
  python3 bench/gpu/smoke.py 2>&1 | tee "$OUT/smoke.txt"
  grep -q "smoke test: good" "$OUT/smoke.txt" || status=1
fi
if [ "$what" != smoke ]; then
  echo "== overhead"
  python3 bench/gpu/overhead.py --seconds "$seconds" --output "$OUT" 2>&1 |
    tee "$OUT/overhead.txt"
fi
exit $status
