#!/bin/sh
# On a machine with an NVIDIA GPU and PyTorch: builds the collector if it is not there yet, checks
# that it works, and measures what it adds to a step. Results go to $OUT (default: build-gpu/out).
#
# Usage: bench/gpu/run_on_gpu_machine.sh [smoke|bench|all] [SECONDS]
#   SECONDS  for the benchmark; default 240
#
# Where zstd's headers are missing, build elsewhere with bench/gpu/build_portable.sh and carry
# build-gpu/lib.
set -u
cd "$(dirname "$0")/../.."
what=${1:-all}
seconds=${2:-240}
OUT=${OUT:-build-gpu/out}
mkdir -p "$OUT"
export PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=4 PYTHONPATH="$PWD/bench/gpu"

echo "== machine"
nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader
python3 - <<'PYTHON'
import ctypes, sys, torch
print("python", sys.version.split()[0], "torch", torch.__version__, "cuda", torch.version.cuda)
print(*{line.split()[-1] for line in open("/proc/self/maps") if "libcupti" in line})
PYTHON

runs_here() { python3 -c 'import ctypes,sys; ctypes.CDLL(sys.argv[1])' "$1" 2>&1; }
echo "== collector"
library=build-gpu/lib/libstepscope_collector.so
if [ ! -e "$library" ] || ! runs_here "$PWD/$library"; then
  if echo '#include <zstd.h>' | g++ -E -x c++ - >/dev/null 2>&1; then
    bench/gpu/build_portable.sh || exit 1
  else
    echo "zstd.h is missing here and build-gpu/lib was not carried (or does not run here)"
    exit 1
  fi
fi
echo "== operators of PyTorch"
root=$(python3 -c 'import torch, os; print(os.path.dirname(torch.__file__))')
g++ -std=c++20 -O2 -DNDEBUG -fPIC -shared -fvisibility=hidden -D_GLIBCXX_USE_CXX11_ABI=1 \
  -Iinclude -Ipython -isystem "$root/include" -isystem "$root/include/torch/csrc/api/include" \
  python/stepscope/torch/native/callbacks.cc -o build-gpu/lib/libstepscope_torch.so \
  -L"$root/lib" -lc10 -ltorch_cpu "$library" "-Wl,-rpath,$PWD/build-gpu/lib" "-Wl,-rpath,$root/lib" ||
  echo "cannot be built here: the full tier runs without them"
ls -l build-gpu/lib

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
