"""Requests are joined where rows were shown to be independent, and nowhere else; the graph and the runs each see it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import onnx
import pytest
from onnx import helper

from exporter.bundle.open import open_bundle
from exporter.deploy.handoff.base import Chosen
from exporter.deploy.handoff.rows import decide as deciding
from exporter.deploy.handoff.rows.decide import decide
from exporter.process.workers import Setting
from exporter.prove.goldens.finish import DEPENDENT_ROWS
from tests import faults
from tests.command import STORED, exporter

HERE = Path(__file__).parent
Edit = Callable[[onnx.GraphProto, str], list[onnx.NodeProto]]


def constant(name: str, value: object) -> onnx.NodeProto:
    """A node that gives one number."""
    dtype = onnx.TensorProto.INT64 if isinstance(value, int) else onnx.TensorProto.FLOAT
    return helper.make_node("Constant", [], [name], value=helper.make_tensor(name, dtype, [], [value]))


def less_the_mean(share: float) -> Edit:
    """The output less a share of its mean over the rows."""

    def edit(graph: onnx.GraphProto, before: str) -> list[onnx.NodeProto]:
        return [
            helper.make_node("ReduceMean", [before], ["mean"], axes=[0], keepdims=1),
            constant("share", share),
            helper.make_node("Mul", ["mean", "share"], ["part"]),
            helper.make_node("Sub", [before, "part"], [graph.output[0].name]),
        ]

    return edit


def by_count(graph: onnx.GraphProto, before: str) -> list[onnx.NodeProto]:
    """The output divided by how many rows there are."""
    return [
        constant("first", 0),
        helper.make_node("Shape", [before], ["sizes"]),
        helper.make_node("Gather", ["sizes", "first"], ["rows"]),
        helper.make_node("Cast", ["rows"], ["count"], to=onnx.TensorProto.FLOAT),
        helper.make_node("Div", [before, "count"], [graph.output[0].name]),
    ]


def edited(to: Path, edit: Edit) -> Chosen:
    """The stored bundle with another end of its graph."""
    copy = faults.copied(STORED, to)
    model = onnx.load(copy / "onnx/model.onnx")
    output = model.graph.output[0].name
    for node in model.graph.node:
        node.output[:] = ["before" if name == output else name for name in node.output]
    model.graph.node.extend(edit(model.graph, "before"))
    onnx.save(model, copy / "onnx/model.onnx")
    faults.reseal(copy)
    return Chosen(open_bundle(copy), "onnx")


def test_rows_that_are_independent_are_shown_to_be() -> None:
    rows = decide(Chosen(open_bundle(STORED), "onnx"), Setting())
    assert (rows.independent, rows.dim, rows.most) == (True, "batch", 4)
    assert rows.evidence is not None
    assert "NaN" in rows.evidence.beside and "rows of other cases" in rows.evidence.beside
    assert rows.evidence.sizes[0] == 1 and rows.evidence.sizes[-1] == 4 and rows.evidence.runs > 10
    assert "no operator takes values along batch" in rows.why


@pytest.mark.parametrize("edit", [less_the_mean(0.5), less_the_mean(1e-9), by_count])
def test_the_graph_and_the_runs_each_see_rows_that_are_not(
    edit: Edit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A share of 1e-9 of the others is far below rounding; beside NaN it is not."""
    chosen = edited(tmp_path / "bundle", edit)
    by_graph = decide(chosen, Setting())
    assert not by_graph.independent and "may follow from other rows" in by_graph.why
    assert ("reduces over the rows" if edit is not by_count else "how many rows there are") in by_graph.why
    monkeypatch.setattr(deciding, "_by_graph", lambda *_: None)
    by_runs = decide(chosen, Setting())
    assert not by_runs.independent and by_runs.why.startswith("in ONNX Runtime")
    assert ("error ratio" if edit is by_count else "is another where beside the same rows stand") in by_runs.why


def test_what_cannot_be_looked_at_is_not_joined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = open_bundle(STORED)
    other = next(name for name, variant in stored.manifest.variants.items() if variant.format != "onnx")
    assert "only ONNX is looked at" in decide(Chosen(stored, other), Setting()).why
    bounded = edited(
        tmp_path / "bounded", lambda graph, before: [helper.make_node("Tanh", [before], [graph.output[0].name])]
    )
    assert "each row alone, case" in decide(bounded, Setting()).why
    noted = faults.copied(STORED, tmp_path / "noted")
    content = json.loads((noted / "manifest.json").read_bytes())
    faults.reseal(noted, {**content, "notes": [f"in scores {DEPENDENT_ROWS}"]})
    vetoed = decide(Chosen(open_bundle(noted), "onnx"), Setting())
    assert (vetoed.independent, vetoed.why) == (False, f"the release saw that in scores {DEPENDENT_ROWS}")
    monkeypatch.setattr(deciding, "_subjects", lambda *_: [])
    assert "no recorded case has fewer than 4 rows" in decide(Chosen(stored, "onnx"), Setting()).why


def test_a_model_without_a_float64_truth_is_not_joined_for_want_of_a_note(tmp_path: Path) -> None:
    """The rows of `mix` are centred over the batch; it refuses float64, so that no note says so."""
    place = Path(shutil.copytree(HERE / "mix", tmp_path / "mix"))
    done = exporter("release", "mix.yaml", "--no-cache", "--out", "out", "--quiet", cwd=place)
    assert done.code == 0, done.out + done.err
    done = exporter("handoff", "out/mix/1", "--to", "http_service", "--out", "service", cwd=place)
    assert done.code == 0, done.out + done.err
    settings = json.loads((place / "service/service.json").read_bytes())
    assert settings["join"] is None and not settings["rows"]["independent"]
    why = settings["rows"]["why"]
    assert "reduces over the rows" in why
    assert f"requests are computed each alone: {why}" in done.out
    assert why in (place / "service/README.md").read_text()
    assert json.loads((place / "service/MANIFEST.json").read_bytes())["rows"]["why"] == why


@pytest.mark.parametrize("target", ["triton", "mlserver"])
def test_other_servers_are_told_the_same_and_join_nothing(target: str, tmp_path: Path) -> None:
    done = exporter("handoff", str(STORED), "--to", target, "--out", "served", "--json", "--quiet", cwd=tmp_path)
    assert done.code == 0, done.out + done.err
    rows = json.loads(done.out)["rows"]
    assert rows["independent"] and rows["why"] in (tmp_path / "served/README.md").read_text()
    written = "".join(
        path.read_text() for path in (tmp_path / "served").rglob("*") if path.suffix in (".pbtxt", ".json")
    )
    assert "dynamic_batching {" not in written and '"max_batch_size"' not in written
