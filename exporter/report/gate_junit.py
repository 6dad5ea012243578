"""What became of several specs, as JUnit XML: a case for each spec, and one for each spec and engine, with times.

The claims are told in the text of the case whose engine or proof failed them; `parity.json` in the bundle has all.
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement

from exporter.base.errors import ExitCode
from exporter.base.words import count, plain
from exporter.prove.verdict.claim import Outcome
from exporter.report.gate import Gated
from exporter.report.kinds.junit import TAGS, add_suite, detail, verdict_test, whole
from exporter.report.summary import Run, error_ratio, number, runs

_SKIPPED = {
    "untouched": "the change does not touch it",
    "touched": "only what is touched was asked for",
    "deleted": "the change deletes it",
}
_REUSED = "reused: nothing has changed that it depends on, so nothing was run"


def as_junit(results: Sequence[Gated]) -> str:
    """A suite `gate` with a case a spec, skipped where it was not released; then a suite a spec, with a case a run.

    `time` is in seconds by the clock, 0 for what was reused, and lacks where nobody measured it.
    """
    root = Element("testsuites", name="exporter gate")
    add_suite(root, "gate", [_spec(one) for one in results])
    for one in results:
        if one.report is not None:
            verdict = verdict_test(one.report)
            verdict.set("classname", plain(one.spec))
            add_suite(root, one.spec, [*(_run(one, run) for run in runs(one.report)), verdict])
    return whole(root)


def _spec(one: Gated) -> Element:
    test = _case("gate", one.spec, one.seconds)
    if one.unreleased:
        SubElement(test, "skipped", message=_SKIPPED[one.unreleased])
    elif one.exit is not ExitCode.PASSED:
        tag = "failure" if one.exit is ExitCode.REFUSED else "error"
        about = SubElement(test, tag, type=f"exit {int(one.exit)}", message=plain(one.said))
        about.text = "\n".join(
            plain(f"{each.location}: {each.code}: {each.message}. {each.cure}") for each in one.findings
        )
    said = [f"touched: {one.why}"] if one.why else []
    _say(test, [*said, *([_REUSED] if one.reused else [])])
    return test


def _run(one: Gated, run: Run) -> Element:
    """One engine on one variant, or one proof: failed by the gravest of its claims, skipped where all are waived."""
    seconds = 0.0 if one.reused else one.runs.get(run.name)
    test = _case(one.spec, run.name, seconds)
    bad = [row for row in run.rows if row[1].outcome not in (Outcome.MATCH, Outcome.WAIVED)]
    waived = [row for row in run.rows if row[1].outcome is Outcome.WAIVED]
    if bad:
        first = next(evidence for _, evidence in bad if evidence.outcome is run.gravest)
        message = f"{len(bad)} of {count(len(run.rows), 'claim')}: {first.outcome.value}: {first.reason}"
        about = SubElement(test, TAGS[run.gravest], type=run.gravest.value, message=plain(message))
        about.text = "\n".join(f"{detail(row)}: {row[1].outcome.value}: {plain(row[1].reason)}" for row in bad)
    elif len(waived) == len(run.rows):
        SubElement(test, "skipped", message=plain(f"waived: {waived[0][1].reason}"))
    said = [f"{run.matches} of {count(len(run.rows), 'claim')} hold" + (f", {len(waived)} waived" if waived else "")]
    if run.worst:
        said.append(f"largest error ratio {number(error_ratio(run.worst[1]))}, of {run.worst[0].case}")
    if run.place:
        said.append(f"on: {run.place}")
    _say(test, [*said, *([_REUSED] if one.reused else [])])
    return test


def _case(suite: str, name: str, seconds: float | None) -> Element:
    times = {} if seconds is None else {"time": f"{seconds:.3f}"}
    return Element("testcase", {"classname": plain(suite), "name": plain(name), **times})


def _say(test: Element, lines: Sequence[str]) -> None:
    if lines:
        SubElement(test, "system-out").text = "\n".join(map(plain, lines))
