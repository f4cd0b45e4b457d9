#!/usr/bin/env python3
"""Checks that the includes follow the dependency graph of the folders.

Every folder may include itself and the folders named for it in ALLOWED, by full path from src/.
The collector, and what it stands on, may use zstd, libc and the C++ library and nothing else: it
is loaded into training processes, on machines that have none of the other libraries.

Usage: check_includes.py [ROOT]        prints FILE:LINE: reason for each bad include; exits 1 if any
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

# Folder -> folders it may include, besides itself. The longest matching folder name counts.
READERS = {"base", "store"}
ALLOWED: dict[str, set[str]] = {
    "base": set(),
    "format": {"base"},
    "collector": {"base", "format"},
    # Documents as trees.
    "json": {"base"},
    # Text of packed files; args are read from there as well.
    "packed": {"base"},
    "store": {"base", "packed"},
    "importers": READERS | {"json", "packed"},
    "importers/native": READERS | {"format", "json"},
    "analyses": READERS | {"json"},
    "query": READERS,
    "deliverables": READERS | {"json", "analyses"},
    # The one door through which other languages reach the readers.
    "api": READERS | {"json", "importers", "analyses", "query", "deliverables"},
    # Asks running trainings for recordings.
    "control": {"base", "json"},
    # It imports the runs it finds, and asks for new ones.
    "server": READERS | {"json", "importers", "analyses", "query", "deliverables", "control"},
    "cli": READERS
    | {"json", "format", "collector", "importers", "analyses", "query", "deliverables", "api"}
    | {"control", "server"},
}
PYTHON_ALLOWED = {"base", "collector", "api"}
# Tests across folders and benchmarks see everything; they are only checked for full paths.
UNRESTRICTED = ("tests", "bench")

PUBLIC = "stepscope"  # include/stepscope, open to everyone

STANDALONE = ("base", "format", "collector")
STANDALONE_THIRD_PARTY = {"zstd.h", "zstd_errors.h", "zdict.h"}
# Vendor headers, each in its own source folder only. They are for types: nothing is linked.
VENDOR = {
    "collector/sources/cupti": ("cuda", "cupti", "nvtx", "generated_"),
    "collector/sources/ascend": ("acl/",),
}
TEST_HEADERS = ("gtest/", "benchmark/")
TEST_FILE = re.compile(r"(_test|_bench|_fuzzer)\.(cc|h)$")
SYSTEM_FOLDERS = ("sys/", "linux/", "asm/", "bits/", "arpa/", "net/", "netinet/")
SYSTEM_HEADERS = frozenset(
    re.findall(
        r"\w+",
        """
aio arm_acle arm_neon assert byteswap complex cpuid ctype cxxabi dirent dlfcn elf emmintrin endian
errno execinfo fcntl fenv float getopt glob immintrin inttypes iso646 libgen limits link locale
malloc math netdb nmmintrin pmmintrin poll pthread pwd regex sched semaphore setjmp signal
smmintrin stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib string strings syscall
syslog termios time tmmintrin uchar ucontext unistd utime wchar wctype wmmintrin x86intrin
xmmintrin
""",
    )
)

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"(?P<quoted>[^"]+)"|<(?P<angled>[^>]+)>)')
SOURCE_SUFFIXES = {".h", ".cc", ".c", ".cpp", ".hpp", ".inc"}


def folder_of(path: str) -> str | None:
    """The longest folder of ALLOWED that holds `path`, a path below src/."""
    parts = path.split("/")[:-1]
    for length in range(len(parts), 0, -1):
        name = "/".join(parts[:length])
        if name in ALLOWED:
            return name
    return None


def top_of(path: str) -> str:
    return path.split("/")[0]


def quoted_problem(file: str, target: str, own: str, allowed: set[str] | None) -> str | None:
    """Why `file` may not include "target"; `allowed` None means every folder of src/."""
    top = top_of(target)
    if "/" not in target or top in (".", ".."):
        return f'"{target}": write the full path from src/'
    if top == PUBLIC or top == top_of(file) == "python":
        return None
    if top not in ALLOWED:
        # Tests and benchmarks share helpers among themselves, and with the tests beside the code.
        if top in UNRESTRICTED and (top_of(file) in UNRESTRICTED or TEST_FILE.search(file)):
            return None
        return f'"{target}": no folder {top}/ in the graph; another library\'s header goes in <>'
    if allowed is None or top == top_of(own) or top in allowed:
        return None
    names = ", ".join(sorted(allowed)) or "no other folder"
    return f'"{target}": {own} may include {names}'


def angled_problem(path: str, target: str) -> str | None:
    """Why the standalone file `path`, below src/, may not include <target>."""
    if "/" not in target and "." not in target:
        return None  # the C++ library's own headers are the ones without a suffix
    if target.removesuffix(".h") in SYSTEM_HEADERS or target in STANDALONE_THIRD_PARTY:
        return None
    if target.startswith(SYSTEM_FOLDERS):
        return None
    if TEST_FILE.search(path) and target.startswith(TEST_HEADERS):
        return None
    for folder, prefixes in VENDOR.items():
        if path.startswith(f"{folder}/") and target.startswith(prefixes):
            return None
    return f"<{target}>: {top_of(path)} may use zstd, libc and the C++ library only"


def includes(path: Path) -> Iterator[tuple[int, str | None, str | None]]:
    text = path.read_text(encoding="utf-8", errors="replace")
    for number, line in enumerate(text.splitlines(), start=1):
        match = INCLUDE.match(line)
        if match:
            yield number, match["quoted"], match["angled"]


def check_file(root: Path, path: Path) -> Iterator[str]:
    file = path.relative_to(root).as_posix()
    place = top_of(file)
    below = file.partition("/")[2]
    own, standalone = place, False
    allowed: set[str] | None = None
    if place == "src":
        folder = folder_of(below)
        if folder is None:
            yield f"{file}:1: not in a folder of the graph; add it to ALLOWED in check_includes.py"
            return
        own, allowed, standalone = folder, ALLOWED[folder], top_of(folder) in STANDALONE
    elif place == "include":
        own, allowed, standalone = "include", set(), True
    elif place == "python":
        own, allowed = "python", PYTHON_ALLOWED

    for number, quoted, angled in includes(path):
        problem = None
        if quoted is not None:
            problem = quoted_problem(file, quoted, own, allowed)
        elif angled is not None and top_of(angled) in ALLOWED and "/" in angled:
            problem = f'<{angled}>: our own headers go in ""'
        elif angled is not None and standalone:
            problem = angled_problem(below, angled)
        if problem:
            yield f"{file}:{number}: {problem}"


def check_tree(root: Path) -> list[str]:
    problems: list[str] = []
    for place in ("include", "src", "python", *UNRESTRICTED):
        for path in sorted((root / place).rglob("*")):
            if path.suffix in SOURCE_SUFFIXES and path.is_file():
                problems.extend(check_file(root, path))
    return problems


def main(arguments: list[str]) -> int:
    if len(arguments) > 1 or arguments[:1] in (["-h"], ["--help"]):
        print(__doc__)
        return 0 if arguments[:1] in (["-h"], ["--help"]) else 2
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    problems = check_tree(root)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
