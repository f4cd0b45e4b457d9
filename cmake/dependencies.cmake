# Third-party libraries, all from Debian except DuckDB. Targets to name in DEPS:
#   stepscope::zstd  stepscope::isal  stepscope::duckdb  Threads::Threads  ZLIB::ZLIB
#   SQLite::SQLite3  fmt::fmt  CLI11::CLI11  nlohmann_json::nlohmann_json

find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(ISAL REQUIRED IMPORTED_TARGET GLOBAL libisal)
add_library(stepscope::isal ALIAS PkgConfig::ISAL)
stepscope_find_zstd()

include(duckdb)
