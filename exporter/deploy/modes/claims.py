"""Claims in circulation about eager and static, each said by the measured interval."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from exporter.deploy.modes.result import EAGER, LEAST_ROUNDS, Comparison, Interval, forward

#: The static mode that people mean: what `to_static` did first, and what an export traces.
STATIC = "ast"
SUPPORTED, NOT_SUPPORTED, CANNOT_TELL = "supported", "not supported", "cannot be told here"
#: 300 and 1,200, each rounded to whole hundreds: the ratio lies between 1,150/350 and 1,250/250.
SERVED_BAND = (1150 / 350, 1250 / 250)


@dataclass(frozen=True)
class Said:
    """A claim, what was measured about it, and whether it is supported."""

    claim: str
    measured: str
    verdict: str


def claims(found: Comparison) -> Iterator[Said]:
    """Each claim that the comparison has something to say about."""
    if STATIC in found.rounds:
        yield _forward(found)
        yield _training(found)
    if found.served.rounds:
        yield _served(found)


def judged(measured: Interval, low: float, high: float, rounds: int) -> str:
    """Whether a ratio lies in a claim's band: supported where the whole interval does, not where no part of it does."""
    if measured.low > high or measured.high < low:
        outside = NOT_SUPPORTED
    elif low <= measured.low and measured.high <= high:
        outside = SUPPORTED
    else:
        outside = CANNOT_TELL
    return outside if rounds >= LEAST_ROUNDS else CANNOT_TELL


def _forward(found: Comparison) -> Said:
    sizes = found.wish.batches
    ratios = [found.to_eager(STATIC, lambda one, size=size: forward(one, size)) for size in sizes]  # type: ignore[misc]
    verdicts = {
        f"batch {size}": judged(ratio, 1.10, 1.15, found.wish.rounds) for size, ratio in zip(sizes, ratios, strict=True)
    }
    each = ", ".join(f"{ratio} times (batch {size})" for size, ratio in zip(sizes, ratios, strict=True))
    measured = f"eager takes {each} as long as to_static (AST)"
    return Said('"Eager forward is 10–15 % slower"', measured, _together(verdicts))


def _together(verdicts: Mapping[str, str]) -> str:
    """One verdict where all that were measured agree, else each with what it is of."""
    if len(set(verdicts.values())) == 1:
        return next(iter(verdicts.values()))
    by_verdict: dict[str, list[str]] = {}
    for name, verdict in verdicts.items():
        by_verdict.setdefault(verdict, []).append(name)
    return ", ".join(f"{verdict} for {' and '.join(names)}" for verdict, names in by_verdict.items())


def _training(found: Comparison) -> Said:
    ratio = found.to_eager(STATIC, lambda one: one.step)
    measured = f"a training step takes eager {ratio} times as long as to_static (AST)"
    return Said('"Static trains 15–30 % faster"', measured, judged(ratio, 1.15, 1.30, found.wish.rounds))


def _served(found: Comparison) -> Said:
    rounds = found.served.rounds
    names = [name for name in rounds if name != EAGER]
    ratios = {name: found.rate_to_eager(name) for name in names}
    each = ", ".join(f"{name} {mean_rate(found, name):,.0f} ({ratios[name]} times)" for name in names)
    measured = f"eager answers {mean_rate(found, EAGER):,.0f} requests a second, {each}"
    verdicts = {name: judged(ratio, *SERVED_BAND, found.wish.rounds) for name, ratio in ratios.items()}
    return Said('"300 against 1,200 requests a second", that is four times as many', measured, _together(verdicts))


def mean_rate(found: Comparison, name: str) -> float:
    """Requests a second, on average over the rounds."""
    rates = [one.rate for one in found.served.rounds[name]]
    return sum(rates) / len(rates)
