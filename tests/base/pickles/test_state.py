"""What `paddle.save` writes now and wrote before, against what `paddle.load` says of the same files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

from exporter.base.pickles.convert import write_safetensors
from exporter.base.pickles.state import read_state, read_tensors
from exporter.base.readers import read
from exporter.base.tensors import load, load_with_metadata
from tests.command import exporter, refused

FILES = [
    *(f"{kind}{protocol}" for kind in ("net", "adam", "mixed", "old") for protocol in (2, 3, 4)),
    *("ordered", "pieces", "tied", "bfloat16"),
]


def path_of(saved: Path, name: str) -> Path:
    return saved / f"{name}{'.pdopt' if name.startswith('adam') else '.pdparams'}"


def truth(path: Path) -> dict[str, Any]:
    with np.load(path.with_suffix(f"{path.suffix}.npz")) as archive:  # noqa: TID251  # written by this test
        return {name: archive[name] for name in archive.files}


def assert_same(mine: Any, theirs: Any) -> None:
    assert set(mine) == set(theirs) and theirs
    for name, value in theirs.items():
        assert mine[name].dtype == value.dtype.newbyteorder("=") and mine[name].shape == value.shape, name
        np.testing.assert_array_equal(mine[name], value)


@pytest.mark.parametrize("name", FILES)
def test_every_layout_gives_what_paddle_gives(saved: Path, name: str) -> None:
    path = path_of(saved, name)
    assert_same(read_tensors(path), truth(path))
    assert_same(load_with_metadata(path)[0], truth(path))


@pytest.mark.parametrize("name", FILES)
def test_every_layout_imports(saved: Path, name: str, tmp_path: Path) -> None:
    """The library of safetensors reads what was written, and so do we; the same file gives the same bytes."""
    path, into = path_of(saved, name), tmp_path / "w.safetensors"
    size = write_safetensors(read_state(path), into)
    assert size == into.stat().st_size
    assert_same(load(into), truth(path))
    if name != "bfloat16":
        assert_same(load_file(into), truth(path))
    facts = read(into)
    assert {weight.dtype for weight in facts.weights} >= ({"bfloat16"} if name == "bfloat16" else set())
    again = tmp_path / "again.safetensors"
    write_safetensors(read_state(path), again)
    assert again.read_bytes() == into.read_bytes()


@pytest.mark.parametrize("name", FILES)
def test_inspect_tells_the_same_without_the_numbers(saved: Path, name: str) -> None:
    path = path_of(saved, name)
    content, facts = path.read_bytes(), read(path)
    expected = truth(path)
    assert {weight.name: weight.shape for weight in facts.weights} == {k: v.shape for k, v in expected.items()}
    for weight in facts.weights:
        if weight.pieces and name != "old3":
            np.testing.assert_array_equal(weight.array(content), expected[weight.name])


def test_import_writes_safetensors_and_lists_what_is_no_array(saved: Path, tmp_path: Path) -> None:
    done = exporter("import", saved / "adam4.pdopt", "-o", "w.safetensors", "--json", cwd=tmp_path)
    assert done.code == 0, done.err
    told = done.json()
    assert told["tensors"] == len(load_file(tmp_path / "w.safetensors")) == 16
    assert set(told["left_out"]) == {"LR_Scheduler", "StructuredToParameterName@@"}
    again = exporter("import", saved / "adam4.pdopt", "-o", "w.safetensors", cwd=tmp_path)
    refused(again, 2, "is there already", "--force")
    forced = exporter("import", saved / "adam4.pdopt", "-o", "w.safetensors", "--force", cwd=tmp_path)
    assert forced.code == 0 and "left out: LR_Scheduler: a dict of 2 without arrays" in forced.out


def test_import_names_the_file_after_its_source(saved: Path, tmp_path: Path) -> None:
    (tmp_path / "net.pdparams").write_bytes((saved / "net4.pdparams").read_bytes())
    assert exporter("import", "net.pdparams", cwd=tmp_path).code == 0
    assert_same(load_file(tmp_path / "net.safetensors"), truth(saved / "net4.pdparams"))


def test_a_model_takes_its_weights_from_pdparams(saved: Path, tmp_path: Path) -> None:
    """The same model with the weights as Paddle saved them, and as safetensors: the same digests in the bundle."""
    layers = "paddle.nn.Linear(4, 3), paddle.nn.BatchNorm1D(3)"
    code = f"import paddle\n\ndef build():\n    return paddle.nn.Sequential({layers})\n"
    (tmp_path / "model.py").write_text(code)
    (tmp_path / "w.pdparams").write_bytes((saved / "net4.pdparams").read_bytes())
    assert exporter("import", "w.pdparams", cwd=tmp_path).code == 0
    parameters = []
    for weights in ("w.pdparams", "w.safetensors"):
        options = ["--input", "input=float32[n,4]", "--dim", "n=1..8", "--formats", "pir", "--weights", weights]
        done = exporter("convert", "model:build", *options, "--out", f"out-{weights}", "--quiet", cwd=tmp_path)
        assert done.code == 0, done.err
        manifest = json.loads((tmp_path / f"out-{weights}/manifest.json").read_bytes())
        assert manifest["provenance"]["weights"]["checkpoint"] == weights
        parameters.append(manifest["parameters"])
    assert parameters[0] == parameters[1] and len(parameters[0]) == 6


def test_what_is_safetensors_already_is_said_so_and_read(saved: Path, tmp_path: Path) -> None:
    into = tmp_path / "w.pdparams"
    write_safetensors(read_state(saved / "net4.pdparams"), into)
    refused(exporter("import", "w.pdparams", cwd=tmp_path), 2, "is safetensors already")
    assert_same(load(into), truth(saved / "net4.pdparams"))
