#!/usr/bin/env bash
# Puts libduckdb.so and duckdb.h of the pinned DuckDB into the user's cache, once, and prints the
# folder. DuckDB publishes no Debian package; its npm packages carry the library and the header.
set -euo pipefail

version=1.4.4
header_package="duckdb@$version"
header_member=package/src/duckdb/src/include/duckdb.h
header_sha256=cbe6a827284375c5a646b8f27dbd3a00808ce8738b5bbb49c190cb1e08540281
library_member=package/libduckdb.so
case "$(uname -m)" in
  x86_64)
    library_package="@duckdb/node-bindings-linux-x64@$version-r.4"
    library_sha256=1ef33048e12235115ac0d277a0aaccbb560e33248144f488b5ac005cd9ba81b5
    ;;
  aarch64) # r.4 was not published for this architecture; r.3 is the same DuckDB.
    library_package="@duckdb/node-bindings-linux-arm64@$version-r.3"
    library_sha256=c8e20af1e0064bdb7bf79af4d16f17ee8be16803bc98a4df58588bed1301c042
    ;;
  *)
    echo "fetch_duckdb: no prebuilt DuckDB for $(uname -m);" \
      "install libduckdb and duckdb.h where CMake finds them" >&2
    exit 1
    ;;
esac

cache="${XDG_CACHE_HOME:-$HOME/.cache}/stepscope/duckdb-$version"
complete() { [[ -f "$cache/libduckdb.so" && -f "$cache/duckdb.h" ]]; }
if complete; then
  echo "$cache"
  exit 0
fi

command -v npm >/dev/null || {
  echo "fetch_duckdb: npm is needed to download DuckDB $version; install it or run ./run" >&2
  exit 1
}

# A sibling of the final folder, so that the rename at the end is atomic: two builds at once, or a
# Ctrl-C, never leave half a download behind.
mkdir -p "$(dirname "$cache")"
work="$(mktemp -d "$cache.XXXXXX")"
trap 'rm -rf "$work"' EXIT

# fetch PACKAGE MEMBER SHA256: one file out of an npm package, to $work.
fetch() {
  local package=$1 member=$2 sha256=$3 archive file
  echo "fetching $(basename "$member") from npm package $package" >&2
  archive="$(cd "$work" && npm pack --silent "$package" | tail -n 1)" || {
    echo "fetch_duckdb: npm could not download $package; try: npm pack $package" >&2
    return 1
  }
  file="$work/$(basename "$member")"
  tar -xzOf "$work/$archive" "$member" >"$file"
  rm "$work/$archive"
  echo "$sha256  $file" | sha256sum --check --quiet >&2 || {
    echo "fetch_duckdb: $(basename "$member") of $package is not the file pinned here" >&2
    return 1
  }
}

fetch "$library_package" "$library_member" "$library_sha256"
fetch "$header_package" "$header_member" "$header_sha256"
chmod 755 "$work" "$work/libduckdb.so"

# Another build may have finished first; its files are the same.
complete || rm -rf "$cache"
mv -T "$work" "$cache" 2>/dev/null || complete
echo "$cache"
