# Headers that the sanitizer builds read once instead of once a file (a third of their compile time).
# Only there: a file that forgets an include still fails to compile in the release build.
#
#   stepscope_precompile(TARGET stepscope_library_headers | stepscope_test_headers)

set(stepscope_precompiled
    algorithm array atomic charconv chrono cmath cstdint cstring filesystem functional limits map
    memory mutex numeric optional set span string string_view thread tuple unordered_map utility
    variant vector)
list(TRANSFORM stepscope_precompiled REPLACE "(.+)" "<\\1>")

function(stepscope_precompile target owner)
  if(STEPSCOPE_SANITIZE)
    target_precompile_headers(${target} REUSE_FROM ${owner})
  endif()
endfunction()

if(STEPSCOPE_SANITIZE)
  # ccache compares what is in a precompiled header, so its time stamp must not be.
  target_compile_options(stepscope_options
                         INTERFACE "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
  # Owners, compiled exactly as those that use them: libraries, and tests (-fPIE -O0).
  file(WRITE "${CMAKE_BINARY_DIR}/headers_only.cc" "int main() { return 0; }\n")
  add_library(stepscope_library_headers OBJECT "${CMAKE_BINARY_DIR}/headers_only.cc")
  add_executable(stepscope_test_headers "${CMAKE_BINARY_DIR}/headers_only.cc")
  stepscope_not_hot(stepscope_test_headers)
  foreach(owner stepscope_library_headers stepscope_test_headers)
    target_link_libraries(${owner} PRIVATE stepscope_options)
    target_precompile_headers(${owner} PRIVATE ${stepscope_precompiled} <nlohmann/json.hpp>)
  endforeach()
  find_package(GTest REQUIRED)
  target_link_libraries(stepscope_test_headers PRIVATE GTest::gtest)
  target_precompile_headers(stepscope_test_headers PRIVATE <fstream> <gtest/gtest.h>)
endif()
