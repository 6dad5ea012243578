"""A comparison in parts, for a page in whatever form: what was measured how, tables, and a sentence on each claim."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from exporter.deploy.modes.claims import Said, claims, mean_rate
from exporter.deploy.modes.result import EAGER, LEAST_ROUNDS, Comparison, Interval, forward

#: What the picture on a page shows.
LOSSES = "The loss of each training step"


@dataclass(frozen=True)
class Table:
    """Cells as text; the first of each row names it."""

    headings: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Part:
    """A heading, and what stands below it, in this order; `losses` asks for the picture of the losses."""

    heading: str
    lead: str = ""
    claims: Sequence[Said] = ()
    table: Table | None = None
    losses: bool = False
    points: Sequence[str] = ()


def title(found: Comparison) -> str:
    """The heading of the page."""
    return f"Eager and static: {found.wish.recipe.partition(':')[0]}"


def parts(found: Comparison) -> Iterator[Part]:
    """All parts; where a ratio is above 1, the mode is faster than eager."""
    said = tuple(claims(found))
    yield Part("Claims in circulation", "" if said else "Nothing was measured that a claim is about.", said)
    yield Part("Training", table=_training(found), losses=True)
    lead = "Milliseconds of a call from numpy to numpy in evaluation mode; in brackets eager's time over the mode's."
    yield Part("Forward", lead, table=_forward(found))
    yield _served(found)
    if missing := {**found.lacks, **found.failed}:
        yield Part("Not compared", points=[f"{found.titles[name]}: {why}" for name, why in missing.items()])


def command(found: Comparison) -> str:
    """The command line that measures the same."""
    wish = found.wish
    amount = f"--steps {wish.steps}" if wish.steps else f"--epochs {wish.epochs}"
    sizes = ",".join(map(str, wish.batches))
    name = wish.recipe.removesuffix(":recipe")
    return (
        f"exporter compare-modes {name} {amount} --batches {sizes} --rounds {wish.rounds} --serve {wish.serve:g} "
        f"--clients {wish.clients} --threads {wish.threads} --seed {wish.seed}"
    )


def how(found: Comparison) -> tuple[str, str]:
    """Where and how it was measured: two paragraphs in which `backticks` mark the command."""
    cpu, wish = found.machine.cpu, found.wish
    few = f" Of fewer than {LEAST_ROUNDS} rounds no claim is judged." if wish.rounds < LEAST_ROUNDS else ""
    return (
        f"Measured by `{command(found)}` with Paddle {found.paddle} on {wish.device}, {cpu['model']}, "
        f"{cpu['cores']} cores, {wish.threads} thread(s) to compute in.",
        f"Each mode trained and ran in a process of its own, {wish.rounds} times, in an order drawn in each round, "
        "from the same weights, on the same batches. A ratio is the geometric mean over the rounds; in brackets stands "
        f"its 95 % interval, by drawing rounds anew (bootstrap).{few}",
    )


def _training(found: Comparison) -> Table:
    steps = len(found.rounds[EAGER][0].losses)
    headings = ("mode", "ms a step", "eager / mode", "first step, s", f"loss after {steps} steps", found.metric)
    more = ("weights apart", "repeats", "peak MiB", "export, s")
    return Table([*headings, *more], [(found.titles[mode], *_trained(found, mode)) for mode in found.rounds])


def _trained(found: Comparison, mode: str) -> Iterator[str]:
    rounds, apart = found.rounds[mode], found.apart[mode]
    yield f"{1e3 * statistics.median(one.step for one in rounds):.2f}"
    yield _against(found.to_eager(mode, lambda one: one.step), mode)
    yield f"{statistics.median(one.times[0] for one in rounds):.3f}"
    yield f"{rounds[0].losses[-1]:.5g}"
    yield f"{rounds[0].metric:.4f}"
    yield "-" if mode == EAGER else f"{apart.relative:.1e}"
    yield "bit for bit" if found.repeats[mode] else "no"
    yield f"{statistics.median(one.memory for one in rounds) / 2**20:.0f}"
    yield f"{statistics.median(one.export for one in rounds):.3f}"


def _against(ratio: Interval, mode: str) -> str:
    return "1" if mode == EAGER else str(ratio)


def _forward(found: Comparison) -> Table:
    rows = []
    for mode, rounds in found.rounds.items():
        cells = []
        for size in found.wish.batches:
            took = statistics.median(forward(one, size) for one in rounds)
            ratio = found.to_eager(mode, lambda one, size=size: forward(one, size))  # type: ignore[misc]
            cells.append(f"{1e3 * took:.3f} ({_against(ratio, mode)})")
        rows.append((found.titles[mode], *cells))
    return Table(("mode", *(f"batch {size}" for size in found.wish.batches)), rows)


def _served(found: Comparison) -> Part:
    served, wish = found.served, found.wish
    if served.why_not:
        return Part("Served", f"Not measured: {served.why_not}.")
    rows = []
    for name, rounds in served.rounds.items():
        ratio = "1" if name == EAGER else str(found.rate_to_eager(name))
        times = (1e3 * statistics.median(one.median for one in rounds), 1e3 * statistics.median(o.p99 for o in rounds))
        rate = f"{mean_rate(found, name):,.0f}"
        rows.append((name, rate, ratio, f"{times[0]:.2f}", f"{times[1]:.2f}", f"{served.apart[name]:.1e}"))
    headings = ("what computes", "requests a second", "mode / eager", "median ms", "p99 ms", "answers apart")
    lead = (
        f"{wish.clients} clients in a process of their own send one row at a time to the service of `handoff --to "
        f"http_service`, which computes one request after the other. `exporter convert` made the three artifacts in "
        f"{served.convert:.1f} s."
    )
    return Part("Served", lead, table=Table(headings, rows))
