"""What a run of hostile bundles comes to, as the table of docs/hostile.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from evals.hostile.run import Result

_CODES = (5, 3, 2, 1, 0)


def table(results: Sequence[Result]) -> str:
    """Bundles by kind and exit code of `verify`, and the most that any command took."""
    counts = Counter((_kind(result), result.codes.get("verify", -1)) for result in results)
    kinds = sorted({kind for kind, _ in counts})
    lines = [
        f"| kind | bundles | {' | '.join(f'exit {code}' for code in _CODES)} | another |",
        f"| --- |{' --- |' * (len(_CODES) + 2)}",
    ]
    for kind in (*kinds, "all"):
        these = Counter[int]()
        for (name, code), number in counts.items():
            these[code] += number if kind in (name, "all") else 0
        own, total = {code: these[code] for code in _CODES}, these.total()
        cells = [str(own[code]) for code in _CODES]
        lines.append(f"| {kind} | {total} | {' | '.join(cells)} | {total - sum(own.values())} |")
    against = [result for result in results if result.against]
    lines += [
        "",
        f"spoken against: {len(against)}",
        f"most processor time: {max((max(r.processor.values()) for r in results), default=0):.1f} s",
        f"most memory: {max((max(r.megabytes.values()) for r in results), default=0)} MB",
    ]
    return "\n".join(lines)


def _kind(result: Result) -> str:
    return result.kind.partition(":")[0]
