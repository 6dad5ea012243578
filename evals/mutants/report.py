"""The result of a run, as a table and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from evals.mutants.runner import Plan, Result, write_results


def write(path: Path, results: Sequence[Result]) -> None:
    """Write every result as JSON."""
    write_results(path, list(results))


def table(plan: Plan, results: Sequence[Result]) -> str:
    """One row for each room; then every survivor."""
    rooms = dict.fromkeys(plan.rooms[mutant.file] for mutant in plan.mutants)
    lines = ["| room | mutants | killed | of these by time | equivalent | survived | score | CPU s |"]
    lines.append("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for room in [*rooms, "all"]:
        lines.append(_row(room, [result for result in results if room in (result.room, "all")]))
    lines += [f"{result.outcome}: {result.mutant}" for result in results if result.against]
    lines += [f"called equivalent, yet killed: {result.mutant}" for result in results if result.killed_yet_explained]
    return "\n".join(lines)


def _row(room: str, results: Sequence[Result]) -> str:
    valid = [result for result in results if result.outcome != "invalid"]
    counts = Counter(result.outcome for result in valid)
    killed = sum(result.killed for result in valid)
    equivalent = sum(bool(result.equivalent) and not result.killed for result in valid)
    share = killed / max(len(valid) - equivalent, 1)
    cpu = sum(result.cpu for result in valid)
    survived = len(valid) - killed - equivalent
    return (
        f"| {room} | {len(valid)} | {killed} | {counts['timed out']} | {equivalent} | {survived} "
        f"| {share:.1%} | {cpu:.0f} |"
    )
