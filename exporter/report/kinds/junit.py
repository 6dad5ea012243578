"""JUnit XML, as CI servers read it: green if and only if the verdict lets the bundle through."""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement, indent, tostring

from exporter.base.words import plain
from exporter.prove.judge.report import Report
from exporter.prove.verdict.claim import Evidence, Outcome
from exporter.report.base import Renderer
from exporter.report.summary import Row, blames, notes, runs, waivers, what

#: JUnit knows three ways of not passing: it was judged and is wrong, it was not judged at all, and it is left out.
TAGS = {
    Outcome.MISMATCH: "failure",
    Outcome.VACUOUS: "failure",
    Outcome.INCONCLUSIVE: "failure",
    Outcome.MISSING: "error",
    Outcome.CRASHED: "error",
    Outcome.TIMED_OUT: "error",
    Outcome.WAIVED: "skipped",
}
_COUNTED = {"failures": "failure", "errors": "error", "skipped": "skipped"}


def render(report: Report) -> str:
    """One suite a run, one test a claim; and a test for the verdict, which also fails where every claim is waived."""
    root = Element("testsuites", name=plain(f"{report.name} {report.version}"))
    for run in runs(report):
        add_suite(root, run.name, [_claim(report.name, row) for row in run.rows])
    add_suite(root, "verdict", [verdict_test(report)])
    return whole(root)


def whole(root: Element) -> str:
    """The text of a file, with the counts of its suites added up."""
    for key in ("tests", *_COUNTED):
        root.set(key, str(sum(int(suite.get(key, "0")) for suite in root)))
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def add_suite(root: Element, name: str, tests: list[Element]) -> None:
    """Add a suite and count what became of its tests; it took as long as those whose time is known."""
    tags = [child.tag for test in tests for child in test]
    counts = {key: str(tags.count(tag)) for key, tag in _COUNTED.items()}
    suite = SubElement(root, "testsuite", {"name": plain(name), "tests": str(len(tests)), **counts})
    suite.extend(tests)
    if timed := [float(test.get("time", "0")) for test in tests if "time" in test.attrib]:
        suite.set("time", f"{sum(timed):.3f}")


def _claim(bundle: str, row: Row) -> Element:
    claim, evidence = row
    test = Element(
        "testcase",
        classname=plain(f"{bundle}.{claim.variant}.{claim.engine or claim.kind}"),
        name=plain(what(claim)),
    )
    if evidence.outcome is not Outcome.MATCH:
        message = plain(f"{evidence.outcome.value}: {evidence.reason}")
        about = SubElement(test, TAGS[evidence.outcome], message=message)
        if about.tag != "skipped":
            about.set("type", evidence.outcome.value)
            about.text = detail(row)
    return test


def detail(row: Row) -> str:
    """A claim, where it ended and its numbers, on one line."""
    claim, evidence = row
    return f"{plain(str(claim))}, stage {evidence.stage}{_numbers(evidence)}"


def verdict_test(report: Report) -> Element:
    """The test for the verdict, with what was said of it all."""
    test = Element("testcase", classname=plain(report.name), name="verdict")
    if not report.verdict.passed:
        SubElement(test, "failure", type=report.verdict.word, message=plain(report.first_reason()))
    said = [f"blame: {one}" for one in blames(report)]
    said += [f"waiver: {one}" for one in waivers(report)] + [f"note: {one}" for one in notes(report)]
    if report.digest:
        said.append(f"digest: {report.digest}")
    if said:
        SubElement(test, "system-out").text = "\n".join(said)
    return test


def _numbers(evidence: Evidence) -> str:
    return "".join(f", {name} {value:g}" for name, value in sorted(evidence.metrics.items()))


plugin: Renderer = render
