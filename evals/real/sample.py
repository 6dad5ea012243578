"""Errors that `check` finds in real code, and a sample of them for a seed."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from evals.real.sources import Source
from exporter.base.diagnostics import Severity
from exporter.check.run import examine

SIZE = 60  # errors in a sample


@dataclass(frozen=True, order=True)
class Place:
    """Where a finding stands: the package with its version, the file below it, line and code."""

    package: str
    file: str
    line: int
    code: str

    @property
    def name(self) -> str:
        """The file with its folder, which other versions of the package share."""
        return "/".join(self.file.split("/")[-2:])


@dataclass(frozen=True)
class Found:
    """A finding of level error or warning."""

    place: Place
    error: bool
    message: str
    line: str = ""

    @property
    def copied(self) -> tuple[str, str, str]:
        """What it has in common with the same finding in a copy of its file."""
        return self.place.name, self.place.code, self.line


def findings(source: Source, cache: Path) -> Iterator[Found]:
    """Errors and warnings of one package, with the file paths below its root; a place and code once."""
    root = source.root(cache).resolve()
    seen: dict[Place, Found] = {}
    for finding in examine([str(root / source.folder)]).findings:
        if finding.severity is Severity.INFO or Path(finding.location.path).is_dir():  # of a folder without layers
            continue
        file = Path(finding.location.path).resolve().relative_to(root)
        place = Place(source.label, file.as_posix(), finding.location.line, finding.code)
        lines = Path(finding.location.path).read_text(errors="replace").splitlines()
        line = lines[place.line - 1].strip() if place.line <= len(lines) else ""
        found = Found(place, finding.severity is Severity.ERROR, finding.message, line)
        if place not in seen or found.error:
            seen[place] = found
    yield from seen.values()


def fresh(found: Iterable[Found], judged: Iterable[Place]) -> Sequence[Found]:
    """Leave out what was judged, in whatever version of its package, and all but one of several copies of a line."""
    known = {(place.name, place.code) for place in judged}
    unseen = [finding for finding in found if finding.error and (finding.place.name, finding.place.code) not in known]
    return list({finding.copied: finding for finding in sorted(unseen, key=lambda finding: finding.place)}.values())


def draw(found: Iterable[Found], seed: int, size: int = SIZE, most: int | None = None) -> Sequence[Found]:
    """A sample of the errors, the same for the same seed and errors; all of them where there are fewer.

    `most`: no more of one code in one package. That a file is no Python (EX001) needs no judgement, and is left out.
    """
    errors = sorted((each for each in found if each.error), key=lambda each: each.place)
    errors = [each for each in errors if each.place.code != "EX001"]
    if most is not None:
        kinds = Counter[tuple[str, str]]()
        drawn = random.Random(seed).sample(errors, len(errors))
        errors = []
        for each in drawn:
            kind = (each.place.package, each.place.code)
            kinds[kind] += 1
            errors += [each] if kinds[kind] <= most else []
    return sorted(random.Random(seed).sample(errors, min(size, len(errors))), key=lambda each: each.place)
