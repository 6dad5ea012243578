"""How much of the labelled corpus `check` finds: `python -m evals.traps.score [--probe] [--bare] [--misses] [FOLDER]`.

`--bare` leaves out of each case what most real code has not: the SPECS of its inputs and the factory.

A case is found if a finding of level error or warning stands within one line of the label. A clean case fails if it has
a finding of level error. Cases whose outcome changed between runs (`flaky`) count in no figure.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from evals.traps import corpus
from exporter.base.diagnostics import Diagnostic, Severity
from exporter.check.run import examine

HERE = Path(__file__).parent  # the corpus that was given; `own` is ours


@dataclass(frozen=True)
class Judged:
    """A case with what `check` finds in it."""

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


def labels(folder: Path) -> dict[str, corpus.Case]:
    """What each case of a folder is, without those whose outcome changed between runs."""
    return {name: case for name, case in corpus.read(folder).items() if not case.flaky}


def cases(
    folder: Path, probe_seconds: float = 0, names: frozenset[str] = frozenset(), leave_out: tuple[str, ...] = ()
) -> Iterator[Judged]:
    """The cases of a folder, or some of them, with what `check` finds; `probe_seconds` as in `examine`."""
    known = labels(folder)
    for name in sorted(names & known.keys()) if names else known:
        case = known[name]
        found = examine([str(corpus.laid_out(folder, case, leave_out))], probe_seconds=probe_seconds)
        yield Judged(name, case.kind, case.truth, case.line, found.findings)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=HERE)
    parser.add_argument("--misses", action="store_true", help="name what is missed and what is a false alarm")
    parser.add_argument("--probe", action="store_true", help="probe each model too: some 5 s a case")
    parser.add_argument("--bare", action="store_true", help="without the SPECS and the factory of each case")
    parser.add_argument("--each", type=int, default=1, help="only every so many-th case: a sample")
    options = parser.parse_args()
    sample = frozenset([*corpus.read(options.folder)][:: options.each])
    every: list[Judged] = []
    leave_out = (corpus.SPECS, corpus.FACTORY) if options.bare else ()
    for case in cases(options.folder, 30.0 if options.probe else 0.0, sample, leave_out):
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
