# stepscope::duckdb, DuckDB's C API: the system's where CMake finds one, else the pinned release
# that tools/fetch_duckdb.sh downloads once into the user's cache.

option(STEPSCOPE_SYSTEM_DUCKDB "Use an installed DuckDB when there is one" ON)

if(STEPSCOPE_SYSTEM_DUCKDB)
  find_path(DUCKDB_INCLUDE_DIR duckdb.h)
  find_library(DUCKDB_LIBRARY duckdb)
  mark_as_advanced(DUCKDB_INCLUDE_DIR DUCKDB_LIBRARY)
endif()

add_library(stepscope::duckdb SHARED IMPORTED GLOBAL)

if(STEPSCOPE_SYSTEM_DUCKDB AND DUCKDB_INCLUDE_DIR AND DUCKDB_LIBRARY)
  message(STATUS "DuckDB: ${DUCKDB_LIBRARY}")
  set(stepscope_duckdb_include "${DUCKDB_INCLUDE_DIR}")
  set(stepscope_duckdb_library "${DUCKDB_LIBRARY}")
else()
  execute_process(
    COMMAND "${PROJECT_SOURCE_DIR}/tools/fetch_duckdb.sh"
    OUTPUT_VARIABLE stepscope_duckdb_cache
    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  message(STATUS "DuckDB: ${stepscope_duckdb_cache}")
  set(stepscope_duckdb_include "${stepscope_duckdb_cache}")
  # Into the build folder, so that build/stepscope finds it by a relative path ($ORIGIN/lib) and
  # the folder works when it is copied elsewhere. A hard link where it can be: it is 65 MB.
  set(stepscope_duckdb_library "${CMAKE_BINARY_DIR}/lib/libduckdb.so")
  file(MAKE_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
  file(CREATE_LINK "${stepscope_duckdb_cache}/libduckdb.so" "${stepscope_duckdb_library}"
       COPY_ON_ERROR)
endif()

set_target_properties(
  stepscope::duckdb
  PROPERTIES IMPORTED_LOCATION "${stepscope_duckdb_library}"
             INTERFACE_INCLUDE_DIRECTORIES "${stepscope_duckdb_include}")

# Ships the fetched library beside what links it: a wheel or an installed program must not point
# into a build folder. A system DuckDB stays where it is.
function(stepscope_install_duckdb destination component)
  if(stepscope_duckdb_library MATCHES "^${CMAKE_BINARY_DIR}/")
    install(FILES "${stepscope_duckdb_library}" DESTINATION "${destination}"
            COMPONENT "${component}")
  endif()
endfunction()
