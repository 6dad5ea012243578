"""A sample of the zoo; all of it, in an environment with all families, is `python -m evals.zoo`."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evals.zoo import eager, models, quick, settled, table
from evals.zoo.__main__ import report
from evals.zoo.checkouts import variable
from evals.zoo.exported import Wish, spec_of
from evals.zoo.families import nlp, ocr, paddlex, paddlex_layers
from evals.zoo.rows import key_of, merged, read_rows, runs_eagerly, write_rows
from exporter.process.workers import Limits, Setting
from tests.command import ROOT

SAMPLE = ("LeNet", "Transformer_encoder")


def zoo(*arguments: str | Path, seconds: float = 500) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "evals.zoo", *map(str, arguments)]
    environment = os.environ | {"PYTHONWARNINGS": "ignore"}
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=seconds, check=False
    )


def test_a_sample_passes_in_all_formats_and_stock_stands_beside_it(tmp_path: Path) -> None:
    rows_at, kept = tmp_path / "zoo.jsonl", tmp_path / "kept"
    only = ("--families", "vision,sequence", "--only", ",".join(SAMPLE))
    done = zoo(
        *only,
        "--weights",
        "calibrated",
        "--stock",
        "pir,pdmodel",
        "--engines",
        "paddle_inference,onnxruntime",
        "--json",
        rows_at,
        "--keep",
        kept,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    rows = {row["name"]: row for row in list(read_rows(rows_at).values())}
    assert set(rows) == set(SAMPLE)
    for row in rows.values():
        for file in row["formats"].values():
            assert file["word"] == "passed" and file["matches"] == file["checks"] > 8
    assert rows["LeNet"]["stock"]["pdmodel"]["word"] == "passed"
    assert "must be Value, but got Variable" in rows["Transformer_encoder"]["stock"]["pdmodel"]["why"]
    assert sorted(path.name for path in (kept / "vision-LeNet").iterdir()) == [
        "inputs.npz", "m.pdiparams", "m.pdmodel", "outputs.npz"
    ]  # fmt: skip
    again = zoo(*only, "--weights", "calibrated", "--resume", rows_at)
    assert again.returncode == 0 and "LeNet  pir" not in again.stdout, "what is there is not done again"


@pytest.mark.slow
def test_the_writer_from_the_program_passes_the_gate(tmp_path: Path) -> None:
    rows_at, names = tmp_path / "zoo.jsonl", (*SAMPLE, "LSTM_sequence_length", "resnet18", "mobilenet_v3_small")
    only = ("--families", "vision,sequence", "--only", ",".join(names), "--formats", "onnx", "--stock", "")
    done = zoo(*only, "--writer", "program", "--engines", "onnxruntime", "--json", rows_at, seconds=2000)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = {row["name"]: row["formats"]["onnx"] for row in read_rows(rows_at).values()}
    assert {name: row["word"] for name, row in rows.items()} == dict.fromkeys(names, "passed")


def test_a_quick_look_tells_a_wrong_file_from_a_right_one(tmp_path: Path) -> None:
    rows_at = tmp_path / "zoo.jsonl"
    done = zoo("--quick", "--families", "vision", "--only", "LeNet", "--json", rows_at)
    assert done.returncode == 0, done.stdout + done.stderr
    (look,) = list(read_rows(rows_at).values())
    assert {name: file["word"] for name, file in look["formats"].items()} == dict.fromkeys(
        ("pir", "pdmodel", "onnx"), "right"
    )
    assert look["stock"]["pir"]["word"] == "right"
    expected, near, far = np.array([1.0, -np.inf]), np.array([1.005, -np.inf]), np.array([1.02, -np.inf])
    assert quick.difference(expected, near) < quick.NEAR < quick.difference(expected, far)
    assert quick.difference(expected, np.array([1.0, 0.0])) == np.inf, "an infinity that is lost is no small difference"


def test_without_a_checkout_there_is_no_ocr_and_a_wrong_one_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(variable("ocr"), raising=False)
    assert ocr.builders() == {}
    monkeypatch.setenv(variable("ocr"), str(tmp_path))
    with pytest.raises(SystemExit, match=r"holds no ppocr/modeling"):
        ocr.builders()


def test_without_a_wheel_there_is_no_paddlex_and_a_wrong_one_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(variable("paddlex"), raising=False)
    assert paddlex.builders() == {}
    monkeypatch.setenv(variable("paddlex"), str(tmp_path))
    with pytest.raises(SystemExit, match=r"holds no paddlex/inference/models"):
        paddlex.builders()


def test_every_dim_of_a_network_of_paddlex_has_sizes() -> None:
    for entry in paddlex.ENTRIES:
        dims = {size for tensor in entry.inputs for size in tensor.shape if isinstance(size, str)}
        assert set(entry.dims) == dims
    assert len({entry.name for entry in paddlex.ENTRIES}) == len(paddlex.ENTRIES)


def test_weights_are_as_wide_as_their_inputs_ask_for() -> None:
    import paddle

    layer = paddle.nn.Sequential(paddle.nn.Conv2D(8, 64, 3), paddle.nn.Linear(400, 30), paddle.nn.Embedding(90, 20))
    paddlex_layers.scale(layer, np.random.default_rng(1))
    sizes = [float(parameter.std()) for parameter in layer.parameters() if len(parameter.shape) > 1]
    assert np.allclose(sizes, [(2 / 72) ** 0.5, 400**-0.5, 1.0], rtol=0.05)


@pytest.mark.parametrize(
    ("model", "config"),
    [
        ("BertForMaskedLM", "BertConfig"),
        ("RoFormerModel", "RoFormerConfig"),
        ("GPTLMHeadModel", "GPTConfig"),
        ("T5EncoderModel", "T5Config"),
        ("LlamaForCausalLM", "LlamaConfig"),
    ],
)
def test_a_transformers_configuration_is_found_by_its_name(model: str, config: str) -> None:
    assert {transformer.config for transformer in nlp.TRANSFORMERS if transformer.model == model} == {config}


def row(word: str, matches: int, checks: int) -> dict[str, object]:
    file = {"word": word, "matches": matches, "checks": checks, "why": "w", "missed": {"claim": "mismatch: why"}}
    return {
        "family": "f",
        "name": "n",
        "weights": "random",
        "formats": {"pdmodel": file},
        "stock": {"pdmodel": {"word": "refused"}},
    }


@pytest.mark.parametrize(("passed", "failed", "code"), [(99, 1, 0), (98, 2, 1), (0, 1, 1)])
def test_the_exit_code_is_what_is_promised(
    capsys: pytest.CaptureFixture[str], passed: int, failed: int, code: int
) -> None:
    rows = [row("passed", 10, 10)] * passed + [row("failed", 9, 10)] * failed
    assert report(rows, ("pdmodel",)) == code
    said = capsys.readouterr().out
    assert f"{passed}/{passed + failed} passed, {failed} failed; stock 0/{passed + failed}" in said
    assert said.count("NO MATCH") == passed + failed


def test_what_stock_cannot_export_is_not_held_against_a_format(capsys: pytest.CaptureFixture[str]) -> None:
    lost = row("failed", 9, 10) | {"stock": {"pir": {"word": "refused"}}}
    sound = row("passed", 10, 10) | {"stock": {"pir": {"word": "passed"}}}
    assert report([lost, sound], ("pdmodel",)) == 0
    assert report([lost | {"stock": sound["stock"]}, sound], ("pdmodel",)) == 1
    lines = table.counts([lost, sound])
    assert lines[-1] == "| all |  | 2 | 1 | 0 of 1 | 1 of 1 | 0 of 1 | 0 s |"
    assert table.beside([lost, sound])[2:] == [
        "| `.json` | `jit.save` | 2 | 1 | 0 | 1 |",
        "| `.pdmodel` | exporter | 2 | 1 | 1 | 0 |",
    ]
    assert table.misses([sound]) == table.misses([]) and "| n | refused | `.pdmodel` | w |" in table.misses([lost])


def test_a_headline_compares_every_writer_on_the_same_networks() -> None:
    def network(name: str, ours: str, **stock: str) -> dict[str, Any]:
        formats = {format_: {"word": ours, "checks": 1, "matches": 1, "why": "w"} for format_ in ("pir", "onnx")}
        beside = {writer: {"word": word} for writer, word in stock.items()}
        return {"family": "f", "name": name, "weights": "random", "formats": formats, "stock": beside}

    rows = [
        network("a", "passed", pir="passed", onnx="passed", p2o="failed"),
        network("b", "passed", pir="passed", onnx="refused", p2o="failed"),
        network("c", "passed", pir="refused", onnx="refused"),  # p2o was not asked
        network("d", "refused", pir="failed", onnx="failed", p2o="passed"),
        network("e", "refused", pir="refused", onnx="refused", p2o="refused") | {"eager": "it fails"},
    ]
    assert table.headline(rows) == [
        "- `.json`: `jit.save` 2 of 4, ours 3 of 4 networks that run eagerly; "
        "of the 2 that stock PIR exports rightly, 2 and 2",
        "- ONNX: paddle2onnx 1 of 4, ours 3 of 4 networks that run eagerly; "
        "of the 2 that stock PIR exports rightly, 1 and 2",
        "- ONNX: p2o 1 of 3, ours 2 of 3 networks that run eagerly; of the 2 that stock PIR exports rightly, 0 and 2",
    ]
    assert table.by_family(rows)[2:] == [
        "| f | 4 | 2 | - | 1 | 1 of 3 | 3 | - | 3 |",
        "| all | 4 | 2 | - | 1 | 1 of 3 | 3 | - | 3 |",
    ]


def test_rows_of_several_files_are_one_a_network_and_the_verdict_stands_before_a_quick_look() -> None:
    judged, quickly = row("passed", 10, 10), row("right", 1, 1) | {"by": "quick"}
    other = row("refused", 0, 0) | {"name": "m", "by": "quick"}
    assert merged([quickly, judged]) == merged([judged, quickly]) == [judged]
    assert merged([quickly, other, other | {"date": "later"}]) == [quickly, other | {"date": "later"}]
    lines = table.tables([judged, other])
    assert lines.index("### Judged by the verdict") < lines.index("### Judged quickly")
    assert "| m | - | `.pdmodel` | w |" in lines[lines.index("### Judged quickly") :]
    assert lines.count("- `f`: n") == 1 and "- `f`: m" not in lines


def test_a_page_gets_its_tables_between_its_marks(tmp_path: Path) -> None:
    rows_at, more_at, page = tmp_path / "rows.jsonl", tmp_path / "more.jsonl", tmp_path / "page.md"
    write_rows(rows_at, [row("right", 1, 1) | {"by": "quick"}])
    write_rows(more_at, [row("passed", 10, 10)])
    command = [sys.executable, "-m", "evals.zoo.table", rows_at, more_at, "--write", rows_at, "--page", page]
    page.write_text("no marks\n")
    assert subprocess.run(command, cwd=ROOT, capture_output=True, check=False).returncode == 1
    page.write_text("before\n<!-- measured -->\nold\n<!-- /measured -->\nafter\n")
    for _ in range(2):
        subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
        said = "\n".join(table.tables(list(read_rows(rows_at).values())))
        assert page.read_text() == f"before\n<!-- measured -->\n{said}\n<!-- /measured -->\nafter\n"
    assert [kept["formats"]["pdmodel"]["word"] for kept in read_rows(rows_at).values()] == ["passed"]


def test_a_network_that_eager_mode_cannot_run_says_why() -> None:
    setting, wish, network = Setting(Limits(seconds=100)), Wish(stock=()), models.found("LeNet")
    spec = spec_of(network, wish, setting)
    assert eager.eager_failure(network, spec, setting) == {}
    of_three_channels = spec.model_copy(update={"model": "evals.zoo.models:resnet18"})
    failure = eager.eager_failure(network, of_three_channels, setting)
    assert "channels" in failure["eager"] and not runs_eagerly(row("refused", 0, 0) | failure)


def test_a_line_keeps_what_is_said_of_a_network_and_a_table_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    failed, passed = row("failed", 9, 10), row("passed", 10, 10) | {"name": "m"}
    write_rows(path, [failed, passed])
    assert len(path.read_text().splitlines()) == 2
    kept = read_rows(path)
    assert list(kept) == [key_of(failed), key_of(passed)]
    file = kept[key_of(failed)]["formats"]["pdmodel"]
    assert (file["word"], file["why"], file["matches"]) == ("failed", "w", 9)
    assert "missed" not in file and read_rows(tmp_path / "none") == {}


def test_the_measured_rows_are_those_of_the_page() -> None:
    """docs/zoo.md holds what `python -m evals.zoo.table evals/zoo/measured.jsonl` says of the rows."""
    page = (ROOT / "docs" / "zoo.md").read_text(encoding="utf-8")
    rows = list(read_rows(ROOT / "evals/zoo/measured.jsonl").values())
    assert len(rows) > 80
    writers = table.beside([row for row in rows if row["family"] == "paddlex"])
    between_marks = table.MARKS[0] in page
    lines = table.tables(rows) if between_marks else [*table.counts(rows), *table.misses(rows), *writers]
    assert [line for line in lines if line not in page] == []


def test_a_cause_that_was_looked_up_stands_in_the_place_of_a_message() -> None:
    lost = row("failed", 9, 10)
    assert (
        table.misses([lost], {"f/n": "net.py:3: it | sorts"})[-1] == "| n | - | `.pdmodel` | net.py:3: it \\| sorts |"
    )
    assert table.misses([lost], {"f/m": "another"})[-1] == "| n | - | `.pdmodel` | w |"
    known = {f"{kept['family']}/{kept['name']}" for kept in read_rows(ROOT / "evals/zoo/measured.jsonl").values()}
    assert set(table.causes()) <= known


def test_a_row_names_no_place_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable("paddlex"), "/home/me/wheel")
    why = "/home/me/wheel/net.py:3: no /tmp/zoo-a1_b/stock/m.json, by /usr/lib/python3/site-packages/paddle/x.py"
    why += ", called in /home/me/clone/evals/zoo/families/a.py:7"
    lost = row("failed", 9, 10)
    lost["formats"] = {"pdmodel": {"word": "failed", "matches": 9, "checks": 10, "why": why}}
    write_rows(tmp_path / "rows.jsonl", [lost])
    (kept,) = read_rows(tmp_path / "rows.jsonl").values()
    assert kept["formats"]["pdmodel"]["why"] == (
        "net.py:3: no …/stock/m.json, by …/paddle/x.py, called in evals/zoo/families/a.py:7"
    )


def test_batch_norms_of_every_kind_are_settled() -> None:
    import paddle

    paddle.seed(0)
    for norm in (paddle.nn.BatchNorm2D(3), paddle.nn.BatchNorm(3)):
        settled.settle(norm, [paddle.randn([8, 3, 4, 4]) * paddle.to_tensor([5.0, 1.0, 0.0]).reshape([1, 3, 1, 1])])
        variance = norm._variance.numpy()
        assert variance[0] > 15 and not norm.training
        assert variance[2] == pytest.approx(settled.LEAST_VARIANCE * (variance[0] + 1) / 3, rel=0.2), "constant"


@pytest.mark.slow
@pytest.mark.timeout(6 * 3600)
@pytest.mark.parametrize("weights", ["random", "calibrated"])
def test_all_networks(weights: str, tmp_path: Path) -> None:
    packages = ("paddleclas", "paddleseg", "ppdet", "paddlenlp")
    missing = [name for name in packages if find_spec(name) is None] + ([] if ocr.builders() else [variable("ocr")])
    if missing:
        pytest.skip(f"{', '.join(missing)} missing: docs/zoo.md describes the environment")
    done = zoo("--json", tmp_path / "zoo.jsonl", "--weights", weights, seconds=6 * 3600)
    assert done.returncode == 0, done.stdout
