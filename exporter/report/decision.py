"""What one decides by, worked out from a report: what was not proven, what each product costs, and which is best.

Nothing is guessed: a figure that the report does not hold comes with the command that measures it.
"""

from __future__ import annotations

from dataclasses import dataclass

from exporter.base.words import count, plain, some
from exporter.prove.judge.facts import Facts, Latency
from exporter.prove.judge.report import Report
from exporter.prove.verdict.claim import Outcome
from exporter.report.summary import Row, Run, runs, waivers

#: What measures latency and throughput.
TIMED_BY = "exporter verify BUNDLE --page FILE --bench"
#: Paddle Inference as it comes, and without its graph passes.
DEFAULT, STRICT = "paddle_inference_default", "paddle_inference"
_WORDS = {
    "passed": "It may ship",
    "passed_with_waivers": "It may ship, with what is waived",
    "partial": "What was looked at holds, and not everything was",
    "failed": "It must not ship",
    "inconclusive": "It must not ship: nobody can tell",
}


@dataclass(frozen=True)
class Open:
    """Something that nobody proved, and what would prove it, with `backticks` around code; empty: nothing simple."""

    what: str
    by: str = ""


@dataclass(frozen=True)
class Product:
    """One engine on one variant, as operations would run it. `marks` say in what it is the best of those that hold.

    `latencies` are of all sizes that were measured, in their order.
    """

    run: Run
    holds: bool
    bytes: int | None
    latencies: tuple[Latency, ...]
    marks: tuple[str, ...] = ()


def answer(report: Report) -> str:
    """May it ship, in one clause."""
    return _WORDS[report.verdict.word]


def products(report: Report) -> list[Product]:
    """Every engine on every variant, with the best of those that hold marked, if there is more than one to choose."""
    facts = report.facts or Facts()
    measured = facts.timed.latencies if facts.timed else ()
    found = []
    for run in runs(report):
        if run.computed and run.variant != "source":
            own = tuple(one for one in measured if (one.variant, one.engine) == (run.variant, run.by))
            found.append(Product(run, holds(report, run), facts.sizes.get(run.variant), own))
    return _marked(found)


def holds(report: Report, run: Run) -> bool:
    """Whether every claim on an engine holds, and every claim on the variant that it reads; waived ones count."""
    calm = (Outcome.MATCH, Outcome.WAIVED)
    files = [claim for claim in report.verdict.plan if claim.variant == run.variant and not claim.engine]
    return all(evidence.outcome in calm for _, evidence in run.rows) and all(
        report.verdict.of(claim).outcome in calm for claim in files
    )


def compared_size(found: list[Product]) -> str:
    """The size of inputs at which products are compared: the largest that was measured; empty where none was."""
    sizes = [one.size for product in found for one in product.latencies]
    return sizes[-1] if sizes else ""


def at(product: Product, size: str) -> Latency | None:
    """What was measured of a product at a size."""
    return next((one for one in product.latencies if one.size == size), None)


def _marked(found: list[Product]) -> list[Product]:
    able = [product for product in found if product.holds]
    sizes = {product.bytes for product in able if product.bytes is not None}
    least = min(sizes) if len(sizes) > 1 else None
    size = compared_size(found)
    times = {one.seconds for product in able if (one := at(product, size))}
    quickest = min(times) if len(times) > 1 else None
    marked = []
    for product in found:
        here = at(product, size)
        marks = ["fastest"] if product.holds and here and here.seconds == quickest else []
        marks += ["smallest"] if product.holds and product.bytes is not None and product.bytes == least else []
        marked.append(Product(product.run, product.holds, product.bytes, product.latencies, tuple(marks)))
    return marked


def front(found: list[Product]) -> list[Product]:
    """Of those that hold and were measured: what no other beats in both bytes and time; the smallest first."""
    size = compared_size(found)
    known = [
        (product.bytes, one.seconds, product)
        for product in found
        if product.holds and product.bytes is not None and (one := at(product, size))
    ]
    best = [
        (weight, seconds, product)
        for weight, seconds, product in known
        if not any(
            other[0] <= weight and other[1] <= seconds and (other[0], other[1]) != (weight, seconds) for other in known
        )
    ]
    return [product for _, _, product in sorted(best, key=lambda entry: entry[:2])]


def open_ends(report: Report) -> list[Open]:
    """What the verdict does not cover, the gravest first."""
    facts = report.facts or Facts()
    return [*_judged(report), *_engines(report), *_origin(report, facts), *_speed(report, facts)]


def _judged(report: Report) -> list[Open]:
    verdict, found = report.verdict, []
    if verdict.narrowed:
        found.append(Open(f"The plan was narrowed on purpose: {plain(verdict.narrowed)}.", "`exporter verify BUNDLE`"))
    found += [Open(f"Waived: {line}.") for line in waivers(report)]
    counts = verdict.counts
    for outcome, said in (("inconclusive", "could not be judged"), ("missing", "came without evidence")):
        if counts[outcome]:
            found.append(Open(f"{count(counts[outcome], 'claim')} {said}; each is told below."))
    return found


def _engines(report: Report) -> list[Open]:
    plan, found = report.verdict.plan, []
    engines = {claim.engine for claim in plan if claim.engine}
    devices = {report.verdict.of(claim).device for claim in plan} - {""}
    if not any("gpu" in device.lower() for device in devices):
        found.append(Open("No GPU: everything ran on the CPU.", "`exporter verify BUNDLE --device gpu`"))
    if STRICT in engines and DEFAULT not in engines:
        said = "The default predictor: Paddle Inference ran strict, without the graph passes that it comes with."
        found.append(Open(said, f"`exporter verify BUNDLE --engines {DEFAULT}`"))
    if not any(claim.format == "source" and claim.engine for claim in plan):
        found.append(Open("The model itself: its code was not at hand.", "`exporter verify BUNDLE --source DIR`"))
    if not any(claim.kind == "metric" for claim in plan):
        said = "The task metric of the artifacts: it is the checkpoint's, and what they compute was held against that."
        found.append(Open(said, "`budget: {max_metric_loss: …}` of a precision in the spec"))
    return found


def _origin(report: Report, facts: Facts) -> list[Open]:
    found = [Open(plain(end).rstrip(".") + ".") for end in facts.open_ends]
    if facts.abilities:
        said = some(list(map(plain, facts.abilities)), 6)
        found.append(Open(f"CPUs with other instruction sets than {said}.", "`exporter verify BUNDLE`, there"))
    elif report.facts is None:
        found.append(Open("Where it comes from: the report holds no facts on the bundle."))
    if report.facts and (facts.code is None or facts.code.dirty):
        said = "The code: it is in no commit" if facts.code is None else "The code: it differs from its commit"
        found.append(Open(f"{said}, so nobody can check it out again.", "commit, and release again"))
    if report.facts and not facts.signed.startswith("signed by"):
        found.append(Open("Who made it: the signature was not checked.", "`exporter verify BUNDLE --trust KEYS`"))
    return found


def _speed(report: Report, facts: Facts) -> list[Open]:
    if facts.timed is None:
        return [Open("Latency and throughput: not measured.", f"`{TIMED_BY}`")] if report.facts else []
    return [
        Open(f"The speed of {plain(name)}: {plain(why)}.", f"`{TIMED_BY}`") for name, why in facts.timed.failed.items()
    ]


def compared(report: Report, run: Run) -> list[Row]:
    """The claims of a run whose values were compared."""
    return [(claim, evidence) for claim, evidence in run.rows if evidence.metrics]
