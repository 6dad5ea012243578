"""The page as a decision: what its first screen answers, what it admits, and that its HTML is sound."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser

import pytest

from exporter.base.git import State
from exporter.base.tensors import TensorSpec
from exporter.prove.judge.facts import Facts, Latency, Timed, Trained, Tried
from exporter.prove.judge.report import Report
from exporter.prove.proofs.quantisation.noise import LayerNoise
from exporter.prove.verdict.blame import CODE, Blame, Layer
from exporter.prove.verdict.claim import Claim, Evidence, Outcome, Verdict
from exporter.report import graph
from exporter.report.advice import advice
from exporter.report.decision import front, open_ends, products
from exporter.report.failure import causes, share
from exporter.report.plot import MOST_BARS, Bar, bars
from tests.report.stored_reports import CPU, FACTS, FORMS, LAYERS, REPORTS

VOID = {"meta", "br", "wbr"}


class Outline(HTMLParser):
    """Every element with its attributes, and whether each one that is opened is closed in turn."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.open += [tag] if tag not in VOID else []

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def page_of(report: Report) -> str:
    return FORMS["html"](report)


def seen(page: str) -> str:
    """What is read, on one line; of the body alone."""
    body = re.sub(r"<(title|desc)[^>]*>.*?</\1>", "", page.partition("<body>")[2], flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", body.replace("<wbr>", ""))).split())


def first_screen(page: str) -> str:
    """What stands above the pictures and the evidence."""
    return seen(page.partition('<section aria-labelledby="runs">')[0])


@pytest.mark.parametrize("name", REPORTS)
def test_it_is_well_formed_and_named_for_those_who_hear_it(name: str) -> None:
    outline = Outline(page_of(REPORTS[name]()))
    assert outline.open == []
    ids = [attributes["id"] for _, attributes in outline.elements if "id" in attributes]
    assert max(Counter(ids).values()) == 1
    for tag, attributes in outline.elements:
        for name_of in (attributes.get("aria-labelledby") or "").split():
            assert name_of in ids
        if tag == "section":
            assert attributes.get("aria-labelledby")
        if tag == "svg":
            assert attributes["role"] == "img" and (attributes.get("aria-label") or attributes.get("aria-labelledby"))
        if tag == "th":
            assert attributes["scope"] in ("col", "row")
    tags = Counter(tag for tag, _ in outline.elements)
    assert (tags["header"], tags["main"], tags["footer"], tags["h1"]) == (1, 1, 1, 1)
    assert tags["caption"] == tags["table"]


def test_what_passed_is_answered_on_the_first_screen() -> None:
    told = first_screen(page_of(REPORTS["passed"]()))
    assert "PASSED It may ship. 45 of 45 claims hold. The largest rounding error is 1.31 times eager's own" in told
    assert "0.9917 of the checkpoint on the held-out samples; 95 % interval 0.9758 to 0.9972" in told
    assert "float32[batch, 1, 8, 8]" in told and "float32[?, 10]" in told and "1 to 64, typically 8" in told
    assert "e372d15b8a7f60718293a4b5c6d7e8f90a1b2c3d ✓ clean" in told
    assert "signed by a key that is trusted here" in told and REPORTS["passed"]().digest in told
    assert "86.8 kB 0.64 ms 0.71 ms 100,000 rows/s ▲ fastest ▼ smallest" in told
    for admitted in ("No GPU", "The default predictor", "recipes/digits.py:34", "other instruction sets than avx2"):
        assert admitted in told.partition("What was not proven")[2]


def test_what_nobody_measured_is_said_with_what_measures_it() -> None:
    report = replace(REPORTS["passed"](), facts=replace(FACTS, trained=Trained("r", "accuracy", 0.5), timed=None))
    told = first_screen(page_of(report))
    assert "its interval was not measured" in told and "fastest ▼" not in told and " ms" not in told
    assert told.count("exporter verify BUNDLE --page FILE --bench") == 2
    bare = first_screen(page_of(replace(report, facts=None)))
    assert "the report holds no facts on the bundle" in bare and "0.9917" not in bare
    dirty = replace(report, facts=replace(FACTS, code=State("abc", dirty=True), trained=None, signed=""))
    told = first_screen(page_of(dirty))
    assert "abc ? dirty" in told and "it differs from its commit" in told
    assert "not signed when this page was written" in told and "no training is recorded" in told


def test_only_what_holds_is_called_fastest_or_smallest() -> None:
    passed = REPORTS["passed"]()
    best = {one.run.name: one.marks for one in products(passed) if one.marks}
    assert best == {"onnx/onnxruntime": ("fastest", "smallest")}
    evidence = dict(passed.verdict.evidence)
    weights = Claim("onnx", "fp32", kind="weights")
    evidence[weights] = Evidence(Outcome.MISMATCH, "a tensor is not the released one")
    failed = replace(passed, verdict=Verdict(passed.verdict.plan, evidence))
    best = {one.run.name: one.marks for one in products(failed) if one.marks}
    assert best == {
        "pdmodel/paddle_inference": ("fastest", "smallest"),
        "pdmodel/jit_load": ("smallest",),
    }, "no engine of a file that stores wrong weights is worth a mark"


def test_the_front_holds_what_nothing_beats_in_both() -> None:
    report = replace(REPORTS["passed"](), facts=replace(FACTS, timed=timed(onnx=9e-3, pir=1e-3, pdmodel=2e-3)))
    assert [one.run.name for one in front(products(report))] == [
        "onnx/onnxruntime",
        "pdmodel/paddle_inference",
        "pir/paddle_inference",
    ]
    slower = replace(report, facts=replace(FACTS, timed=timed(onnx=1e-3, pir=1e-3, pdmodel=2e-3)))
    assert [one.run.name for one in front(products(slower))] == ["onnx/onnxruntime"]


def timed(**seconds: float) -> Timed:
    engines = {"onnx": "onnxruntime"}
    return Timed(
        CPU,
        1,
        tuple(
            Latency(variant, engines.get(variant, "paddle_inference"), "batch=8", value, value, None)
            for variant, value in seconds.items()
        ),
        {"pir/jit_load": "it is not here"},
    )


def test_an_engine_that_could_not_be_timed_is_said() -> None:
    report = replace(REPORTS["passed"](), facts=replace(FACTS, timed=timed(onnx=1e-3)))
    assert "The speed of pir/jit_load: it is not here." in [one.what for one in open_ends(report)]


def test_a_failure_has_a_cause_a_size_and_something_to_try() -> None:
    (onnx, pdmodel, pir) = causes(REPORTS["failed"]())
    assert onnx.sentence.startswith("onnx goes wrong at conv1 (Conv2D, recipes/digits.py:33). The fault is in the file")
    assert onnx.size == ("logits is off by 10.4 % of its size, 5 of 114 answers flip (onnxruntime)",)
    assert [one.command for one in onnx.tries] == ["`exporter release SPEC`"]
    assert "SIGSEGV" in pdmodel.sentence and pdmodel.size == ()
    assert "`exporter verify BUNDLE --engines paddle_inference --debug`" in [one.command for one in pdmodel.tries]
    assert any("jit_load computes the same file right" in one.what for one in pdmodel.tries)
    assert pir.size == () and "--timeout 3600" in pir.tries[0].command
    banner = seen(page_of(REPORTS["failed"]()).partition("</header>")[0])
    assert onnx.sentence in banner and onnx.size[0] in banner and "Nor does this hold: pdmodel, pir" in banner


@pytest.mark.parametrize("outcome", [Outcome.VACUOUS, Outcome.INCONCLUSIVE])
def test_of_steps_that_no_sample_shows_both_ways_out_are_named(outcome: Outcome) -> None:
    """Other inputs of the goldens would change nothing."""
    claim = Claim("source", "fp32", output="preprocess", kind="pipeline")
    verdict = Verdict(frozenset({claim}), {claim: Evidence(outcome, "the samples tell nothing about step 1 (cast)")})
    report = Report("net", "1", verdict, 4.0)
    (cause,) = causes(report)
    assert [(one.what, one.command) for one in cause.tries] == [
        (
            "Name samples that every step changes, or leave out a step that changes nothing.",
            "`samples` and `deployment` under `pipeline` in the spec",
        )
    ]
    assert advice(report, "b").startswith("name `samples` under `pipeline` that every step changes, or take")


def test_of_int8_the_loss_is_told_and_a_search_is_tried_first() -> None:
    noisy = REPORTS["noisy"]()
    (cause,) = causes(noisy)
    assert cause.size == (
        "logits is off by 13.4 % of its size, 5 of 114 answers flip (onnxruntime)",
        "the task metric falls from 0.9917 to 0.9556 (onnxruntime)",
    )
    assert "ranges=trained" in cause.tries[0].command, "a search has been tried"
    assert "onnx holds on every engine" in cause.tries[1].what
    (unsearched,) = causes(replace(noisy, facts=replace(FACTS, searched=())))
    assert unsearched.tries[0].command == "`exporter release SPEC --set precisions.int8.search=true`"
    low = Claim("onnx", "int8", kind="overflow")
    for outcome, first in ((Outcome.MISMATCH, "cpu=any"), (Outcome.MATCH, "search=true")):
        found = {**noisy.verdict.evidence, low: Evidence(outcome, "by arithmetic", elements=1)}
        overflown = replace(noisy, facts=replace(FACTS, searched=()), verdict=Verdict(frozenset(found), found))
        assert first in causes(overflown)[0].tries[0].command
    told = seen(page_of(noisy))
    assert "conv2d_1 16.9 none" in told and "linear_0 24.2 40.1" in told, "and each layer's noise, as a table"


@pytest.mark.parametrize(
    ("engine", "stage", "said"),
    [
        ("paddle_inference_default", "engine", "Use the strict predictor"),
        ("onnxruntime", "trace", "the traced program takes another way than eager"),
        ("onnxruntime", "lower", "Write the file anew"),
        ("eager", "eager", "float32 is not enough there"),
    ],
)
def test_what_to_try_follows_from_where_the_fault_came_in(engine: str, stage: str, said: str) -> None:
    claim = Claim("pdmodel", "fp32", engine, "batch=1", "y")
    evidence = {claim: Evidence(Outcome.MISMATCH, "off", elements=1, metrics={"relative": float("inf")})}
    blame = Blame(claim, stage, "it is so", path="fc", kind="Linear", line="net.py:3")
    report = Report("n", "1", Verdict(frozenset(evidence), evidence), 4.0, blames=(blame,))
    (cause,) = causes(report)
    assert any(said in one.what for one in cause.tries)
    assert cause.size == (f"y is off by more than any number of its size ({engine})",)


def test_reasons_that_differ_in_a_number_keep_theirs() -> None:
    told = seen(page_of(REPORTS["failed"]()))
    reasons = {found.reason for _, found in REPORTS["failed"]().rows() if found.reason.startswith("error ratio")}
    assert len(reasons) == 5 and all(reason in told for reason in reasons)


@pytest.mark.parametrize(
    ("value", "said"),
    [(0.314159, "31.4 %"), (1.2e-7, "1.2e-05 %"), (12.0, "12 times"), (float("nan"), "more than any number")],
)
def test_an_error_is_said_in_percent_or_times(value: float, said: str) -> None:
    assert share(value) == said


# ---- the graph
def test_a_container_is_open_only_where_the_fault_is() -> None:
    rows = graph.nodes(LAYERS)
    assert [LAYERS[row.number].path for row in rows] == [layer.path for layer in LAYERS]
    assert [row.depth for row in rows] == [0, 1, 1, 2, 2, 2, 2, 1, 1]
    elsewhere = [replace(layer, blamed=layer.path == "pool") for layer in LAYERS]
    assert [LAYERS[row.number].path for row in graph.nodes(elsewhere)] == [".", "stem", "block", "pool", "linear"]


def test_lines_lead_from_what_is_read_and_are_dashed_where_code_computes() -> None:
    edges = {(edge.start, edge.end): edge.dashed for edge in graph.edges(LAYERS, graph.nodes(LAYERS))}
    assert edges[0, 1] is False and edges[1, 2] is True, "the block reads what code has made of the stem"
    assert edges[2, 3] is False and edges[5, 6] is False and edges[2, 6] is False, "its input is read once more"
    assert edges[7, 8] is True
    closed = [replace(layer, blamed=layer.path == "pool") for layer in LAYERS]
    assert (2, 3) in {(edge.start, edge.end) for edge in graph.edges(closed, graph.nodes(closed))}


def test_far_calls_of_a_deep_model_are_one_row_and_nothing_is_lost() -> None:
    deep = [Layer(".", "Net", None, (), 9.0)]
    deep += [
        Layer(f"fc{at}", "Linear", 0, (at - 1,), 0.5 if at < 150 else 9.0, blamed=at == 150) for at in range(1, 301)
    ]
    rows = graph.nodes(deep)
    assert len(rows) <= graph.MOST_ROWS and sorted(call for row in rows for call in row.calls) == list(range(301))
    assert any(deep[row.number].blamed and len(row.calls) == 1 for row in rows)
    claim = Claim("onnx", "fp32", "onnxruntime", "batch=1", "y")
    report = Report(
        *("n", "1", Verdict(frozenset({claim}), {claim: Evidence(Outcome.MISMATCH, "off")}), 4.0),
        blames=(Blame(claim, "lower", "so", path="fc150", kind="Linear", layers=tuple(deep)),),
    )
    page = page_of(report)
    assert page.count('class="bar"') == MOST_BARS and "252 calls further away are in the table" in page
    assert seen(page).count("Linear") >= 300, "the table has all"


def test_a_call_that_is_made_again_is_told_apart() -> None:
    assert graph.names(LAYERS)[3:7] == ["block.conv1", "block.relu #1", "block.conv2", "block.relu #2"]


def test_a_bar_without_end_stays_in_the_picture() -> None:
    drawn = bars("b", "t", [Bar("a", float("inf"), "no end"), Bar("b", 3.0, "3"), Bar("c", 0.0, "0")], 4.0, log=True)
    ends = [
        float(x) + float(width) for x, width in re.findall(r'class="bar" x="([\d.]+)" y="\d+" width="([\d.]+)"', drawn)
    ]
    assert len(ends) == 3 and max(ends) <= 440 and ends[0] > ends[1] > ends[2]


def test_nothing_that_a_bundle_says_is_markup() -> None:
    """Every text of a stranger's, in every place that the page has for one."""
    bad = "</style></svg><script>alert(1)</script><img src=x onerror=y>\"'&`a`"
    tensor = TensorSpec(bad, bad, (bad, 3))
    facts = Facts(
        inputs=(tensor,),
        outputs=(tensor,),
        dims={bad: {"min": 1, "typical": 2, "max": 3, "multiple_of": 4}},
        sizes={"onnx": 3, bad: 4},
        engines=(bad,),
        packages={bad: bad},
        model=bad,
        cpu=bad,
        abilities=(bad,),
        fronts={bad: (Tried(1, 2, 3.0),)},
        open_ends=(bad,),
        trained=Trained(bad, bad, 0.5),
        code=State(bad, dirty=True),
        signed=bad,
        timed=Timed(bad, 1, (Latency("onnx", "onnxruntime", bad, 1e-3, 1e-3, None),), {bad: bad}),
    )
    claim = Claim("onnx", "fp32", "onnxruntime", bad, bad)
    evidence = {claim: Evidence(Outcome.MISMATCH, bad, elements=1, metrics={"relative": 0.5, "rows": 2, "agree": 1})}
    layers = (Layer(".", bad, None, (), 9.0, bad), Layer(bad, bad, 0, (0, CODE), 9.0, bad, blamed=True))
    blame = Blame(claim, bad, bad, path=bad, kind=bad, line=bad, layers=layers)
    report = Report(bad, bad, Verdict(frozenset(evidence), evidence), 4.0, (bad,), (), bad, (bad,), (blame,), facts)
    page = page_of(replace(report, noise={bad: {bad: LayerNoise(3.0, 4.0)}}))
    outline = Outline(page)
    tags = {tag for tag, _ in outline.elements}
    assert not tags & {"script", "img"} and page.count("</style>") == 1 and outline.open == []
    attributes = {key for _, given in outline.elements for key in given}
    assert not attributes & {"onerror", "src", "style"}
