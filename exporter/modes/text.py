"""A comparison as Markdown: what was measured how, tables, and a sentence on each claim."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from exporter.modes.claims import claims, mean_rate
from exporter.modes.result import EAGER, LEAST_ROUNDS, Comparison, Interval, forward


def as_markdown(found: Comparison, losses: str = "") -> str:
    """The page, with the picture of the `losses`; where a ratio is above 1, the mode is faster than eager."""
    parts = [
        f"# Eager and static: {found.wish.recipe.partition(':')[0]}",
        _how(found),
        "## Claims in circulation",
        "\n".join(f"- {said}" for said in claims(found)) or "Nothing was measured that a claim is about.",
        "## Training",
        _training(found),
        *([losses] if losses else []),
        "## Forward",
        "Milliseconds of a call from numpy to numpy in evaluation mode; in brackets eager's time over the mode's.",
        _forward(found),
        "## Served",
        _served(found),
    ]
    if missing := {**found.lacks, **found.failed}:
        parts += ["## Not compared", "\n".join(f"- {found.titles[name]}: {why}" for name, why in missing.items())]
    return "\n\n".join(parts) + "\n"


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


def _how(found: Comparison) -> str:
    cpu, wish = found.machine["cpu"], found.wish
    few = f" Of fewer than {LEAST_ROUNDS} rounds no claim is judged." if wish.rounds < LEAST_ROUNDS else ""
    return (
        f"Measured by `{command(found)}` with Paddle {found.paddle} on {wish.device}, {cpu['model']}, "
        f"{cpu['cores']} cores, {wish.threads} thread(s) to compute in.\n\n"
        f"Each mode trained and ran in a process of its own, {wish.rounds} times, in an order drawn in each round, "
        "from the same weights, on the same batches. A ratio is the geometric mean over the rounds; in brackets stands "
        f"its 95 % interval, by drawing rounds anew (bootstrap).{few}"
    )


def _training(found: Comparison) -> str:
    steps = len(found.rounds[EAGER][0].losses)
    headings = ("mode", "ms a step", "eager / mode", "first step, s", f"loss after {steps} steps", found.metric)
    more = ("weights apart", "repeats", "peak MiB", "export, s")
    return _table([*headings, *more], [(found.titles[mode], *_trained(found, mode)) for mode in found.rounds])


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


def _forward(found: Comparison) -> str:
    rows = []
    for mode, rounds in found.rounds.items():
        cells = []
        for size in found.wish.batches:
            took = statistics.median(forward(one, size) for one in rounds)
            ratio = found.to_eager(mode, lambda one, size=size: forward(one, size))  # type: ignore[misc]
            cells.append(f"{1e3 * took:.3f} ({_against(ratio, mode)})")
        rows.append((found.titles[mode], *cells))
    return _table(("mode", *(f"batch {size}" for size in found.wish.batches)), rows)


def _served(found: Comparison) -> str:
    served, wish = found.served, found.wish
    if served.why_not:
        return f"Not measured: {served.why_not}."
    rows = []
    for name, rounds in served.rounds.items():
        ratio = "1" if name == EAGER else str(found.rate_to_eager(name))
        times = (1e3 * statistics.median(one.median for one in rounds), 1e3 * statistics.median(o.p99 for o in rounds))
        rate = f"{mean_rate(found, name):,.0f}"
        rows.append((name, rate, ratio, f"{times[0]:.2f}", f"{times[1]:.2f}", f"{served.apart[name]:.1e}"))
    headings = ("what computes", "requests a second", "mode / eager", "median ms", "p99 ms", "answers apart")
    how = (
        f"{wish.clients} clients in a process of their own send one row at a time to the service of `handoff --to "
        f"http_service`, which computes one request after the other. `exporter convert` made the three artifacts in "
        f"{served.convert:.1f} s."
    )
    return f"{how}\n\n{_table(headings, rows)}"


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [headings, ["---", *["--:"] * (len(headings) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
