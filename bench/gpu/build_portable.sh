#!/bin/sh
# Builds what the GPU benchmarks need into build-gpu, for a machine that cannot build it: the package
# for one version of Python, the library of bare CUPTI and raw_summary. That machine needs a C
# library as new as this one's, zstd's library, and PyTorch with a C++ compiler for the callbacks.
#
# Usage: bench/gpu/build_portable.sh [PYTHON]
#   PYTHON  of the version that the other machine has, with its headers; default: python3
#   NANOBIND  folder of nanobind's CMake files; default: what PYTHON finds
set -eu
cd "$(dirname "$0")/../.."
python=${1:-python3}
mkdir -p build-gpu
nanobind=${NANOBIND:-$("$python" -m nanobind --cmake_dir)}
cmake -S . -B build-gpu/build -G Ninja -DCMAKE_BUILD_TYPE=Release -DSTEPSCOPE_PYTHON=ON \
  -DSTEPSCOPE_TESTS=OFF -DSTEPSCOPE_BENCH=ON -DCMAKE_BUILD_WITH_INSTALL_RPATH=ON \
  -DPython_EXECUTABLE="$(command -v "$python")" \
  -Dnanobind_ROOT="$nanobind" >build-gpu/configure.log
cmake --build build-gpu/build --target stepscope_record stepscope_itt stepscope_nvtx \
  stepscope_injection stepscope_cupti_floor raw_summary
package=build-gpu/package/stepscope
rm -rf build-gpu/package build-gpu/bench
mkdir -p "$package/lib" "$package/include/stepscope" build-gpu/bench
cp -r python/stepscope/. "$package"
cp build-gpu/build/python/_record*.so "$package"
cp build-gpu/build/lib/libstepscope_*.so "$package/lib"
cp include/stepscope/record.h "$package/include/stepscope"
cp build-gpu/build/bench/raw_summary build-gpu/build/bench/libstepscope_cupti_floor.so \
  build-gpu/bench
find build-gpu/package build-gpu/bench -type f \( -name '*.so' -o -name raw_summary \) \
  -exec strip -g {} +
find build-gpu/package -name __pycache__ -prune -exec rm -r {} +
du -sh build-gpu/package build-gpu/bench
