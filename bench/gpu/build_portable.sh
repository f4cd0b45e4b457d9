#!/bin/sh
# Builds the collector alone into build-gpu/lib, with zstd and the C++ library inside, so that the
# result runs on a machine that has neither zstd nor this compiler (glibc 2.34 or later). A plain
# compiler is enough; where there is none of zstd's headers, carry the folder from where there are.
#
# Usage: bench/gpu/build_portable.sh [OUTPUT]          default: build-gpu/lib
set -eu
cd "$(dirname "$0")/../.."
output=${1:-build-gpu/lib}
objects_folder=build-gpu/objects
mkdir -p "$output" "$objects_folder"
compiler=${CXX:-g++}
flags="-std=c++20 -O2 -g1 -fPIC -Wall -Wextra -Wno-restrict -Isrc -Iinclude"
zstd=$("$compiler" -print-file-name=libzstd.a)
[ "$zstd" != libzstd.a ] || zstd=-lzstd

sources=$(ls src/base/*.cc src/format/*.cc src/collector/*.cc src/collector/sources/*/*.cc |
  grep -v -e _test.cc -e _fuzzer.cc -e injection.cc -e autostart.cc)
objects=
for source in $sources; do
  object=$objects_folder/$(echo "$source" | tr / _).o
  objects="$objects $object"
  [ -e "$object" ] && [ -z "$(find src include -newer "$object" -name '*.[ch]*' | head -1)" ] &&
    continue
  $compiler $flags -c "$source" -o "$object"
done
link="-static-libstdc++ -static-libgcc -pthread -ldl"
$compiler $flags -shared src/collector/autostart.cc $objects -Wl,-soname,libstepscope_collector.so \
  -o "$output/libstepscope_collector.so" "$zstd" $link \
  -Wl,--version-script=src/collector/exports.map
if [ -e src/collector/injection.cc ]; then
  $compiler $flags -shared src/collector/injection.cc -o "$output/libstepscope_injection.so" \
    -L"$output" -lstepscope_collector -static-libstdc++ -static-libgcc -ldl '-Wl,-rpath,$ORIGIN'
fi
$compiler $flags -shared bench/gpu/cupti_floor.cc $objects -o "$output/libstepscope_cupti_floor.so" \
  "$zstd" $link -Wl,--exclude-libs,ALL
$compiler $flags bench/gpu/raw_summary.cc $objects -o "$output/raw_summary" "$zstd" $link
ls -l "$output"
