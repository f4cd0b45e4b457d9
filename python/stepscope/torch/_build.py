"""Builds the callback library against the torch that is installed; once, then it is cached.

torch's C++ interface has no stable form for callbacks, so the library is made where it is used: one
plain shared library, a few seconds of the system's C++ compiler, into the user's cache folder.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from stepscope.profiler._log import logger

_SOURCES = Path(__file__).parent / "native"
_SECONDS = 300


class BuildError(Exception):
    """There is no library; the message says why and what to do."""


@dataclass(frozen=True)
class Torch:
    """What a build depends on of the torch that is installed."""

    version: str
    root: Path
    new_strings: bool  # the ABI of std::string

    @staticmethod
    def installed() -> Torch:
        import torch

        new_strings = bool(getattr(torch._C, "_GLIBCXX_USE_CXX11_ABI", True))
        return Torch(str(torch.__version__), Path(torch.__file__).parent, new_strings)


def compiler() -> str:
    """The path of the C++ compiler: $CXX, else the first one found."""
    for name in (os.environ.get("CXX", ""), "g++", "c++", "clang++"):
        found = shutil.which(name) if name else None
        if found:
            return found
    raise BuildError(
        "there is no C++ compiler (install g++, or set CXX); torch's operators are recorded by "
        "callbacks that have to be built against the installed torch"
    )


def build(torch: Torch, collector: Path, header_folder: Path, sources: Sequence[Path] = ()) -> Path:
    """Returns the library's path, after making it if need be. Without a compiler it is the one that
    was made last, by any compiler, of the same sources for the same torch; BuildError if none was.

    Safe when the ranks of a job come at once: one builds, the others wait for it, and where locks
    do not work (some network disks) each renames its own result into place.
    """
    sources = sources or (_SOURCES / "callbacks.cc",)
    options = [
        "-std=c++20", "-O2", "-DNDEBUG", "-fPIC", "-shared", "-fvisibility=hidden",
        f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.new_strings)}",
        f"-I{header_folder}",
        "-iquote", str(_SOURCES.parents[2]),
        "-isystem", f"{torch.root}/include",
        "-isystem", f"{torch.root}/include/torch/csrc/api/include",
        *map(str, sources),
        f"-L{torch.root}/lib", "-lc10", "-ltorch_cpu",
        str(collector),
        f"-Wl,-rpath,{collector.parent}", f"-Wl,-rpath,{torch.root}/lib",
    ]  # fmt: skip
    name = f"torch-{_key(torch, options, sources, header_folder)}"
    folder = _folder()
    try:
        program = compiler()
    except BuildError:
        made = _last_made(folder, name)
        if made is None:
            raise
        return made
    target = folder / f"{name}-{_compiler_key(program)}.so"
    if target.exists():
        return target
    with _locked(target.with_suffix(".lock")):
        if not target.exists():
            _compile([program, *options], target)
    return target


def _compiler_key(program: str) -> str:
    """Another compiler may make another library."""
    stamp = Path(program).resolve().stat()
    about = repr((program, stamp.st_mtime_ns, stamp.st_size))
    return hashlib.sha256(about.encode()).hexdigest()[:8]


def _last_made(folder: Path, name: str) -> Path | None:
    made = folder.glob(f"{name}-*.so")
    return max(made, key=lambda path: path.stat().st_mtime_ns, default=None)


def _key(torch: Torch, options: list[str], sources: Sequence[Path], headers: Path) -> str:
    digest = hashlib.sha256()
    digest.update(repr((torch, options)).encode())
    near = [path for source in sources for path in source.parent.glob("*.h")]
    for path in (*sources, *sorted(near), headers / "stepscope" / "record.h"):
        digest.update(path.read_bytes())
    return f"{torch.version}-{digest.hexdigest()[:16]}"


def _compile(command: list[str], target: Path) -> None:
    logger.info("building the callbacks for torch, once for this installation: %s", target)
    handle, unfinished = tempfile.mkstemp(".so", "unfinished-", target.parent)
    os.close(handle)
    try:
        done = subprocess.run(
            [*command, "-o", unfinished],
            capture_output=True, text=True, errors="replace", timeout=_SECONDS, check=False,
        )  # fmt: skip
        if done.returncode:
            log = target.with_suffix(".log")
            log.write_text(f"{' '.join(command)}\n\n{done.stderr}")
            first = next((x for x in done.stderr.splitlines() if "error" in x), "no error line")
            raise BuildError(f"{command[0]} could not build the callbacks ({first}); see {log}")
        Path(unfinished).replace(target)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BuildError(f"the callbacks could not be built: {error}") from error
    finally:
        Path(unfinished).unlink(missing_ok=True)


def _folder() -> Path:
    """The cache folder; where there is none to write to, a private one for this process."""
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path("~/.cache").expanduser())
    folder = Path(cache) / "stepscope" / "torch"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # A library that somebody else can write to must not be loaded.
        if os.access(folder, os.W_OK) and folder.stat().st_uid == os.getuid():
            return folder
    except OSError:
        pass
    private = tempfile.mkdtemp(prefix="stepscope-torch-")
    logger.info("%s cannot be written to: the callbacks are built anew in %s", folder, private)
    return Path(private)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    with open(path, "w") as file:
        with contextlib.suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
