# Compiler settings of every target: language, warnings, sanitizers, ccache, output folders.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# Always on, although only the Python module needs it: the objects are then the same in every
# build folder, and ccache compiles them once.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

# Programs sit in the top of the build folder (build/stepscope). Run paths are relative, so that
# the folder can be moved and copied.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
set(CMAKE_INSTALL_RPATH "$ORIGIN;$ORIGIN/lib;$ORIGIN/../lib")

find_program(CCACHE_PROGRAM ccache)
mark_as_advanced(CCACHE_PROGRAM)
if(CCACHE_PROGRAM)
  set(CMAKE_C_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
endif()

# What stepscope_library() and its sisters link: warnings and sanitizers for our own code, not for
# what other projects compile into ours (nanobind).
add_library(stepscope_options INTERFACE)
target_compile_options(stepscope_options INTERFACE -Wall -Wextra $<$<BOOL:${STEPSCOPE_WERROR}>:-Werror>)
# g++ 12 reports overlaps inside std::string's own operator+ that cannot happen (GCC bug 105651).
target_compile_options(stepscope_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
# clang 19 reports the deprecated buffer inside libstdc++ 12's own std::stable_sort.
target_compile_options(stepscope_options
                       INTERFACE $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>)

if(CMAKE_BUILD_TYPE STREQUAL "Debug" OR STEPSCOPE_SANITIZE)
  target_compile_definitions(stepscope_options INTERFACE _GLIBCXX_ASSERTIONS)
endif()

# clang's objects of the address sanitizer count their branches for libFuzzer as well (7 % more to
# compile): the fuzzers are built from what the tests are built from.
set(STEPSCOPE_FUZZERS OFF)
set(stepscope_sanitize_compile "${STEPSCOPE_SANITIZE}")
if(STEPSCOPE_SANITIZE MATCHES "address" AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  set(STEPSCOPE_FUZZERS ON)
  string(PREPEND stepscope_sanitize_compile "fuzzer-no-link,")
endif()

if(STEPSCOPE_SANITIZE)
  target_compile_options(
    stepscope_options INTERFACE -fsanitize=${stepscope_sanitize_compile}
                                -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
  target_link_options(stepscope_options INTERFACE -fsanitize=${STEPSCOPE_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # Functions of libraries that are opened at run time (CUPTI, NVML, CANN) are called with types of
    # our own, which only agree with theirs in layout.
    target_compile_options(stepscope_options INTERFACE -fno-sanitize=function)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # The sanitizers' extra branches make g++ 12 see uninitialised reads that are not there.
    target_compile_options(stepscope_options INTERFACE -Wno-maybe-uninitialized)
  endif()
endif()

# Here and not in dependencies.cmake because the collector, which stands alone, needs it too.
# Found by file name: the names of zstd's own CMake targets differ between distributions.
function(stepscope_find_zstd)
  find_path(ZSTD_INCLUDE_DIR zstd.h REQUIRED)
  find_library(ZSTD_LIBRARY zstd REQUIRED)
  mark_as_advanced(ZSTD_INCLUDE_DIR ZSTD_LIBRARY)
  add_library(stepscope::zstd UNKNOWN IMPORTED GLOBAL)
  set_target_properties(
    stepscope::zstd PROPERTIES IMPORTED_LOCATION "${ZSTD_LIBRARY}"
                               INTERFACE_INCLUDE_DIRECTORIES "${ZSTD_INCLUDE_DIR}")
endfunction()
