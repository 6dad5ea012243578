"""The metric that a release states, and holds to the recipe's floor, is that of the checkpoint that it exports."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from exporter.base.errors import ExitCode
from exporter.export.trained_ranges import KEY, as_text
from exporter.pipeline import prune
from exporter.process.workers import Setting
from exporter.spec.model import Spec
from exporter.weights.measured import Measured, measure
from exporter.weights.prune.run import default_folder
from tests.command import Done, exporter, refused

RECIPE = """
from pathlib import Path
import numpy as np, paddle
from paddle import nn
from exporter.spec.recipe.base import Recipe, Samples

def build():
    return nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 3))

def data():
    x, y = np.load("x.npy"), np.load("y.npy")
    return Samples({"input": x[64:], "y": y[64:]}, {"input": x[:64], "y": y[:64]})

def accuracy(logits, y):
    return float((logits.argmax(1) == y).mean())

def optimizer(layer):
    return paddle.optimizer.Adam(50.0 if Path("hot").exists() else 0.02, parameters=layer.parameters())

recipe = Recipe(
    build=build, data=data, inputs=("input",), labels=("y",), loss=nn.functional.cross_entropy, metric=accuracy,
    metric_name="accuracy", optimizer=optimizer, epochs=8, batch_size=32, floor=0.9,
)
"""
FLOOR = "does not reach the recipe's floor, 0.9"


def keys(**more: Any) -> dict[str, Any]:
    """A small spec as its file holds it."""
    return {
        "name": "tiny",
        "version": "1",
        "model": "recipes.tiny:build",
        "recipe": "recipes.tiny:recipe",
        "inputs": {"input": {"dtype": "float32", "shape": ["batch", 4], "values": "dataset"}},
        "dims": {"batch": {"min": 1, "typical": 8, "max": 16}},
        "formats": ["pir"],
        "engines": ["jit_load"],
        "device": "cpu",
        **more,
    }


X = np.random.default_rng(0).standard_normal((512, 4)).astype("float32")


def write_data(place: Path, wrong: int = 0) -> None:
    """Inputs and labels; the first 64 are held out, and so many of them have another label than they should."""
    labels = X[:, :3].argmax(1)
    labels[:wrong] = (labels[:wrong] + 1) % 3
    np.save(place / "x.npy", X)
    np.save(place / "y.npy", labels)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a recipe, its data and a run that reaches the floor; `cache` knows of a release of it."""
    place = tmp_path_factory.mktemp("measured") / "work"
    (place / "recipes").mkdir(parents=True)
    (place / "recipes/tiny.py").write_text(RECIPE)
    write_data(place)
    done = release(place, options=("--cache", "cache"))
    assert done.code == ExitCode.PASSED, done.out + done.err
    assert "measuring" not in done.err, "the training has just measured it"
    return place


@pytest.fixture
def place(trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, of the test's own."""
    work = Path(shutil.copytree(trained, tmp_path / "work"))
    monkeypatch.chdir(work)
    return work


def release(place: Path, options: tuple[str, ...] = (), **more: Any) -> Done:
    (place / "spec.yaml").write_text(json.dumps(keys(**more)))
    return exporter("release", "spec.yaml", *options, cwd=place)


def best(place: Path) -> Path:
    return next(place.glob("runs/tiny/seed-0-*/best.safetensors"))


def refused_below_the_floor(done: Done, place: Path, name: str, *said: str) -> None:
    refused(done, ExitCode.MODEL, FLOOR, *said)
    assert "recording goldens" not in done.err, "it is known before anything is proven"
    assert not list((place / "artifacts" / name).rglob("manifest.json"))


def stated(place: Path, name: str) -> dict[str, Any]:
    return dict(json.loads((place / "artifacts" / name / "1/manifest.json").read_text()))


def test_a_checkpoint_that_is_given_is_measured(place: Path) -> None:
    tensors = load_file(best(place))
    save_file({name: np.zeros_like(value) for name, value in tensors.items()}, "zeros.safetensors")
    done = release(place, name="zeros", checkpoint="zeros.safetensors")
    refused_below_the_floor(done, place, "zeros", "zeros.safetensors")
    save_file(tensors, "given.safetensors")
    done = release(place, name="given", checkpoint="given.safetensors")
    assert done.code == ExitCode.PASSED, done.out + done.err
    run = json.loads(best(place).with_name("run.json").read_text())["metric"]
    told = stated(place, "given")["provenance"]["training"]
    assert told == {"recipe": "recipes.tiny:recipe", "metric": {"accuracy": run["value"]}, "interval": run["interval"]}
    assert f"accuracy {run['value']:.4f} on the held-out data (given.safetensors)" in done.out


def test_a_checkpoint_of_another_layer_cannot_be_measured(place: Path) -> None:
    text = (place / "recipes/tiny.py").read_text()
    (place / "recipes/other.py").write_text(text.replace("64", "8"))
    shutil.copy(best(place), "given.safetensors")
    done = release(place, name="given", checkpoint="given.safetensors", recipe="recipes.other:recipe")
    refused(done, ExitCode.USAGE, "accuracy cannot be measured", "'0.weight' is float32[4, 64]")


def test_what_was_cut_is_held_to_the_floor_with_its_own_metric(place: Path) -> None:
    loud = {name: np.zeros_like(value) for name, value in load_file(best(place)).items()}
    loud["0.weight"][:, 3:] = loud["2.weight"][3:, 3:] = 1  # what nothing reads has the largest weights, and stays
    loud["0.weight"][:3, :3] = loud["2.weight"][:3, :3] = loud["4.weight"][:3] = np.eye(3) / 8
    loud["4.weight"][3:, 0] = 1e-6  # hardly read: what is left has an answer, and the same for all
    save_file(loud, "loud.safetensors")
    whole = Spec.model_validate(keys(checkpoint="loud.safetensors"))
    assert measure(whole, Path("loud.safetensors"), None, Setting()).value > 0.95
    cut = {"flops": 0.5, "multiple_of": 1, "epochs": 0}
    done = release(place, name="cut", checkpoint="loud.safetensors", prune=cut)
    refused_below_the_floor(done, place, "cut", "cut.pruned/pruned.safetensors", "leave more of the FLOPs")


def test_what_a_fine_tuning_has_spoilt_is_held_to_the_floor(place: Path) -> None:
    (place / "hot").touch()
    done = release(place, name="tuned", prune={"flops": 0.8, "multiple_of": 1, "epochs": 1})
    refused_below_the_floor(done, place, "tuned", "tuned.pruned/tuned/best.safetensors")
    int8 = {
        "noise": True,
        "ranges": "trained",
        "epochs": 1,
        "samples": 32,
        "budget": {"min_snr_db": 5, "max_size": 100},
    }
    onnx = {"formats": ["onnx"], "engines": ["onnxruntime"], "precisions": {"fp32": None, "int8": int8}}
    done = release(place, name="rounded", **onnx)
    refused_below_the_floor(done, place, "rounded", "runs/rounded.qat/best.safetensors", "max_metric_loss")


@pytest.mark.parametrize(("loss", "missed"), [(None, 0.9), (0.1, 0.8), (1.0, None), ("unrated", 0.9)])
def test_a_promised_loss_lowers_the_floor_of_what_was_trained_with_roundings(
    place: Path, loss: float | str | None, missed: float | None
) -> None:
    tensors = {name: np.zeros_like(value) for name, value in load_file(best(place)).items()}
    save_file(tensors, "zeros.safetensors", {KEY: as_text({"0": [-1.0, 1.0]})})
    int8 = {"ranges": "trained", "budget": {"max_metric_loss": loss} if loss is not None else {}}
    spec = Spec.model_validate(keys(formats=["onnx"], engines=["onnxruntime"], precisions={"fp32": None, "int8": int8}))
    found = measure(spec, Path("zeros.safetensors"), None, Setting())
    assert found.missed == (None if missed is None else pytest.approx(missed)) and found.value < 0.6


def test_a_run_that_is_reused_is_measured_on_the_data_that_is_there_now(place: Path) -> None:
    before = stated(place, "tiny")["provenance"]["training"]["metric"]["accuracy"]
    assert "has not changed" in release(place, ("--cache", "cache")).err
    write_data(place, 3)
    done = release(place, ("--cache", "cache", "--force"))
    assert done.code == ExitCode.PASSED, done.out + done.err
    told = stated(place, "tiny")
    now = told["provenance"]["training"]["metric"]["accuracy"]
    assert 0.9 < now < before - 0.04 and f"accuracy {now:.4f}" in done.out
    assert any(f"was {before:.4f} when the run ended" in note for note in told["notes"])
    write_data(place, 64)
    done = release(place, ("--cache", "cache"), name="other")
    refused_below_the_floor(done, place, "other", f"was {before:.4f} when the run ended", "train anew")
    shutil.rmtree(best(place).parent)  # as the note says; what was trained now is measured by the training
    assert release(place, name="other").code == ExitCode.MODEL, "only the held-out labels are wrong"


def test_prune_states_no_metric_of_other_data(place: Path) -> None:
    asked = keys(prune={"flops": 0.8, "multiple_of": 1, "epochs": 1})
    spec = Spec.model_validate(asked)
    whole, _, tuned = prune(spec, default_folder(spec), Setting())
    write_data(place, 3)
    again = prune(spec, default_folder(spec), Setting())
    for old, new in ((whole, again[0]), (tuned, again[2])):
        assert isinstance(old, Measured) and isinstance(new, Measured)
        assert new.value < old.value - 0.01 and "when the run ended" in new.note and not old.note
