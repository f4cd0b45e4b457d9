# Third-party libraries, all from Debian except DuckDB. Targets to name in DEPS:
#   stepscope::zstd  stepscope::isal  stepscope::duckdb  Threads::Threads  ZLIB::ZLIB
#   SQLite::SQLite3  fmt::fmt  CLI11::CLI11  nlohmann_json::nlohmann_json
#   stepscope::httplib

find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(HTTPLIB REQUIRED IMPORTED_TARGET GLOBAL cpp-httplib)
find_package(OpenSSL REQUIRED)
add_library(stepscope_httplib INTERFACE)
target_link_libraries(stepscope_httplib INTERFACE PkgConfig::HTTPLIB OpenSSL::SSL Threads::Threads)
add_library(stepscope::httplib ALIAS stepscope_httplib)
pkg_check_modules(ISAL REQUIRED IMPORTED_TARGET GLOBAL libisal)
add_library(stepscope::isal ALIAS PkgConfig::ISAL)
stepscope_find_zstd()

include(duckdb)
