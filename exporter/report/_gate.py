"""What became of several specs at once: as lines, JUnit XML, Markdown, JSON. An untouched spec is shown, too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import Element, SubElement, fromstring, indent, tostring

from exporter.errors import ExitCode
from exporter.report._words import plain

if TYPE_CHECKING:
    from exporter.judge.report import Report

_SKIPPED = {
    "untouched": "the change does not touch it",
    "touched": "only what is touched was asked for",
    "deleted": "the change deletes it",
}


@dataclass(frozen=True)
class Gated:
    """One spec: why it was touched (empty: it was not), its release's exit code, what was said of it, its report.

    `verdict` is the report's word, where there is one. `unreleased` is the word for what was not released: `touched`,
    where that was all that was asked; `untouched`; or `deleted`.
    """

    spec: str
    why: str
    exit: ExitCode = ExitCode.PASSED
    said: str = ""
    report: Report | None = None
    verdict: str = ""
    unreleased: str = ""

    @property
    def word(self) -> str:
        """What became of it, in a word."""
        if self.unreleased:
            return self.unreleased
        if self.exit is ExitCode.PASSED:
            return self.verdict or "passed"  # with waivers, it is a word of its own
        return "refused" if self.exit is ExitCode.REFUSED else "failed"


def worst(results: Sequence[Gated]) -> ExitCode:
    """The exit code of all: the highest. Where no spec was touched it is 0, and :func:`headline` says so."""
    return max((one.exit for one in results), default=ExitCode.PASSED)


def headline(results: Sequence[Gated]) -> str:
    """How many of each."""
    deleted = [gated.spec for gated in results if gated.word == "deleted"]
    return _outcome([gated for gated in results if gated.word != "deleted"]) + (
        f"; deleted: {', '.join(deleted)}" if deleted else ""
    )


def _outcome(results: Sequence[Gated]) -> str:
    touched = [gated for gated in results if gated.why]
    if not touched:
        return f"nothing to gate: the change touches none of {len(results)} specs"
    if any(gated.unreleased for gated in touched):
        return f"{len(touched)} of {len(results)} specs are touched; nothing was released"
    bad = [gated.spec for gated in touched if gated.exit is not ExitCode.PASSED]
    if bad:
        return f"{len(bad)} of {len(touched)} touched specs did not pass: {', '.join(bad)}"
    return f"all {len(touched)} touched specs passed, {len(results) - len(touched)} are untouched"


def line(one: Gated) -> str:
    """One spec on one line."""
    why = f" ({one.why})" if one.why else ""
    return plain(f"{one.word:9} {one.spec}{': ' if one.said else ''}{one.said}{why}")


def as_json(results: Sequence[Gated]) -> dict[str, Any]:
    """The object that `gate --json` prints."""
    specs = [
        {"spec": one.spec, "word": one.word, "why": one.why, "exit": one.exit, "said": one.said} for one in results
    ]
    return {"exit": worst(results), "touched": sum(bool(one.why) for one in results), "specs": specs}


def as_junit(results: Sequence[Gated]) -> str:
    """A suite with a test a spec, failed unless it passed and skipped where it was not touched; then all runs."""
    from exporter.report import junit

    root = Element("testsuites", name="exporter gate")
    gate = SubElement(root, "testsuite", name="gate")
    for one in results:
        test = SubElement(gate, "testcase", classname="gate", name=plain(one.spec))
        if one.unreleased:
            SubElement(test, "skipped", message=_SKIPPED[one.unreleased])
        elif one.exit is not ExitCode.PASSED:
            tag = "failure" if one.exit is ExitCode.REFUSED else "error"
            SubElement(test, tag, type=f"exit {int(one.exit)}", message=plain(one.said))
    for one in results:
        if one.report is not None:
            for suite in fromstring(junit.render(one.report)):  # noqa: S314 - our own text
                suite.set("name", plain(f"{one.spec}: {suite.get('name')}"))
                root.append(suite)
    counted = {"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"}
    for element in (gate, root):
        for key, tag in counted.items():
            element.set(key, str(len(list(element.iter(tag)))))
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def as_markdown(results: Sequence[Gated]) -> str:
    """A table of the specs, then the report of each."""
    from exporter.report import markdown

    escape = markdown._text
    rows = [
        f"| {escape(one.spec)} | {one.word} | {int(one.exit)} | {escape(one.why)} | {escape(one.said)} |"
        for one in results
    ]
    table = "\n".join(["| spec | result | exit | touched by | |", "|:--|:--|--:|:--|:--|", *rows])
    reports = [markdown.render(one.report) for one in results if one.report is not None]
    return "\n".join([f"# Gate: {escape(headline(results))}\n", table + "\n", *reports])
