# The functions that the CMakeLists.txt of each folder is made of. DEPS are target names, ours
# (stepscope::base) or a library's (fmt::fmt); paths in SOURCES are relative to the folder.
#
#   stepscope_library(base SOURCES a.cc ... [DEPS ...] [PRIVATE_DEPS ...])  -> stepscope::base
#   stepscope_program(stepscope SOURCES main.cc ... [DEPS ...])             -> build/stepscope
#   stepscope_test(base_test SOURCES a_test.cc ... [DEPS ...] [LABELS ...] [TIMEOUT s])
#   stepscope_benchmark(base_bench SOURCES a_bench.cc ... [DEPS ...])       -> build/bench/
#   stepscope_fuzzer(json_fuzzer SOURCES json_fuzzer.cc [DEPS ...])
#
# The label `threads` puts a test into the ThreadSanitizer run of ./test.

# A static library named stepscope_NAME, alias stepscope::NAME; header-only without SOURCES.
function(stepscope_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPS;PRIVATE_DEPS")
  stepscope_reject_unparsed(stepscope_library ${name} "${arg_UNPARSED_ARGUMENTS}")
  set(target stepscope_${name})
  if(arg_SOURCES)
    add_library(${target} STATIC ${arg_SOURCES})
    target_link_libraries(
      ${target}
      PUBLIC ${arg_DEPS}
      PRIVATE ${arg_PRIVATE_DEPS} stepscope_options)
    stepscope_precompile(${target} stepscope_library_headers)
    set(scope PUBLIC)
  else()
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE ${arg_DEPS})
    set(scope INTERFACE)
  endif()
  target_include_directories(${target} ${scope} "${PROJECT_SOURCE_DIR}/src"
                             "${PROJECT_SOURCE_DIR}/include")
  add_library(stepscope::${name} ALIAS ${target})
endfunction()

function(stepscope_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPS")
  stepscope_reject_unparsed(stepscope_program ${name} "${arg_UNPARSED_ARGUMENTS}")
  stepscope_executable(${name} "${CMAKE_BINARY_DIR}" "${arg_SOURCES}" "${arg_DEPS}")
endfunction()

# For tests and commands: most of what is compiled, none of what takes time to run. The libraries,
# which do the work, keep their optimisation.
function(stepscope_not_hot name)
  get_target_property(type ${name} TYPE)
  if(STEPSCOPE_SANITIZE AND type STREQUAL "EXECUTABLE")
    # Libraries must be compiled as the headers that were compiled for them.
    target_compile_options(${name} PRIVATE -O0)
  elseif(CMAKE_BUILD_TYPE STREQUAL "Release")
    target_compile_options(${name} PRIVATE -O1)
  endif()
endfunction()

# One ctest entry for the whole executable: starting a process per case costs more than the cases.
# GoogleTest's own report, in test-results/, is what tools/summarise_tests.py counts.
function(stepscope_test name)
  if(NOT STEPSCOPE_TESTS)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "SOURCES;DEPS;LABELS")
  stepscope_reject_unparsed(stepscope_test ${name} "${arg_UNPARSED_ARGUMENTS}")
  find_package(GTest REQUIRED)
  stepscope_executable(${name} "${CMAKE_BINARY_DIR}/tests" "${arg_SOURCES}"
                       "${arg_DEPS};GTest::gtest_main")
  stepscope_not_hot(${name})
  stepscope_precompile(${name} stepscope_test_headers)
  add_test(NAME ${name}
           COMMAND ${name} --gtest_brief=1
                   "--gtest_output=xml:${CMAKE_BINARY_DIR}/test-results/${name}.xml")
  stepscope_test_properties(${name} "${arg_TIMEOUT}" "${arg_LABELS}")
  if("threads" IN_LIST arg_LABELS)
    # So that the ThreadSanitizer build compiles these tests and nothing else.
    add_dependencies(threads_tests ${name})
  endif()
endfunction()

function(stepscope_benchmark name)
  if(NOT STEPSCOPE_BENCH)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPS")
  stepscope_reject_unparsed(stepscope_benchmark ${name} "${arg_UNPARSED_ARGUMENTS}")
  find_package(benchmark REQUIRED)
  stepscope_executable(${name} "${CMAKE_BINARY_DIR}/bench" "${arg_SOURCES}"
                       "${arg_DEPS};benchmark::benchmark_main")
endfunction()

# A libFuzzer target in the asan preset (build-asan/fuzz/NAME). There and, with a main of our own,
# everywhere else it also runs once over its seeds, tests/fuzz/corpus/NAME/, as an ordinary test:
# what a fuzzer found stays found, under g++ and the other sanitizers too. A dictionary is
# tests/fuzz/NAME.dict.
function(stepscope_fuzzer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPS")
  stepscope_reject_unparsed(stepscope_fuzzer ${name} "${arg_UNPARSED_ARGUMENTS}")
  set(seeds "${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${name}")
  if(STEPSCOPE_FUZZERS)
    stepscope_executable(${name} "${CMAKE_BINARY_DIR}/fuzz" "${arg_SOURCES}" "${arg_DEPS}")
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    add_dependencies(fuzzers ${name})
    add_test(NAME ${name} COMMAND ${name} -runs=0 "${seeds}")
  else()
    stepscope_executable(
      ${name} "${CMAKE_BINARY_DIR}/tests"
      "${arg_SOURCES};${PROJECT_SOURCE_DIR}/cmake/fuzz_replay_main.cc" "${arg_DEPS}")
    add_test(NAME ${name} COMMAND ${name} "${seeds}")
  endif()
  stepscope_test_properties(${name} "" "fuzz_seeds")
endfunction()

# --- what the functions above share ---------------------------------------------------------

function(stepscope_executable name folder sources deps)
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE ${deps} stepscope_options)
  # The root is for what tests and benchmarks share: "tests/...", "bench/...".
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/src"
                                             "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}")
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${folder}")
endfunction()

function(stepscope_test_properties name timeout labels)
  if(NOT timeout)
    set(timeout 1200)
  endif()
  set_tests_properties(
    ${name}
    PROPERTIES WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
               TIMEOUT ${timeout}
               LABELS "${labels}"
               ENVIRONMENT
               "STEPSCOPE_SOURCE_DIR=${PROJECT_SOURCE_DIR};STEPSCOPE_BINARY_DIR=${CMAKE_BINARY_DIR}")
endfunction()

# A misspelt keyword would otherwise drop its files in silence.
function(stepscope_reject_unparsed function name unparsed)
  if(unparsed)
    message(FATAL_ERROR "${function}(${name}): do not know what to do with: ${unparsed}")
  endif()
endfunction()
