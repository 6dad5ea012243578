"""How much of the labelled corpus `check` finds: `python -m tests.traps.score [--probe] [--misses] [FOLDER]`.

A case is found if a finding of level error or warning stands within one line of the label. A clean case fails if it has
a finding of level error. Cases whose outcome changed between runs (`flaky`) count in no figure.
"""

from __future__ import annotations

import argparse
import functools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from exporter.check.run import examine
from exporter.diagnostics import Diagnostic, Severity

HERE = Path(__file__).parent  # the corpus that was given; `own` is ours


@dataclass(frozen=True)
class Case:
    name: str
    kind: str
    truth: str
    line: int | None
    findings: tuple[Diagnostic, ...]

    @property
    def found(self) -> bool:
        """At the right line, give or take one."""
        serious = [each for each in self.findings if each.severity is not Severity.INFO]
        return self.line is not None and any(abs(each.location.line - self.line) <= 1 for each in serious)

    @property
    def alarmed(self) -> bool:
        return any(each.severity is Severity.ERROR for each in self.findings)


@functools.cache
def labels(folder: Path) -> dict[str, dict[str, Any]]:
    """What each case of a folder is, without those whose outcome changed between runs."""
    known = json.loads((folder / "labels.json").read_text())
    return {name: label for name, label in sorted(known.items()) if not label.get("flaky")}


def cases(folder: Path, probe_seconds: float = 0, names: frozenset[str] = frozenset()) -> Iterator[Case]:
    """The cases of a folder, or some of them, with what `check` finds; `probe_seconds` as in `examine`."""
    for name in sorted(names & labels(folder).keys()) if names else labels(folder):
        label = labels(folder)[name]
        file = folder / "cases" / f"{name}.py"
        found = examine([str(file if file.is_file() else folder / f"{name}.py")], probe_seconds=probe_seconds)
        yield Case(name, label["kind"], label["truth"], label["line"], found.findings)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=HERE)
    parser.add_argument("--misses", action="store_true", help="name what is missed and what is a false alarm")
    parser.add_argument("--probe", action="store_true", help="probe each model too: some 5 s a case")
    parser.add_argument("--each", type=int, default=1, help="only every so many-th case: a sample")
    options = parser.parse_args()
    names = sorted(json.loads((options.folder / "labels.json").read_text()))
    sample = frozenset(names[:: options.each])
    every: list[Case] = []
    for case in cases(options.folder, 30.0 if options.probe else 0.0, sample):
        every.append(case)
        if options.probe:
            proof = "proved" if any(one.proved for one in case.findings) else ""
            print(f"{case.name:32} {case.truth:16} {'found' if case.found else ''} {proof}", flush=True)
    traps = [each for each in every if each.truth != "clean"]
    clean = [each for each in every if each.truth == "clean"]
    found = sum(each.found for each in traps)
    anywhere = sum(bool(each.findings) for each in traps)
    alarms = [each for each in clean if each.alarmed]
    proved = sum(any(one.proved for one in each.findings) for each in traps)
    how = "with the probe" if options.probe else "static alone"
    print(
        f"{how}: {found}/{len(traps)} found at the right line ({100 * found / len(traps):.1f} %), {anywhere} somewhere"
    )
    noted = sum(bool(each.findings) for each in clean)
    if options.probe:
        print(f"proved: {proved}/{len(traps)}")
    print(f"clean:  {len(alarms)}/{len(clean)} with an error, {noted} with any finding")
    if options.misses:
        for each in every:
            wrong = not each.found if each.truth != "clean" else bool(each.findings)
            if wrong:
                places = [f"{one.code}@{one.location.line}:{one.severity.value}" for one in each.findings]
                print(f"  {each.name} {each.truth} ({each.kind}) line {each.line}: {places}")


if __name__ == "__main__":
    main()
