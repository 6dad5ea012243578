"""Run the script of a find in a fresh child of any Python, which it may end, crash or hang."""

from __future__ import annotations

import datetime
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from evals.finds.find import Find
from exporter.base import machine

#: Seconds of the clock; a script that ends takes 1 to 6.
LIMIT = 150.0
#: The same for a script that is said to hang, which would take them all.
LIMIT_OF_HANGS = 45.0
#: The line that names an error, in what Python and the tools print.
_ERROR = re.compile(r"^\s*(?:[\w.]*(?:Error|Exception|InvalidArgument|Fail)\b|\(\w+\)).*")
#: A temporary folder, whose name is another one in each run.
_FOLDER = re.compile(r"/tmp/\w+/")
_VERSIONS = """
import importlib.metadata, json, platform, sys
found = {}
for name in sys.argv[1:]:
    try:
        found[name] = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        pass
print(json.dumps([platform.python_version(), found]))
"""


@dataclass(frozen=True)
class Measured:
    """What a script did under the packages that it needs; `outcome` is empty where one is not installed."""

    name: str
    outcome: str
    shows: bool
    packages: Mapping[str, str]
    python: str
    date: str
    #: Instruction sets, by which kernels are chosen.
    cpu: str = ""
    expected: Mapping[str, str] = field(default_factory=dict)
    actual: str = ""
    seconds: float = 0.0

    @property
    def code(self) -> int:
        """The exit code: 0 while the defect shows, 1 where the script ends rightly, 3 where neither was seen."""
        return 0 if self.shows else 1 if self.outcome == "right" else 3

    def to_json(self) -> str:
        return json.dumps(asdict(self))


def measure(find: Find, python: str = sys.executable) -> Measured:
    """Run the script, and compare how it ended with how the find shows."""
    version, packages = _installed(python, find.needs)
    cpu = " ".join(machine.cpu()["abilities"])
    today = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    if set(packages) != set(find.needs):
        return Measured(find.name, "", False, packages, version, today, cpu)
    started = time.monotonic()
    limit = LIMIT_OF_HANGS if find.shows == "hangs" else LIMIT
    code, out, err = _ended([python, "-u", str(find.path)], limit)
    seconds = time.monotonic() - started
    ended = outcome(code, err)
    kind, _, text = find.shows.partition(": ")
    shows = text in ended if kind == "fails" and ended.startswith("fails") else ended == find.shows
    expected = dict(re.findall(r"^expected by (.+?): (.*)$", out, re.MULTILINE))
    actual = (re.findall(r"^actual: (.*)$", out, re.MULTILINE) or [""])[-1]
    return Measured(find.name, ended, shows, packages, version, today, cpu, expected, actual, round(seconds, 1))


def outcome(code: int | None, err: str) -> str:
    """Return how a script ended: `right`, `wrong`, `hangs`, the name of a signal, or `fails: ` and the error."""
    if code is None:
        return "hangs"
    if code < 0:
        return signal.Signals(-code).name
    if code == 0:
        return "right"
    lines = [line.strip() for line in err.splitlines() if line.strip()]
    if lines and re.fullmatch(r"AssertionError: .*\bwrong", lines[-1]):
        return "wrong"
    errors = [line for line in lines if _ERROR.match(line)]
    # The last error that says something: Paddle puts a traceback of its own, with headings, behind it.
    return f"fails: {_FOLDER.sub('…/', (errors or lines or [f'exit {code}'])[-1])}"


def _installed(python: str, needs: tuple[str, ...]) -> tuple[str, dict[str, str]]:
    done = subprocess.run([python, "-c", _VERSIONS, *needs], capture_output=True, text=True, check=True)
    version, packages = json.loads(done.stdout)
    return version, packages


def _ended(command: list[str], limit: float) -> tuple[int | None, str, str]:
    """Return the exit code, None where the child ran into the limit, and what it wrote."""
    with tempfile.TemporaryDirectory(prefix="finds-") as place:
        out, err = Path(place, "out"), Path(place, "err")
        with out.open("wb") as stdout, err.open("wb") as stderr:
            child = subprocess.Popen(
                command, stdout=stdout, stderr=stderr, cwd=place, start_new_session=True, env=_environment()
            )
            try:
                code: int | None = child.wait(limit)
            except subprocess.TimeoutExpired:
                code = None
            finally:
                if child.poll() is None:
                    os.killpg(child.pid, signal.SIGKILL)
                    child.wait()
        stdout_text, stderr_text = (path.read_text(encoding="utf-8", errors="replace") for path in (out, err))
        return code, stdout_text, stderr_text


def _environment() -> dict[str, str]:
    """Return ours without what tests and commands of this project put into it."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("EXPORTER_", "FLAGS_", "PYTHON"))}
    return {**kept, "CUDA_VISIBLE_DEVICES": "", "ORT_DISABLE_TELEMETRY": "1"}
