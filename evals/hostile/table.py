"""What a run of hostile bundles comes to, as the tables of docs/hostile.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from evals.hostile.aims import CAUGHT, MISSED, NO_AIM, NOT_TRIED
from evals.hostile.run import Result

_FATES = (CAUGHT, MISSED, NOT_TRIED, NO_AIM)
#: The share of the bundles that put a proof to the test which it has to catch.
LEAST = 0.99


def share(results: Sequence[Result]) -> float:
    """Of the bundles that were tried on a proof, how many it caught; 1 where none was."""
    fates = Counter(result.fate for result in results)
    tried = fates[CAUGHT] + fates[MISSED]
    return fates[CAUGHT] / tried if tried else 1.0


def enough(results: Sequence[Result]) -> bool:
    """Whether the proofs catch what they have to."""
    return share(results) >= LEAST


def table(results: Sequence[Result]) -> str:
    """Bundles by kind and by aim with their fates, what was not tried and why, and the most that any command took."""
    fates = Counter(result.fate for result in results)
    why = Counter((result.why, result.aim) for result in results if result.fate == NOT_TRIED)
    missed = [result for result in results if result.fate == MISSED]
    codes = Counter(result.codes.get("verify", -1) for result in results)
    return "\n".join(
        [
            *_by("kind", [(result.kind.partition(": bomb")[0].partition(": graph")[0], result) for result in results]),
            "",
            *_by("aim", [(result.aim, result) for result in results if result.fate != NO_AIM]),
            "",
            f"not tried: {fates[NOT_TRIED]}",
            *(f"  {number} aimed at {aim}: {reason}" for (reason, aim), number in why.most_common()),
            f"missed: {len(missed)}",
            *(f"  {result.number} {result.base} {result.kind}: {result.said[:140]}: {result.why}" for result in missed),
            f"caught by what they aim at: {fates[CAUGHT]} of {fates[CAUGHT] + fates[MISSED]}, {share(results):.2%}",
            f"exit codes of verify: {dict(sorted(codes.items()))}",
            f"spoken against: {sum(bool(result.against) for result in results)}",
            f"most processor time: {max((max(r.processor.values()) for r in results), default=0):.1f} s",
            f"most memory: {max((max(r.megabytes.values()) for r in results), default=0)} MB",
        ]
    )


def _by(what: str, named: Sequence[tuple[str, Result]]) -> list[str]:
    """Rows of counts: of each name, and of all."""
    counts = Counter((_short(name), result.fate) for name, result in named)
    names = sorted({name for name, _ in counts})
    lines = [f"| {what} | bundles | {' | '.join(_FATES)} |", f"| --- |{' --- |' * (len(_FATES) + 1)}"]
    for name in (*names, "all"):
        cells = [
            sum(number for (own, fate), number in counts.items() if fate == kind and name in (own, "all"))
            for kind in _FATES
        ]
        lines.append(f"| {name} | {sum(cells)} | {' | '.join(map(str, cells))} |")
    return lines


def _short(name: str) -> str:
    return "by hand" if name.startswith("by hand") else name
