"""What a bundle computes in other versions of the engines: its own verify.py, run in an environment of each.

verify.py is the rule of :mod:`exporter.base.numbers` without the exporter, so a cell is judged as `exporter verify`
judges.
"""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from exporter.base.errors import BundleError, EnvironmentLacks, ExitCode, UsageError
from exporter.bundle.layout import VERIFY
from exporter.bundle.open import Bundle
from exporter.bundle.script import verify_script
from exporter.deploy.runtimes.environment import Runtime, ensure
from exporter.process.scratch import scratch
from exporter.process.workers import SINGLE_THREAD, Setting

#: Of a variant in a runtime: what verify.py said; `not run` where the runtime cannot hold the format.
PASSED, FAILED, NOT_RUN = "passed", "failed", "not run"
#: Seconds of the clock that verify.py may take beyond its own limit for each variant.
_GRACE = 60.0
_LONGER = "give more time with --timeout"
_OTHER = "run the bundle's verify.py there yourself, or name another version"


@dataclass(frozen=True)
class Cell:
    """A variant in a runtime: the outcome, and the reason or the count of checks."""

    variant: str
    outcome: str
    reason: str


@dataclass(frozen=True)
class Row:
    """A runtime: its cells; where there are none, `why_not` it could not be tried."""

    runtime: str
    cells: tuple[Cell, ...] = ()
    why_not: str = ""

    @property
    def exit(self) -> ExitCode:
        """Whether anything computes something else there (1), nothing could be shown (3), or what ran passed."""
        outcomes = Counter(cell.outcome for cell in self.cells)
        if outcomes[FAILED]:
            return ExitCode.REFUSED
        return ExitCode.PASSED if outcomes[PASSED] else ExitCode.ENVIRONMENT


@dataclass(frozen=True)
class Matrix:
    """All runtimes that were asked for; a bundle serves in those whose row passed."""

    bundle: str
    digest: str
    rows: tuple[Row, ...]

    @property
    def exit(self) -> ExitCode:
        """The highest of the rows': 3 where one could not be shown, else 1 where one failed."""
        return max(row.exit for row in self.rows)

    @property
    def word(self) -> str:
        """`partial` where what ran passed and a runtime could not hold some variant."""
        if self.exit is not ExitCode.PASSED:
            return "failed" if any(row.exit is ExitCode.REFUSED for row in self.rows) else "none"
        return "partial" if any(cell.outcome == NOT_RUN for row in self.rows for cell in row.cells) else "passed"

    def to_json(self) -> dict[str, object]:
        """The object that `verify --runtime --json` prints."""
        rows = [{**asdict(row), "exit": int(row.exit)} for row in self.rows]
        return {"bundle": self.bundle, "digest": self.digest, "verdict": self.word, "runtimes": rows}

    def markdown(self) -> str:
        """A table, a row a runtime and a column a variant; below it each reason for what did not pass."""
        variants = sorted({cell.variant for row in self.rows for cell in row.cells})
        lines = [f"| runtime | {' | '.join(variants)} |", f"|:--|{':--|' * len(variants)}"] if variants else []
        for row in self.rows:
            words = {cell.variant: cell.outcome for cell in row.cells}
            lines += [f"| {row.runtime} | {' | '.join(words.get(name, '') for name in variants)} |"] * bool(variants)
        reasons = [f"- {row.runtime}: {row.why_not}" for row in self.rows if row.why_not]
        reasons += [
            f"- {row.runtime}, {cell.variant}: {cell.reason}"
            for row in self.rows
            for cell in row.cells
            if cell.outcome != PASSED
        ]
        return "\n".join([*lines, *([""] if lines and reasons else []), *reasons])


def try_runtimes(
    bundle: Bundle, runtimes: Sequence[Runtime], cache: Path, setting: Setting, options: Sequence[str] = ()
) -> Matrix:
    """Run the bundle's verify.py in each runtime; what cannot be built or run is a row that says so.

    `options` are further ones of verify.py.

    Raises:
        UsageError: no variant of the bundle is for one of these engines.
        BundleError: a file is damaged, or its verify.py is not what this version of the exporter writes: a stranger's
            script is not run.
    """
    script = bundle.folder / VERIFY
    if not script.is_file() or script.read_bytes() != verify_script().encode("utf-8"):
        raise BundleError(
            "is not the script that this version of exporter writes, so it is not run",
            where=str(script),
            hint="release the bundle with this version, or read the script and run it yourself",
        )
    rows = []
    for runtime in runtimes:
        setting.say(f"verifying in {runtime}")
        try:
            python = ensure(runtime, cache, setting.say)
            rows.append(_row(runtime, _told(python, bundle.folder, runtime, setting, options)))
        except EnvironmentLacks as error:
            rows.append(Row(str(runtime), why_not=error.what))
    about = bundle.manifest
    return Matrix(f"{about.name} {about.version}", about.digest, tuple(rows))


@dataclass(frozen=True)
class _Judged:
    """What verify.py said of a variant."""

    variant: str
    outcome: str
    reason: str


@dataclass(frozen=True)
class _Told:
    """What verify.py said: what speaks against the bundle itself, and of each variant."""

    against: tuple[str, ...]
    runs: tuple[_Judged, ...]


def _told(python: Path, folder: Path, runtime: Runtime, setting: Setting, options: Sequence[str]) -> _Told:
    """Return what verify.py said.

    Raises:
        EnvironmentLacks: the script itself ended badly.
        UsageError, BundleError: as :func:`try_runtimes`.
    """
    limit = setting.limits.seconds
    command = [str(python), "-I", str((folder / VERIFY).resolve()), "--json", "--engine", runtime.engine]
    variables = {**SINGLE_THREAD, "PATH": f"{python.parent}:/usr/bin:/bin", "HOME": "/nonexistent"}
    with scratch() as place:
        try:
            done = subprocess.run(
                [*command, *options, "--timeout", f"{limit:g}"],
                cwd=place,
                env={**variables, "TMPDIR": str(place)},
                capture_output=True,
                text=True,
                errors="replace",
                timeout=limit * 8 + _GRACE,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise EnvironmentLacks(
                "verify.py did not end within its limits", where=str(runtime), hint=_LONGER
            ) from None
    try:
        told = json.loads(done.stdout)
    except ValueError:
        said = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise EnvironmentLacks(
            f"verify.py ended with code {done.returncode}: {said}", where=str(runtime), hint=_OTHER
        ) from None
    if told["damaged"]:
        raise BundleError(told["damaged"][0], where=str(folder), hint="do not use this bundle; ask for a fresh one")
    if not told["runs"]:
        raise UsageError(
            f"no variant of this bundle runs in {runtime.package}", where="--runtime", hint="see exporter inspect"
        )
    runs = (_Judged(run["variant"], run["outcome"], run["reason"]) for run in told["runs"])
    return _Told(tuple(told["against"]), tuple(runs))


def _row(runtime: Runtime, told: _Told) -> Row:
    """Return what verify.py said; what speaks against the bundle itself fails every variant."""
    against = told.against
    cells = (
        Cell(run.variant, FAILED if against else _outcome(run.outcome), (*against, run.reason)[0]) for run in told.runs
    )
    return Row(str(runtime), tuple(cells))


def _outcome(said: str) -> str:
    return PASSED if said in ("passed", "passed_with_waivers") else NOT_RUN if said == "not run" else FAILED
