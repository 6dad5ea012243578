"""An engine of another version, in an environment of its own: built once, kept in the user's cache.

Built by uv where it is installed, else by Python's own venv and pip; both take the package index that this machine is
set up for. An environment is built in a temporary sibling and renamed, under a lock, so that several commands can ask
for the same one at once and none sees half of it.
"""

from __future__ import annotations

import fcntl
import itertools
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from packaging.version import InvalidVersion, Version

from exporter.base.errors import EnvironmentLacks, UsageError
from exporter.base.files import remove, sibling, translated, write_json

#: The mark of a finished environment: a folder without it is built anew.
_READY = "runtime.json"
#: The limit of one step of the building (s); Paddle is 200 MB to download.
_PATIENCE = 1800.0
#: Where the cause in a message of uv ends.
_HINTS = re.compile(r"hint:|help:", re.IGNORECASE)


@dataclass(frozen=True)
class Package:
    """What is installed for an engine: `distribution`, and `beside` it what it needs and does not declare.

    A version below `numpy_2` was built for numpy 1 and fails to import beside numpy 2.
    """

    distribution: str
    engine: str
    numpy_2: str
    beside: tuple[str, ...] = ()


PACKAGES = {
    "paddle": Package("paddlepaddle", "paddle_inference", "3.0.0", ("setuptools<81",)),
    "onnxruntime": Package("onnxruntime", "onnxruntime", "1.19.0"),
}


@dataclass(frozen=True)
class Runtime:
    """A package of :data:`PACKAGES` in one version."""

    package: str
    version: str

    def __str__(self) -> str:
        return f"{self.package}=={self.version}"

    @property
    def engine(self) -> str:
        """The engine of verify.py that it serves."""
        return PACKAGES[self.package].engine

    def requirements(self) -> tuple[str, ...]:
        """Return what pip is asked to install."""
        package = PACKAGES[self.package]
        old = Version(self.version) < Version(package.numpy_2)
        return (f"{package.distribution}=={self.version}", "numpy<2" if old else "numpy", *package.beside)

    def takes(self, tag: str) -> bool:
        """Return whether a Python of this tag (`py3.11`) is worth a try."""
        del tag
        return True


def read_runtimes(text: str) -> tuple[Runtime, ...]:
    """`paddle==2.6.2,3.1.1,onnxruntime==1.20.1`: a version alone is of the package before it.

    Raises:
        UsageError: a package is unknown, a version is none, or nothing is named.
    """
    where, known = "--runtime", " and ".join(PACKAGES)
    found: dict[Runtime, None] = {}
    package = ""
    for word in filter(None, (word.strip() for word in text.split(","))):
        name, equal, version = word.rpartition("==")
        package = name if equal else package
        if package not in PACKAGES:
            what = f"'{name or word}' is no runtime that a bundle can be verified in"
            raise UsageError(what, where=where, hint=f"one of: {known}, as in paddle==2.6.2,3.1.1")
        try:
            Version(version)
        except InvalidVersion:
            raise UsageError(
                f"'{version}' is no version of {package}", where=where, hint="write it as in 2.6.2"
            ) from None
        found[Runtime(package, version)] = None
    if not found:
        raise UsageError("names no runtime", where=where, hint="write it as in paddle==2.6.2,3.1.1,onnxruntime==1.20.1")
    return tuple(found)


def ensure(runtime: Runtime, cache: Path, say: Callable[[str], None]) -> Path:
    """The Python of the runtime's environment, which is built where it is not there yet.

    The Python that runs us is tried first, then others on the PATH: an old engine has no wheel for a new Python.

    Raises:
        UsageError: the cache cannot be written.
        EnvironmentLacks: it can be built with no Python here; the error is that of the first one tried.
    """
    first: EnvironmentLacks | None = None  # of this Python: others on the PATH may be launchers of what is not there
    for python in filter(lambda python: runtime.takes(_tag(python)), _pythons()):
        home = cache / f"{runtime.package}-{runtime.version}-{_tag(python)}"
        try:
            with translated(cache):
                cache.mkdir(parents=True, exist_ok=True)
            with _locked(home):
                if not (home / _READY).is_file():
                    say(f"building an environment for {runtime}")
                    _build(runtime, python, home)
            return home / "bin" / "python"
        except EnvironmentLacks as error:
            first = first or error
    raise first or EnvironmentLacks("no Python was found to build it with", where=str(runtime), hint="install one")


def _pythons() -> Iterator[str]:
    """This Python, and one of each other version that is on the PATH, newest first."""
    seen = {_tag(sys.executable)}
    yield sys.executable
    for minor in range(14, 5, -1):
        path = shutil.which(f"python3.{minor}")
        if path and f"py3.{minor}" not in seen:
            seen.add(f"py3.{minor}")
            yield path


def _tag(python: str) -> str:
    if python == sys.executable:
        return f"py{sys.version_info.major}.{sys.version_info.minor}"
    return f"py{Path(python).name.removeprefix('python')}"


@contextmanager
def _locked(home: Path) -> Iterator[None]:
    """One builder at a time for an environment; the lock ends with the process that holds it."""
    with translated(home), home.with_name(f"{home.name}.lock").open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def _build(runtime: Runtime, python: str, home: Path) -> None:
    """Raises EnvironmentLacks with the last words of what failed; nothing is left then."""
    remove(home)
    with sibling(home) as draft:
        for command in _commands(python, draft, runtime.requirements()):
            _run(command, runtime)
        write_json(draft / _READY, {"runtime": str(runtime), "requirements": list(runtime.requirements())})
        with translated(home):
            draft.rename(home)


def _commands(python: str, draft: Path, requirements: Sequence[str]) -> list[list[str]]:
    """The steps, by uv where it is here; of wheels alone, for building one runs what its author wrote."""
    inside = str(draft / "bin" / "python")
    uv = shutil.which("uv") or ([sys.executable, "-m", "uv"] if find_spec("uv") else None)
    if uv:
        command = [uv] if isinstance(uv, str) else uv
        return [
            [*command, "venv", "--quiet", "--no-project", "--python", python, str(draft)],
            [*command, "pip", "install", "--quiet", "--only-binary", ":all:", "--python", inside, *requirements],
        ]
    return [
        [python, "-m", "venv", str(draft)],
        [inside, "-m", "pip", "install", "--quiet", "--only-binary", ":all:", *requirements],
    ]


def _run(command: Sequence[str], runtime: Runtime) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=_PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        raise EnvironmentLacks(
            f"its environment was not built within {_PATIENCE:g} s", where=str(runtime), hint="try it again"
        ) from None
    if done.returncode:
        raise EnvironmentLacks(
            f"its environment cannot be built: {_why(done.stderr)}",
            where=str(runtime),
            hint="choose a version that has a wheel for a Python on this machine; a network or a mirror is needed",
        )


def _why(output: str) -> str:
    """Pick what an installer wrote last of the cause. pip says it in its last line that begins with ERROR.

    uv says first that there is no solution, and then why: behind `╰─▶` or, in 0.13, `cause:`.
    """
    lines = [line.strip() for line in output.splitlines() if line.strip()] or ["no message"]
    for mark in ("╰─▶", "cause:"):
        causes = [at for at, line in enumerate(lines) if line.startswith(mark)]
        if causes:
            inner = itertools.takewhile(lambda line: not _HINTS.match(line), lines[causes[-1] :])
            return " ".join(inner).removeprefix(mark).strip()
    errors = [line for line in lines if "error" in line.lower() or "×" in line]
    return (errors or lines)[-1]
