"""What is said of all specs together: lines, JUnit XML, Markdown that fits into a comment."""

from __future__ import annotations

import re
from dataclasses import replace
from xml.etree.ElementTree import Element, fromstring

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from exporter.base.diagnostics import Diagnostic, Location, Severity
from exporter.base.errors import ExitCode
from exporter.report.gate import Gated, as_json, headline, worst
from exporter.report.gate_junit import as_junit
from exporter.report.gate_markdown import LIMIT, as_markdown
from tests.report.stored_reports import REPORTS

FINDING = Diagnostic("EX101", Severity.ERROR, Location("net.py", 6, 20), "drawn once", "use paddle")
TEXTS = st.text(max_size=60) | st.text("<>&|`*_[]()#\\/\x00\x1b\n\r é−;:!-", max_size=30)


def results() -> list[Gated]:
    passed, failed = REPORTS["passed"](), REPORTS["failed"]()
    runs = {"onnx/onnxruntime": 1.25, "pir/jit_load": 0.5}
    held = "94 of 94 claims hold"
    return [
        Gated("specs/a.yaml", "a.py changed", said=held, report=passed, verdict="passed", seconds=12.3456, runs=runs),
        Gated("specs/b.yaml", "b.py changed", ExitCode.REFUSED, failed.first_reason(), failed, seconds=2.0, runs=runs),
        Gated("specs/c|d.yaml", "c.py changed", ExitCode.MODEL, "pir: a <crash>", seconds=1.0),
        Gated("specs/e.yaml", "", unreleased="untouched"),
        Gated("specs/f.yaml", "f changed", said=held, report=passed, verdict="passed", seconds=0.0, reused=True),
        Gated("specs/g.yaml", "g changed", ExitCode.REFUSED, "net.py:6:20: EX101", findings=(FINDING,), seconds=0.25),
    ]


def test_the_worst_code_wins_and_untouched_specs_are_no_passes() -> None:
    found = results()[:4]
    assert worst(found) is ExitCode.MODEL
    assert headline(found) == "2 of 3 touched specs did not pass: specs/b.yaml, specs/c|d.yaml"
    assert (worst(found[3:]), headline(found[3:])) == (0, "nothing to gate: the change touches none of 1 specs")
    assert headline([found[0], found[3]]) == "all 1 touched specs passed, 1 are untouched"
    assert [one.passed for one in results()] == [True, False, False, False, True, False]


def test_json_tells_times_and_what_was_reused() -> None:
    specs = as_json(results())["specs"]
    assert [one["seconds"] for one in specs] == [12.3456, 2.0, 1.0, None, 0.0, 0.25]
    assert [one["reused"] for one in specs] == [False, False, False, False, True, False]
    assert specs[0]["runs"] == {"onnx/onnxruntime": 1.25, "pir/jit_load": 0.5} and specs[2]["runs"] == {}


@st.composite
def gated(draw: st.DrawFn) -> Gated:
    spec, why, said = draw(TEXTS), draw(TEXTS), draw(TEXTS) * draw(st.sampled_from([1, 1, 1, 400]))
    kind = draw(st.sampled_from(["untouched", "failed", "refused", "passed", "passed"]))
    if kind == "untouched":
        return Gated(spec, "", unreleased=kind)
    if kind == "failed":
        return Gated(spec, why, ExitCode.MODEL, said)
    if kind == "refused":
        finding = replace(FINDING, message=said, location=Location(spec, 3))
        return Gated(spec, why, ExitCode.REFUSED, said, findings=(finding,) * draw(st.integers(1, 5)))
    report = replace(REPORTS[draw(st.sampled_from(["passed", "waived"]))](), notes=(said,))
    return Gated(spec, why, said=said, report=report, verdict="passed", seconds=1.0)


# --------------------------------------------------------------------------------------------------------------- JUnit


def suites(found: list[Gated]) -> dict[str, Element]:
    return {str(suite.get("name")): suite for suite in fromstring(as_junit(found))}


def cases(suite: Element) -> dict[str, Element]:
    return {str(test.get("name")): test for test in suite}


def said(test: Element) -> str:
    return test.findtext("system-out") or ""


def test_junit_has_a_case_for_each_spec_that_fails_unless_it_passed() -> None:
    root = fromstring(as_junit(results()))
    gate = root[0]
    assert {name: [one.tag for one in test if one.tag != "system-out"] for name, test in cases(gate).items()} == {
        **{"specs/a.yaml": [], "specs/b.yaml": ["failure"], "specs/c|d.yaml": ["error"]},
        **{"specs/e.yaml": ["skipped"], "specs/f.yaml": [], "specs/g.yaml": ["failure"]},
    }
    assert [gate.get(key) for key in ("tests", "failures", "errors", "skipped")] == ["6", "2", "1", "1"]
    for key, tag in {"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"}.items():
        assert int(root.get(key, "-1")) == len(list(root.iter(tag)))
    assert "EX101: drawn once. use paddle" in (cases(gate)["specs/g.yaml"].findtext("failure") or "")
    good = fromstring(as_junit([results()[0], results()[3]]))
    assert (good.get("failures"), good.get("errors")) == ("0", "0")


def test_junit_has_a_case_for_each_spec_and_engine_with_the_time_that_is_known() -> None:
    found = suites(results())
    assert list(found) == ["gate", "specs/a.yaml", "specs/b.yaml", "specs/f.yaml"]
    passed = cases(found["specs/a.yaml"])
    assert {"source/eager", "onnx/onnxruntime", "pdmodel/paddle_inference", "onnx/weights", "verdict"} <= set(passed)
    assert len(passed) == 11 and {test.get("classname") for test in passed.values()} == {"specs/a.yaml"}
    timed = {name: test.get("time") for name, test in passed.items() if test.get("time")}
    assert timed == {"onnx/onnxruntime": "1.250", "pir/jit_load": "0.500"}
    assert found["specs/a.yaml"].get("time") == "1.750"
    assert [test.get("time") for test in found["gate"]] == ["12.346", "2.000", "1.000", None, "0.000", "0.250"]
    assert said(passed["onnx/onnxruntime"]).splitlines() == [
        "6 of 6 claims hold",
        "largest error ratio 1.31, of batch=33",
        "on: CPU",
    ]


def test_junit_says_what_was_reused() -> None:
    found = suites(results())
    reused = cases(found["specs/f.yaml"])
    assert {test.get("time") for name, test in reused.items() if name != "verdict"} == {"0.000"}
    assert all("reused" in said(test) for name, test in reused.items() if name != "verdict")
    assert "reused" in said(cases(found["gate"])["specs/f.yaml"])
    assert not any("reused" in said(test) for test in found["specs/a.yaml"])


def test_junit_fails_the_engine_that_failed_and_tells_each_of_its_claims() -> None:
    failed = cases(suites(results())["specs/b.yaml"])
    tags = {name: [one.tag for one in test if one.tag != "system-out"] for name, test in failed.items()}
    assert {name for name, found in tags.items() if found == ["failure"]} == {
        *("onnx/onnxruntime", "onnx/weights", "verdict")
    }
    assert {name for name, found in tags.items() if found == ["error"]} == {"pdmodel/paddle_inference", "pir/jit_load"}
    assert tags["source/eager"] == tags["pdmodel/weights"] == []
    timed_out = failed["pir/jit_load"].find("error")
    assert timed_out is not None and timed_out.get("message") == "1 of 6 claims: timed_out: no answer within 600 s"
    assert "pir/jit_load/batch=64/logits, stage run" in (timed_out.text or "")
    assert "5 of 6 claims hold" in said(failed["pir/jit_load"])
    assert len((failed["onnx/onnxruntime"].findtext("failure") or "").splitlines()) == 6


def test_junit_skips_only_what_is_waived_as_a_whole() -> None:
    report = REPORTS["waived"]()
    one = Gated("specs/a.yaml", "asked for", report=report, verdict=report.verdict.word)
    test = cases(suites([one])["specs/a.yaml"])["onnx/onnxruntime"]
    assert test.find("skipped") is None and "4 of 6 claims hold, 2 waived" in said(test)
    gone = [claim for claim in report.verdict.plan if claim.format == "onnx"]
    waived = next(found for _, found in report.rows() if found.outcome.value == "waived")
    evidence = {**report.verdict.evidence, **dict.fromkeys(gone, waived)}
    whole = replace(one, report=replace(report, verdict=replace(report.verdict, evidence=evidence)))
    assert cases(suites([whole])["specs/a.yaml"])["onnx/onnxruntime"].find("skipped") is not None


@given(st.lists(gated(), max_size=3))
def test_junit_is_xml_whatever_the_texts_hold(found: list[Gated]) -> None:
    root = fromstring(as_junit(found))
    assert [test.find("failure") is not None or test.find("error") is not None for test in root[0]] == [
        not one.passed and not one.unreleased for one in found
    ]
    assert len(root) == 1 + sum(one.report is not None for one in found)


# ------------------------------------------------------------------------------------------------------------ Markdown


def details(text: str) -> list[str]:
    """The specs whose details are shown, in their order."""
    return re.findall(r"^<details(?: open)?><summary>\w+: (\S+):", text, re.MULTILINE)


def test_markdown_shows_first_and_open_what_did_not_pass() -> None:
    text = as_markdown(results())
    assert text.startswith("# Gate: 3 of 5 touched specs did not pass")
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| specs/")]
    assert [row[1] for row in rows] == ["refused", "failed", "refused", "passed", "passed", "untouched"]
    assert [row[3] for row in rows] == ["2.0", "1.0", "0.2", "12.3", "reused", ""]
    assert rows[1][0] == r"| specs/c\|d.yaml" and rows[1][5] == r"pir: a \<crash\> |"
    assert details(text) == ["specs/b.yaml", "specs/c|d.yaml", "specs/g.yaml", "specs/a.yaml", "specs/f.yaml"]
    assert re.findall(r"^<details( open)?>", text, re.MULTILINE) == [" open"] * 3 + [""] * 2
    assert "## FAILED: digits 1.0.0" in text and "## PASSED: digits 1.0.0" in text
    assert r"- In net.py:6:20: EX101: drawn once. use paddle" in text and "Left out" not in text
    assert text.count("<details") == text.count("</details>") == 5


def test_markdown_leaves_out_passed_details_before_others_and_says_so() -> None:
    found, whole = results(), as_markdown(results())
    text = as_markdown(found, len(whole.encode()) - 1)
    assert details(text) == ["specs/b.yaml", "specs/c|d.yaml", "specs/g.yaml", "specs/a.yaml"]
    assert "Left out: the details of 1 spec that passed." in text
    bare = as_markdown(found, len(whole.encode()) - 1400)
    assert details(bare) == ["specs/b.yaml", "specs/c|d.yaml", "specs/g.yaml"]
    assert "Left out: the details of 2 specs that passed." in bare and "Cut off" not in bare
    cut = as_markdown(found, 3000)
    assert details(cut) == ["specs/b.yaml"] and cut.count("</details>") == 1
    assert "so that the details of 3 specs that did not pass are not whole. Left out: the details of 2 specs" in cut


@given(st.lists(gated(), max_size=6), st.integers(1, 12), st.sampled_from([1000, 3000, 10_000, LIMIT]))
def test_markdown_stays_below_the_limit_and_whole(found: list[Gated], times: int, limit: int) -> None:
    text = as_markdown(found * times, limit)
    assert len(text.encode(errors="replace")) <= limit
    lines = text.split("\n")
    begun = sum(line.startswith("<details") for line in lines)
    assert begun == lines.count("</details>") and text.endswith("\n")
    shown = begun + sum(map(int, re.findall(r"the details of (\d+) spec", text)))
    due = [one for one in found * times if one.report is not None or (not one.passed and not one.unreleased)]
    cut = any(line.startswith("Cut off here: ") for line in lines)
    assert len(due) <= shown <= len(due) + cut, "each is shown, or counted among what was left out"
    kinds = [" open" in line for line in lines if line.startswith("<details")]
    assert kinds == sorted(kinds, reverse=True)
    if cut:
        assert "Left out: " in text or not any(one.passed for one in found)


@given(TEXTS, TEXTS)
def test_markdown_shows_any_text_as_text(spec: str, said: str) -> None:
    text = as_markdown([Gated(spec, said, ExitCode.MODEL, said), Gated("b", said, unreleased="touched")])
    page = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
    assert page.count("<h1>") == 1 and page.count("<table>") == 1 and page.count("<tr>") == 3
    assert re.findall(r"</?(?!h1|table|thead|tbody|tr|t[hd]|details|summary|p\b)\w+", page) == [], page


@pytest.mark.parametrize("limit", [1000, 2000])
def test_markdown_of_very_many_specs_keeps_its_heading(limit: int) -> None:
    many = [Gated(f"s/{number}", "x", ExitCode.USAGE, "wrong") for number in range(40)]
    text = as_markdown(many, limit)
    assert text.startswith("# Gate: 40 of 40 touched specs did not pass") and "Cut off here: " in text
