"""What each form owes its readers, whatever names and reasons hold."""

from __future__ import annotations

import html
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from exporter.prove.judge.report import REFERENCE, Report, unlike_bits
from exporter.prove.verdict.claim import Claim, Evidence, Outcome, Verdict
from exporter.report.summary import groups, number
from tests.report.stored_reports import FORMS, REPORTS

#: Any text, and what markup is made of rather often.
TEXTS = st.text(max_size=60) | st.text("<>&\"'|`*_[]()#\\/\x00\x1b\n\r\t é−;:!-", max_size=30)
#: DESIGN: the keys of one check in parity.json.
CHECK_KEYS = {
    "kind",
    "format",
    "precision",
    "engine",
    "provider",
    "device",
    "case",
    "output",
    "outcome",
    "stage",
    "elements",
} | {
    "bit_equal",
    "error_ratio",
    "combined_ratio",
    "max_abs",
    "max_rel",
    "max_ulp",
    "cosine",
    "reason",
}


def _as_read(form: str, text: str) -> str:
    """What a reader of a form sees, on one line."""
    if form == "console":
        seen = text
    elif form == "html":
        seen = html.unescape(re.sub(r"<[^>]*>", "", text))
    elif form == "junit":
        root = ElementTree.fromstring(text)
        seen = " ".join([*root.itertext(), *(value for one in root.iter() for value in one.attrib.values())])
    elif form == "markdown":
        seen = html.unescape(re.sub(r"<[^>]*>", "", MarkdownIt().enable("table").render(text)))
    else:
        seen = " ".join(_strings(json.loads(text)))
    return " ".join(seen.split())


def _strings(value: object) -> list[str]:
    if isinstance(value, dict):
        return [text for one in value.values() for text in _strings(one)]
    if isinstance(value, list):
        return [text for one in value for text in _strings(one)]
    return [str(value)]


def _hostile(text: str, outcome: Outcome = Outcome.MISMATCH) -> Report:
    """A report that has one text wherever it takes one from outside."""
    sound = Claim("onnx", "fp32", "onnxruntime", "batch=1", "logits")
    claim = Claim("onnx", "fp32", text or "e", text, text)
    metrics = {"error_ratio": float("nan"), "max_abs": float("inf")}
    bad = Evidence(outcome, text or "r", elements=1, metrics=metrics, provider=text, device=text)
    good = Evidence(Outcome.MATCH, elements=1, metrics={"error_ratio": 0.0})
    waiver = {"claim": text, "reason": text, "until": "2027-01-31"}
    verdict = Verdict(frozenset({sound, claim}), {sound: good, claim: bad})
    return Report(text, text, verdict, 4.0, notes=(text,), waivers=(waiver,), methods=(text,))


@pytest.mark.parametrize("form", FORMS.names())
@pytest.mark.parametrize("name", REPORTS)
def test_every_form_tells_the_verdict_each_reason_each_waiver_and_each_note(name: str, form: str) -> None:
    report = REPORTS[name]()
    seen = _as_read(form, FORMS[form](report))
    told = [reason for reason in _kinds_of_reason(report)] + list(report.notes)
    told += [waiver[key] for waiver in report.waivers for key in ("claim", "reason", "until")]
    assert [one for one in told if one not in seen] == []
    if form != "junit":  # there the colour says it
        assert re.search(report.verdict.word.replace("_", "[_ ]"), seen, re.IGNORECASE)


def _kinds_of_reason(report: Report) -> set[str]:
    """Of reasons that differ only in their numbers, the readable forms show that of the worst claim."""
    rows = [(claim, found) for claim, found in report.rows() if found.outcome is not Outcome.MATCH]
    rated = sorted(rows, key=lambda row: -row[1].metrics.get("error_ratio", 0.0))
    kinds: dict[str, str] = {}
    for _, found in rated:
        kinds.setdefault(re.sub(r"\d[\d.e+-]*", "#", found.reason), found.reason)
    return set(kinds.values())


@pytest.mark.parametrize("form", FORMS.names())
def test_a_form_depends_on_nothing_but_the_report(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = FORMS[form](REPORTS["failed"]())
    for key, value in {"COLUMNS": "33", "FORCE_COLOR": "1", "TERM": "xterm-256color", "TZ": "Asia/Tokyo"}.items():
        monkeypatch.setenv(key, value)
    assert FORMS[form](REPORTS["failed"]()) == before


@given(TEXTS, st.sampled_from([one for one in Outcome if one is not Outcome.MATCH]))
def test_console_sends_no_control_characters_and_begins_no_line_of_its_own_for_a_text(
    text: str, outcome: Outcome
) -> None:
    lines = FORMS["console"](_hostile(text, outcome)).split("\n")
    assert all(line.isprintable() for line in lines)
    assert len(lines) == len(FORMS["console"](_hostile("word", outcome)).split("\n"))


@pytest.mark.parametrize("text", ["@team", "by @a-b/c, and x@y.z", "\\@me", "@@all", "*@me*", "`@me`"])
def test_markdown_speaks_to_nobody(text: str) -> None:
    """GitHub looks for names in what Markdown has become, so that a backslash before the @ helps nothing."""
    page = FORMS["markdown"](_hostile(text))
    seen = html.unescape(re.sub(r"<[^>]*>", "", MarkdownIt().enable("table").render(page)))
    assert "@" in seen and not re.search(r"@\w", seen)


@pytest.mark.parametrize("form", ["console", "markdown", "html"])
def test_each_run_keeps_the_figure_of_its_own_reason(form: str) -> None:
    """Of one run only the worst case is shown, of two engines both; and what is the same is said once."""
    reasons = {
        ("onnxruntime", "", "y", "snr_db"): "17.4 dB, at least 30 promised",
        ("paddle", "", "y", "snr_db"): "27.4 dB, at least 30 promised",
        ("onnxruntime", "", "z", "snr_db"): "18.8 dB, at least 30 promised",
        ("onnxruntime", "a", "y", "outputs"): "off by 5 units",
        ("onnxruntime", "b", "y", "outputs"): "off by 7 units",
        ("paddle", "b", "y", "outputs"): "off by 7 units",
    }
    evidence = {
        Claim("onnx", "int8", *place): Evidence(Outcome.MISMATCH, text, metrics={"error_ratio": float(text[7])})
        if text.startswith("off")
        else Evidence(Outcome.MISMATCH, text)
        for place, text in reasons.items()
    }
    report = Report("net", "1", Verdict(frozenset(evidence), evidence), 4.0)
    assert sorted(group.reason for group in groups(report)) == sorted(set(reasons.values()) - {"off by 5 units"})
    told = FORMS[form](report)
    assert all(group.reason in html.unescape(told) for group in groups(report))


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)


def _tags(page: str) -> _Tags:
    tags = _Tags()
    tags.feed(page)
    return tags


@given(TEXTS)
def test_html_holds_no_markup_but_its_own_and_loads_nothing(text: str) -> None:
    own = _tags(FORMS["html"](_hostile("plain")))
    found = _tags(FORMS["html"](_hostile(text)))
    assert found.tags <= own.tags
    assert found.attributes <= own.attributes
    assert not own.tags & {"script", "link", "img", "iframe", "object", "base", "form", "a"}
    assert not own.attributes & {"src", "href", "style", "onclick", "onload"}


def test_html_forbids_the_browser_to_load_or_run_anything() -> None:
    page = FORMS["html"](REPORTS["passed"]())
    assert "Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\"" in page
    assert "url(" not in page
    assert "@import" not in page


def test_html_draws_one_dot_for_each_error_ratio() -> None:
    report = REPORTS["failed"]()
    rated = [found for _, found in report.rows() if "error_ratio" in found.metrics]
    page = FORMS["html"](report)
    assert page.count('<circle class="dot') == len(rated)
    assert page.count('class="dot bad"') == sum(not found.metrics["error_ratio"] <= report.budget for found in rated)


@given(TEXTS, st.sampled_from(list(Outcome)))
def test_markdown_keeps_its_table_and_takes_no_markup(text: str, outcome: Outcome) -> None:
    page = FORMS["markdown"](_hostile(text, outcome))
    tokens = MarkdownIt("commonmark").enable("table").parse(page)
    kinds = [token.type for token in tokens]
    assert kinds.count("table_open") == 1
    assert kinds.count("td_open") == 7 * (kinds.count("tr_open") - 1)
    inline = {child.type for token in tokens for child in token.children or []}
    assert inline <= {"text", "text_special", "strong_open", "strong_close", "code_inline"}
    assert "html_block" not in kinds


@given(TEXTS, st.sampled_from(list(Outcome)))
def test_junit_is_read_again_and_green_only_for_passed(text: str, outcome: Outcome) -> None:
    _assert_junit(_hostile(text, outcome))


@pytest.mark.parametrize("name", REPORTS)
def test_junit_of_the_stored_reports_is_green_only_for_passed(name: str) -> None:
    _assert_junit(REPORTS[name]())


def test_junit_is_red_where_everything_is_waived_since_then_nothing_was_proven() -> None:
    claim = Claim("onnx", "fp32", "onnxruntime", "batch=1", "logits")
    waived = Evidence(Outcome.WAIVED, "mismatch: far off; waived until 2027-01-31: under review")
    report = Report("digits", "1", Verdict(frozenset({claim}), {claim: waived}), 4.0)
    _assert_junit(report)
    assert "nothing was proven" in FORMS["console"](report)


def _assert_junit(report: Report) -> None:
    root = ElementTree.fromstring(FORMS["junit"](report))
    tests = list(root.iter("testcase"))
    assert len(tests) == len(report.verdict.plan) + 1
    found = {tag: len(list(root.iter(tag))) for tag in ("failure", "error", "skipped")}
    assert [int(root.attrib[key]) for key in ("tests", "failures", "errors", "skipped")] == [
        len(tests),
        *found.values(),
    ]
    assert report.verdict.passed == (found["failure"] + found["error"] == 0)
    assert found["skipped"] == report.verdict.counts["waived"]
    assert all(int(suite.attrib["tests"]) == len(list(suite)) > 0 for suite in root)


@pytest.mark.parametrize("name", REPORTS)
def test_parity_json_has_what_the_contract_says(name: str) -> None:
    report = REPORTS[name]()
    parity = json.loads(FORMS["json"](report))
    assert (parity["schema"], parity["verdict"], parity["planned"]) == (1, report.verdict.word, len(parity["checks"]))
    assert sum(parity["counts"].values()) == parity["planned"]
    assert all(set(check) == CHECK_KEYS for check in parity["checks"])
    metrics = [parity["checks"][0][key] for key in ("error_ratio", "max_abs")]
    claim = min(report.verdict.plan)
    assert metrics == [report.verdict.of(claim).metrics.get(key) for key in ("error_ratio", "max_abs")]


def test_numbers_that_are_none_are_no_json_and_the_rest_of_the_check_stays() -> None:
    checks = json.loads(FORMS["json"](_hostile("x")))["checks"]
    assert {(check["outcome"], check["error_ratio"], check["max_abs"]) for check in checks} == {
        ("mismatch", None, None),
        ("match", 0.0, None),
    }


@given(st.floats(min_value=1e-9, max_value=1e300))
def test_a_shown_number_is_never_smaller_than_the_true_one(value: float) -> None:
    shown = float(number(value).replace(",", ""))
    assert value <= shown <= value * 1.0101


def test_a_ratio_just_over_the_budget_does_not_look_like_the_budget() -> None:
    assert number(4.0) == "4"
    assert number(4.0000001) == "4.01"


def test_different_bits_from_paddles_own_kernels_are_noted() -> None:
    report = REPORTS["passed"]()
    evidence = dict(report.verdict.evidence)
    assert unlike_bits(report.verdict, {"jit_load", "paddle_inference"}) == []
    for claim in report.verdict.plan:
        if (claim.format, claim.engine) == ("pir", "jit_load") and claim.case in ("batch=1", "batch=8"):
            evidence[claim] = replace(evidence[claim], bit_equal=False)
    (note,) = unlike_bits(Verdict(report.verdict.plan, evidence), {"jit_load", "paddle_inference"})
    assert note.startswith("pir/jit_load: 2 of its results differ from eager in bits, yet it runs Paddle's own kernels")
    (note,) = unlike_bits(Verdict(report.verdict.plan, evidence), {"jit_load"}, "they were computed on gpu:0")
    assert "as they may, since they were computed on gpu:0; the error ratio judged them" in note


@pytest.mark.parametrize("form", FORMS.names())
def test_every_form_says_that_the_reference_is_a_file(form: str) -> None:
    note = f"{REFERENCE}inference.json (sha256 {64 * 'a'})"
    layer = REPORTS["failed"]()
    said, before = (_as_read(form, FORMS[form](report)) for report in (replace(layer, notes=(note,)), layer))
    assert "may itself differ from what was trained" in said and f"inference.json (sha256 {64 * 'a'})" in said
    assert "the same layer" not in said and "the eager layer" not in said
    assert ("float64: the same program" in said) == ("float64: the same layer" in before)
