"""Own and inherited error: a kernel that is wrong elsewhere is named, and what hands it on is not."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from evals.elsewhere import device
from evals.elsewhere.bundles import Asked, asked
from exporter.base.tensors import load_npy
from tests.command import STORED, Done, exporter, refused


def verify(bundle: Path, answers: Path, *options: str) -> Done:
    command = ("verify", bundle, "--answers", answers, "--engine", "x 1", "--layers", "--json", *options)
    return exporter(*command, cwd=answers.parent)


def test_right_values_blame_nobody(answers: Path) -> None:
    told = verify(STORED, answers).json()
    assert (told["verdict"], told["blame"]) == ("passed", [])
    assert "layers: 4 of 4 values came, 4 of them were computed anew" in told["notes"]
    assert "layers: no operator errs by itself beyond what its precision explains" in told["notes"]


def test_the_operator_that_errs_by_itself_is_named(answers: Path) -> None:
    """The convolution is wrong; the others compute rightly what it gives them."""
    draw = np.random.default_rng(1)
    convolved = load_npy(answers / "layers/2.1.npy")
    wrong = (convolved + draw.standard_normal(convolved.shape)).astype("float32")
    np.save(answers / "layers/2.1.npy", wrong)
    np.save(answers / "layers/2.2.npy", np.maximum(wrong, 0))
    np.save(answers / "layers/2.3.npy", np.maximum(wrong, 0).reshape(1, -1))
    told = verify(STORED, answers).json()
    blame = told["blame"][-1]
    assert (blame["path"], blame["class"], blame["stage"]) == ("Sequential.Conv2D", "Conv", "engine")
    assert blame["inputs_ratio"] == 0 and blame["error_ratio"] > 1e5
    own = [note for note in told["notes"] if note.startswith("layers: ") and "own error" in note]
    assert own[1].startswith("layers: Gemm scores") or own[0].startswith("layers: Conv %9")
    assert any("Relu %10 of Sequential/ReLU" in note and "own error 0, inherited" in note for note in own)


def test_values_that_are_lacking_or_odd_are_told(answers: Path) -> None:
    (answers / "layers/2.2.npy").unlink()
    np.save(answers / "layers/2.3.npy", np.zeros((2, 2), "float32"))
    told = verify(STORED, answers).json()
    assert "layers: 2 of 4 values came, 2 of them were computed anew" in told["notes"]
    assert any("2.3 is float32[2, 2], and %11 float32[1, 64]" in note for note in told["notes"])
    shutil.rmtree(answers / "layers")
    gone = exporter("verify", STORED, "--answers", answers, "--engine", "x", "--layers", cwd=answers.parent)
    refused(gone, 2, "no intermediate value came")


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    """A released network with its source beside it, and a kit with layers."""
    return asked("pair", tmp_path_factory.mktemp("pair"), "--layers")


class _Layers(Asked):
    """The part of a kit that asks for layers."""

    @property
    def content(self) -> dict[str, object]:
        whole = super().content
        return {**whole, **whole["layers"]}


def test_the_line_of_the_users_code_is_named(pair: Asked, tmp_path: Path) -> None:
    """A device whose tanh is a sigmoid, in the code of `forward` itself."""
    onnx = pytest.importorskip("onnx")
    wrong = Asked(pair.name, pair.bundle, Path(shutil.copytree(pair.kit, tmp_path / "kit")))
    for part in ("model", "layers"):
        model = onnx.load_model(wrong.kit / part / "model.onnx")
        for node in model.graph.node:
            node.op_type = {"Tanh": "Sigmoid"}.get(node.op_type, node.op_type)
        onnx.save_model(model, wrong.kit / part / "model.onnx")
    answers = device.write(wrong, tmp_path / "answers", device.computed(wrong))
    layers = device.computed(_Layers(wrong.name, wrong.bundle, wrong.kit))
    (answers / "layers").mkdir()
    for (case, place), value in layers.items():
        np.save(answers / f"layers/{case}.{place}.npy", value)
    done = exporter(
        *("verify", pair.bundle, "--answers", answers, "--engine", "x", "--layers", "--json"),
        *("--source", pair.bundle.parents[2]),
        cwd=pair.bundle.parents[2],
    )
    blame = done.json()["blame"][-1]
    source = (pair.bundle.parents[2] / "networks.py").read_text().splitlines()
    path, _, line = blame["line"].rpartition(":")
    assert path == "networks.py" and "paddle.tanh(" in source[int(line) - 1], blame
    assert "its own error; Tanh" in blame["reason"]


def test_the_case_that_fails_most_can_be_asked_for(pair: Asked, tmp_path: Path) -> None:
    """A device whose tanh is a sigmoid; which case it fails most in is known when it has answered once."""
    onnx = pytest.importorskip("onnx")
    home = pair.bundle.parents[2]

    def answered(kit: Path, to: Path) -> Path:
        wrong = Asked(pair.name, pair.bundle, kit)
        for part in ("model", "layers"):
            model = onnx.load_model(kit / part / "model.onnx")
            for node in model.graph.node:
                node.op_type = {"Tanh": "Sigmoid"}.get(node.op_type, node.op_type)
            onnx.save_model(model, kit / part / "model.onnx")
        answers = device.write(wrong, to, device.computed(wrong))
        (answers / "layers").mkdir()
        for (case, place), value in device.computed(_Layers(pair.name, pair.bundle, kit)).items():
            np.save(answers / f"layers/{case}.{place}.npy", value)
        return answers

    def notes(answers: Path) -> list[str]:
        command = ("verify", pair.bundle, "--answers", answers, "--engine", "x", "--layers", "--json")
        return [note for note in exporter(*command, cwd=home).json()["notes"] if note.startswith("layers: ")]

    first = notes(answered(Path(shutil.copytree(pair.kit, tmp_path / "kit")), tmp_path / "one"))
    (hint,) = (note for note in first if "fails most" in note)
    case = hint.rpartition("--layers-of ")[2]
    assert hint.startswith("layers: of case batch=1; ") and case != "batch=1"
    done = exporter("kit", pair.bundle, "--out", tmp_path / "again", "--layers-of", case, cwd=home)
    assert done.code == 0, done.err
    second = notes(answered(tmp_path / "again", tmp_path / "two"))
    assert not [note for note in second if "fails most" in note]
    assert any("Tanh" in note and "own error" in note for note in second)
    gone = exporter("kit", pair.bundle, "--out", tmp_path / "no", "--layers-of", "batch=99", cwd=home)
    refused(gone, 2, "the kit has no case 'batch=99'", "--layers-of")
