"""A benchmark for a person: a table for each size, one of all runs, and which of those that passed is fastest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from exporter.base import machine
from exporter.base.words import count, plain
from exporter.deploy.bench.run import Benchmark
from exporter.deploy.bench.standing import Standing, tells, winner
from exporter.report.table import Column, table


def as_text(found: Benchmark, width: int | None = None) -> str:
    """Tables of at most so many columns, in which no name is broken; the last lines have the answer."""
    about, cpu, wish = found.bundle.manifest, machine.cpu(), found.wish
    lines = [
        f"{plain(f'{about.name} {about.version}')} ({about.verdict}) on {wish.device}, {count(wish.threads, 'thread')},"
        f" {count(wish.rounds, 'round')} of {wish.seconds:g} s",
        f"{cpu['model']}, {cpu['cores']} cores: {' '.join(cpu['abilities'])}",
        *(f"note: {note}" for note in found.notes),
    ]
    for size in dict.fromkeys(one.size for one in found.measured):
        lines += ["", *_of_size(found, size, width)]
    if found.standings:
        sizes = len({one.size for one in found.measured})
        lines += ["", f"all {count(sizes, 'size')}, by geometric means; the fastest first", *_table(found, width), ""]
    lines += [f"not measured: {name}: {plain(why)}" for name, why in found.failed.items()]
    return "\n".join([*lines, *answer(found.standings)]) + "\n"


def _of_size(found: Benchmark, size: str, width: int | None) -> list[str]:
    columns = (Column(size, number=False), *map(Column, ("median ms", "p95 ms", "rows/s", "x fastest")))
    rows = [
        (
            f"{one.variant}/{one.engine}",
            f"{one.median * 1e3:.3f}",
            f"{one.p95 * 1e3:.3f}",
            f"{one.rows_per_second:,.0f}" if one.rows_per_second else "-",
            f"{one.ratio:.1f}",
        )
        for one in found.measured
        if one.size == size
    ]
    return table(columns, rows, width)


def _table(found: Benchmark, width: int | None) -> list[str]:
    eager = any(one.over_eager is not None for one in found.standings)
    headings = ("x fastest", *(["x as fast as eager"] if eager else []), "load s", "peak MB", "verdict")
    columns = (Column("variant/engine", number=False), *(Column(heading) for heading in headings))
    rows = []
    for one in found.standings:
        speed = [f"{one.over_eager:.2f}"] if one.over_eager is not None else []
        rows.append((one.name, f"{one.slower:.2f}", *speed, f"{one.load:.2f}", f"{one.peak / 2**20:.0f}", one.proof))
    return table(columns, rows, width)


def answer(standings: Sequence[Standing]) -> Iterator[str]:
    """Which run to take, and what it is faster than."""
    if not standings:
        return
    if (best := winner(standings)) is None:
        yield "no winner: none of these runs has a verdict that it passed; see exporter verify"
        return
    first, second = best
    eager = next((one for one in standings if one.variant == "source"), None)
    yield f"fastest of those that passed: {first.name}{f', {_over(first, eager, eager.name)}' if eager else ''}"
    if second is not None:
        yield f"next: {second.name}; the first is {_over(first, second)}"
    for quick in standings:
        if quick.slower < first.slower and quick.variant != "source":
            yield f"faster, and {quick.proof}: {quick.name}"


def _over(first: Standing, other: Standing, named: str = "") -> str:
    said = f"{other.slower / first.slower:.2f} times as fast{f' as {named}' if named else ''}"
    return said if tells(first, other) else f"{said}, which is less than its rounds differ"
