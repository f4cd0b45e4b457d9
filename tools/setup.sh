# Installs what ./run and ./test need. Sourced by both; every function looks first and installs
# only what is missing. STEPSCOPE_SKIP_INSTALL=1 leaves the system packages alone.
# shellcheck shell=bash

stepscope_root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
venv_python="$stepscope_root/.venv/bin/python"

build_packages=(ca-certificates g++ cmake ninja-build ccache git pkg-config python3-dev python3-venv
  libzstd-dev zlib1g-dev libisal-dev libsqlite3-dev libfmt-dev libcli11-dev nlohmann-json3-dev
  libcpp-httplib-dev libssl-dev libgtest-dev libbenchmark-dev)
# shellcheck disable=SC2034  # ./test installs these too
test_packages=(clang-19 libclang-rt-19-dev clang-tidy-19 clang-format-19)

# Compilers see paths relative to the checkout, so that every clone shares ccache's results.
# The language of messages does not count: Python sets one for what it starts where nobody has.
export CCACHE_BASEDIR="$stepscope_root" CCACHE_NOHASHDIR=1
export CCACHE_SLOPPINESS=locale,pch_defines,time_macros
# By the names that the presets use: ccache tells compilers apart by theirs.
export CC=gcc CXX=g++

say() { printf '== %s\n' "$*"; }
die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# install_packages NAME...: by apt, as root or through sudo, only those that are not there.
install_packages() {
  [[ -z "${STEPSCOPE_SKIP_INSTALL:-}" ]] || return 0
  local package missing=() as_root=()
  command -v apt-get >/dev/null || {
    say "not a Debian system: expecting what these packages hold: $*"
    return 0
  }
  for package in "$@"; do
    [[ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" == installed ]] ||
      missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  if [[ "$(id -u)" != 0 ]]; then
    command -v sudo >/dev/null || die "please install, as root: apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  say "installing by apt: ${missing[*]}"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -q >/dev/null
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -q --no-install-recommends "${missing[@]}" >/dev/null
}

# setup_system [PACKAGE...]: what every build needs, and the packages named.
setup_system() {
  local packages=("${build_packages[@]}" "$@")
  # An npm from elsewhere (nvm, NodeSource) conflicts with Debian's, so only if there is none.
  command -v npm >/dev/null || packages+=(nodejs npm)
  install_packages "${packages[@]}"
}

# .venv with the tools of python/requirements-dev.txt; again only when that file or Python changes.
setup_python() {
  local requirements="$stepscope_root/python/requirements-dev.txt"
  local stamp="$stepscope_root/.venv/.requirements" wanted
  python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' ||
    die "python3 is $(python3 --version), and 3.9 or newer is needed"
  if ! "$venv_python" -c 'import pip' 2>/dev/null; then
    say "making .venv with $(python3 --version)"
    rm -rf "$stepscope_root/.venv"
    python3 -m venv "$stepscope_root/.venv"
  fi
  wanted="$("$venv_python" --version) $(sha256sum <"$requirements")"
  if [[ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ]]; then
    say "installing by pip into .venv: python/requirements-dev.txt"
    "$venv_python" -m pip install -q --disable-pip-version-check -r "$requirements"
    printf '%s\n' "$wanted" >"$stamp"
  fi
}

# The packages of web/package-lock.json; again only when that file changes.
setup_web_packages() {
  local web="$stepscope_root/web" stamp wanted
  stamp="$web/node_modules/.lock-file"
  wanted="$(node --version) $(sha256sum <"$web/package-lock.json")"
  if [[ "$(cat "$stamp" 2>/dev/null)" == "$wanted" ]]; then return 0; fi
  say "installing by npm: web/package-lock.json"
  # Not `npm ci`, which insists on packages of other systems that a mirror may not have.
  (cd "$web" && npm install --silent --no-save --no-audit --no-fund) || return
  printf '%s\n' "$wanted" >"$stamp"
}

# web/dist, the pages that build/stepscope carries; again only when a file of web/ changed.
build_web() {
  local web="$stepscope_root/web" stamp now
  stamp="$web/dist/.sources"
  setup_web_packages || return
  cd "$stepscope_root" || return
  now="$(git ls-files -co --exclude-standard -z -- web | sort -z | xargs -0 sha256sum 2>/dev/null |
    sha256sum)"
  if [[ "$(cat "$stamp" 2>/dev/null)" == "$now" ]]; then return 0; fi
  say "building the web pages"
  (cd "$web" && npx vite build --logLevel warn) || return
  printf '%s\n' "$now" >"$stamp"
}

# build PRESET [TARGET...]: configures when it has to (CMake itself looks whether files changed).
build() {
  local preset=$1
  local folder="$stepscope_root/build-$preset"
  shift
  [[ "$preset" != release ]] || folder="$stepscope_root/build"
  cd "$stepscope_root" || return
  if [[ ! -f "$folder/build.ninja" ]]; then
    cmake --preset "$preset" || return
  fi
  cmake --build "$folder" -j "$(nproc)" ${1:+--target "$@"}
}

# A number that changes when a file of the Python package does.
package_sources() {
  git ls-files -co --exclude-standard -z -- pyproject.toml CMakeLists.txt cmake include src python |
    sort -z | xargs -0 sha256sum 2>/dev/null | sha256sum
}

# The Python package into .venv, built from this tree; again only when a file of it changed.
install_python_package() {
  local stamp="$stepscope_root/.venv/.package" now
  cd "$stepscope_root" || return
  if [[ ! -f python/CMakeLists.txt ]]; then
    say "no Python package yet"
    return 0
  fi
  now="$(package_sources)"
  if [[ "$(cat "$stamp" 2>/dev/null)" == "$now" ]]; then return 0; fi
  say "installing the Python package into .venv"
  # Without isolation: its build tools are in .venv already, and the build folder stays usable. With
  # the flags of the release build: ccache has most of it then.
  CMAKE_BUILD_PARALLEL_LEVEL="$(nproc)" "$venv_python" -m pip install -q \
    --disable-pip-version-check --no-build-isolation --no-deps --force-reinstall \
    -C cmake.define.STEPSCOPE_WERROR=ON . || return
  printf '%s\n' "$now" >"$stamp"
}

# Environments with the real frameworks, kept in the user's cache: they are large, and only their
# requirements make them again.
framework_folder() {
  printf '%s\n' "${STEPSCOPE_FRAMEWORKS:-${XDG_CACHE_HOME:-$HOME/.cache}/stepscope/frameworks}/$1"
}

# make_framework NAME [BASE]: an environment with python/requirements-NAME.txt. With a BASE, what that one has is
# not installed again.
make_framework() {
  local name=$1 base=${2:-} folder stamp wanted options=()
  local requirements="$stepscope_root/python/requirements-$name.txt"
  folder="$(framework_folder "$name")"
  stamp="$folder/.requirements"
  wanted="$(python3 --version) $(sha256sum <"$requirements")"
  [[ -z "$base" ]] || options=(--no-deps --no-compile)  # the tests import a small part of it
  if [[ "$(cat "$stamp" 2>/dev/null)" == "$wanted" ]]; then return 0; fi
  say "installing by pip: $(grep -v '^#' "$requirements" | tr '\n' ' ')(once, into $folder)"
  rm -rf "$folder"
  python3 -m venv "$folder" || return
  "$folder/bin/python" -m pip install -q --disable-pip-version-check "${options[@]}" \
    -r "$requirements" || return
  printf '%s\n' "$wanted" >"$stamp"
}

# The Python package of this tree as build/wheel/*.whl; again only when a file of it changed.
build_wheel() {
  local folder="$stepscope_root/build/wheel" now
  cd "$stepscope_root" || return
  now="$(package_sources)"
  if [[ "$(cat "$folder/.sources" 2>/dev/null)" == "$now" ]]; then return 0; fi
  say "building the Python package"
  rm -rf "$folder"
  CMAKE_BUILD_PARALLEL_LEVEL="$(nproc)" "$venv_python" -m pip wheel -q --no-build-isolation \
    --disable-pip-version-check --no-deps -w "$folder" . || return
  printf '%s\n' "$now" >"$folder/.sources"
}

# add_package NAME [BASE]: what build_wheel made, into the environment, unless it is there. With a BASE it is in that one.
add_package() {
  local name=$1 base=${2:-} wheel sum
  if [[ -n "$base" ]]; then
    packages_of "$base" >"$(packages_of "$name")/$base.pth"
    return
  fi
  wheel="$(echo "$stepscope_root"/build/wheel/*.whl)"
  sum="$(sha256sum <"$wheel")"
  # pip notes there what it installed.
  if grep -qs "${sum%% *}" "$(packages_of "$name")"/stepscope-*.dist-info/direct_url.json; then return 0; fi
  "$(framework_folder "$name")/bin/python" -m pip install -q --disable-pip-version-check --no-deps \
    --force-reinstall "$wheel"
}

packages_of() {
  "$(framework_folder "$1")/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))'
}
