"""What did not pass, at the line that is to blame: for GitHub as workflow commands, for GitLab as Code Quality."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from exporter.base.diagnostics import Diagnostic, Location, Severity
from exporter.base.errors import ExitCode
from exporter.base.words import plain
from exporter.check.github_command import command

if TYPE_CHECKING:
    from exporter.report.gate import Gated

#: The code of what is no finding of a rule.
GATE = "gate"
_PLACE = re.compile(r"(?P<path>.+?):(?P<line>\d+)(?::(?P<column>\d+))?")


def place(text: str) -> Location | None:
    """`net.py:6` or `net.py:6:20`, if there is such a file; None for anything else."""
    found = _PLACE.fullmatch(text)
    if found is None or not _is_file(found["path"]):
        return None
    return Location(found["path"], int(found["line"]), int(found["column"] or 0))


def faults(one: Gated) -> tuple[Diagnostic, ...]:
    """Why a spec did not pass, each with a place: what forbade it, the lines that were blamed, or the spec itself."""
    if one.passed or one.unreleased:
        return ()
    if one.findings:  # one on the export as a whole is in no file
        known = [_is_file(each.location.path) for each in one.findings]
        at_spec = [replace(each, location=Location(one.spec)) for each in one.findings]
        return tuple(each if at else spec for each, at, spec in zip(one.findings, known, at_spec, strict=True))
    blames = one.report.blames if one.report is not None else ()
    blamed = [(at, str(blame)) for blame in blames if (at := place(blame.line)) is not None]
    blamed = blamed or [(Location(one.spec), one.said)]
    return tuple(Diagnostic(GATE, Severity.ERROR, at, said, "") for at, said in dict.fromkeys(blamed))


def as_github(one: Gated, root: Path) -> str:
    """A line for each fault of a spec, paths as seen from the repository's `root`; empty where it passed."""
    return "".join(_command(one, fault, root) + "\n" for fault in faults(one))


def as_code_quality(results: Sequence[Gated], root: Path) -> str:
    """GitLab's Code Quality report: a JSON array, empty where all passed.

    A fingerprint holds no line and no number, so that a fault which moved or grew is the same fault in the next run.
    """
    issues, seen = [], Counter[str]()
    for one in results:
        for fault in faults(one):
            issue, own = _issue(one, fault, root), _fingerprint(one, fault, root)
            seen[own] += 1
            if (number := seen[own]) > 1:  # GitLab shows only the first of one fingerprint
                issue["fingerprint"] = _digest([own, str(number)])
            issues.append(issue)
    return json.dumps(issues, indent=2) + "\n"


def repository(folder: Path) -> Path:
    """The folder of the repository that `folder` lies in; itself if that is none."""
    inside = folder.resolve()
    return next((each for each in (inside, *inside.parents) if (each / ".git").exists()), inside)


def _is_file(path: str) -> bool:
    try:
        return Path(path).is_file()
    except OSError:  # too long for a path
        return False


def _command(one: Gated, fault: Diagnostic, root: Path) -> str:
    where = fault.location
    places: dict[str, str | int] = {"file": _path(where, root)}
    if where.line:
        places |= {"line": where.line, **({"col": where.column} if where.column else {})}
    title = f"{one.spec} {one.word}" if fault.code == GATE else f"{fault.code}: {one.spec} {one.word}"
    return command("error", {**places, "title": title}, _said(fault))


def _issue(gated: Gated, fault: Diagnostic, root: Path) -> dict[str, object]:
    path = _path(fault.location, root)
    return {
        "description": plain(f"{gated.spec} {gated.word}: {_said(fault)}"),
        "check_name": _name(fault),
        "fingerprint": _fingerprint(gated, fault, root),
        "severity": "major" if gated.exit is ExitCode.REFUSED else "critical",
        "location": {"path": path, "lines": {"begin": max(fault.location.line, 1)}},
    }


def _fingerprint(gated: Gated, fault: Diagnostic, root: Path) -> str:
    message = re.sub(r"\d[\d.e+-]*", "#", fault.message)
    return _digest([_name(fault), gated.spec, _path(fault.location, root), message])


def _name(fault: Diagnostic) -> str:
    return f"exporter-{fault.code}"


def _said(fault: Diagnostic) -> str:
    return f"{fault.message}. {fault.cure}" if fault.cure else fault.message


def _path(where: Location, root: Path) -> str:
    """As the repository names it; what lies outside keeps its name."""
    try:
        resolved = Path(where.path).resolve()
    except (OSError, ValueError):  # no path at all: too long, or with a null
        return plain(where.path)
    inside = resolved.relative_to(root) if resolved.is_relative_to(root) else Path(where.path)
    return plain(inside.as_posix())


def _digest(parts: Sequence[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode(errors="replace")).hexdigest()
