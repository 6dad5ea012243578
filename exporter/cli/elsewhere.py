"""`exporter verify BUNDLE --answers DIR --engine TEXT`: what came back of a kit, judged and concluded."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from exporter import pipeline
from exporter.base.errors import Refusal, UsageError
from exporter.bundle.received import Receiver
from exporter.cli.outcome import conclude_report, write_page
from exporter.cli.progress import setting
from exporter.cli.run import Ending
from exporter.cli.trust import Demands, proven, refuse_exchanged
from exporter.deploy.elsewhere.advice import advice_on
from exporter.deploy.elsewhere.archive import answers_in
from exporter.deploy.elsewhere.cases import Wanted, read_sizes
from exporter.deploy.elsewhere.judge import Wish, judge_elsewhere

_ALONE = "give both, and leave out --engines, --case, --without, --runtime, --repro, --bench and --device"


@dataclass(frozen=True)
class Kit:
    """The options that are about a kit's answers, as they came."""

    answers: Path | None
    engine: str | None
    precision: str | None
    variant: str | None
    cases: int
    sizes: tuple[str, ...]
    layers: bool
    source: Path | None


@dataclass(frozen=True)
class Heard:
    """The options on progress, limits and the form of the result."""

    quiet: bool
    timeout: float | None
    jobs: int
    as_json: bool


def judge_kit(
    bundle: Path, kit: Kit, heard: Heard, trusted: tuple[Demands, bool], page: Path | None, *, alone: bool
) -> Ending:
    """Judge answers and print the report; `trusted` are the demands, and whether the bundle's waivers are accepted.

    Raises:
        UsageError: an option is missing, or stands beside what it does not go with (not `alone`).
        UsageError, BundleError: as :func:`exporter.deploy.elsewhere.judge.judge_elsewhere`.
    """
    if kit.answers is None or kit.engine is None or not alone:
        raise UsageError("--answers and --engine go together", where="exporter verify", hint=_ALONE)
    demands, accepts = trusted
    wanted = Wanted(kit.cases, read_sizes(kit.sizes))
    with setting(quiet=heard.quiet, timeout=heard.timeout, jobs=heard.jobs) as how, answers_in(kit.answers) as folder:
        wish = Wish(folder, kit.engine, wanted, kit.precision or "", kit.variant, kit.layers, kit.source)
        known = proven(bundle, demands, how)
        receiver = Receiver(accepts or known.may_waive, bool(known.digest))
        report = judge_elsewhere(bundle, wish, how, receiver)
        if page is not None:
            write_page(pipeline.with_facts(report, bundle, how), page)
    refuse_exchanged(report.digest, known.digest, bundle)
    ending = conclude_report(report, bundle, as_json=heard.as_json)
    return Refusal(ending.exit, advice_on(report)) if isinstance(ending, Refusal) else ending
