"""Mistakes and hostile models: each is refused by name, with its exit code, and nothing is lost or half written."""

from __future__ import annotations

import resource
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from tests.command import COMMAND, contents, environment, exporter, leftovers, refused

X = ("--input", "x=float32[batch,4]", "--dim", "batch=1..4")


def convert(workplace: Path, model: str, *more: str, inputs: tuple[str, ...] = X):  # type: ignore[no-untyped-def]
    return exporter("convert", model, *inputs, "--out", "out", *more, cwd=workplace)


@pytest.mark.parametrize(
    ("model", "more", "code", "said"),
    [
        ("models.nowhere:build", (), 2, "models.nowhere"),
        ("models.sound:build_it", (), 2, "build_it"),
        ("models.unsound:np", (), 2, "np"),
        ("models.sound:Mlp", ("--weights", "none.safetensors"), 2, "none.safetensors"),
        ("models.sound:Mlp", ("--set", "engines=[onnxruntim]"), 2, "onnxruntime"),
        ("models.sound:Mlp", ("--device", "gpu"), 3, "gpu"),
        ("models.unsound:poisoned", (), 4, "NaN"),
        ("models.unsound:Raising", (), 4, "no such head"),
        ("models.hostile:Segfault", (), 4, "SIGSEGV"),
        ("models.hostile:Endless", ("--timeout", "20"), 4, "20 s"),
        ("models.hostile:Leaving", (), 4, "no answer"),
    ],
)
def test_models_that_cannot_be_exported(
    workplace: Path, model: str, more: tuple[str, ...], code: int, said: str
) -> None:
    before = contents(workplace)
    refused(convert(workplace, model, "--formats", "pir", *more), code, said)
    assert contents(workplace) == before


def test_endless_allocation_is_stopped(workplace: Path) -> None:
    """By the limit of memory where it is reached in time, else by that of time: both are verdicts."""
    refused(convert(workplace, "models.hostile:Hungry", "--formats", "pir", "--timeout", "60"), 4, "limit")


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        (("--input", "y=float32[batch,4]", "--dim", "batch=1..4"), "'y'"),
        (("--input", "x=float32[batch,4]", "--dim", "batch=4..1"), "min (4) is greater than max (1)"),
        (("--input", "x=float32[batch,4]"), "batch"),
        (("--input", "x=flaot32[batch,4]", "--dim", "batch=1..4"), "x"),
        ((), "inputs"),
    ],
)
def test_inputs_that_do_not_fit(workplace: Path, inputs: tuple[str, ...], said: str) -> None:
    refused(convert(workplace, "models.sound:Mlp", inputs=inputs), 2, said)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("version: 1.0.0", "verison: 1.0.0", "did you mean 'version'?"),
        ("version: 1.0.0", "version: [", "specs/digits.yaml:"),
        ("min: 1,", "min: 100,", "greater than max"),
        ("formats: [pir, pdmodel, onnx]", "formats: [pir, tflite]", "formats"),
        ("[jit_load, paddle_inference, onnxruntime]", "[jit_laod]", "jit_load"),
        ("recipes.digits:build ", "recipes.digist:build ", "recipes.digist"),
    ],
)
def test_specs_with_a_mistake(workplace: Path, old: str, new: str, said: str) -> None:
    spec = workplace / "specs/digits.yaml"
    text = spec.read_text()
    assert old in text
    spec.write_text(text.replace(old, new))
    refused(exporter("release", "specs/digits.yaml", cwd=workplace), 2, said)


def test_no_such_spec(workplace: Path) -> None:
    refused(exporter("release", "specs/digts.yaml", cwd=workplace), 2, "no such spec", "digits.yaml")


@pytest.mark.parametrize("fault", ["missing", "extra", "shape", "truncated", "nan"])
def test_checkpoints_that_do_not_fit(released: Path, workplace: Path, fault: str) -> None:
    tensors = load_file(released / "runs/digits/best.safetensors")
    name = sorted(tensors)[0]
    said = {"missing": name, "extra": "stranger", "shape": name, "truncated": "weights.safetensors", "nan": "NaN"}[
        fault
    ]
    if fault == "missing":
        del tensors[name]
    elif fault == "extra":
        tensors["stranger"] = np.zeros(3, "float32")
    elif fault == "shape":
        tensors[name] = np.zeros((7, 7), "float32")
    elif fault == "nan":
        tensors[name] = np.full_like(tensors[name], np.nan)
    path = workplace / "weights.safetensors"
    save_file(tensors, path)
    if fault == "truncated":
        path.write_bytes(path.read_bytes()[:-100])
    image = ("--input", "image=float32[batch,1,8,8]", "--dim", "batch=1..4")
    done = convert(
        workplace, "recipes.digits:build", "--weights", "weights.safetensors", "--formats", "pir", inputs=image
    )
    assert done.code == 2, done
    assert said in done.err


def test_a_folder_that_cannot_be_written(workplace: Path) -> None:
    (workplace / "file").write_text("kept")
    done = exporter("convert", "models.sound:Mlp", *X, "--out", "file/out", cwd=workplace)
    refused(done, 2, "file")
    assert (workplace / "file").read_text() == "kept"


def test_a_full_disk_leaves_the_earlier_bundle(workplace: Path) -> None:
    """A limit on the size of files, 20 kB: fewer than any artifact of this model and a few temporary files need."""
    done = convert(workplace, "models.sound:Mlp", "--formats", "pir")
    assert done.code == 0, done
    before = contents(workplace / "out")

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (3_000, 3_000))

    full = exporter(
        "convert", "models.sound:Mlp", *X, "--out", "out", "--formats", "pir", cwd=workplace, preexec_fn=limit
    )
    assert full.code in (3, 4), full
    assert full.err.startswith("error: ") or "\nerror: " in full.err
    assert contents(workplace / "out") == before


def _killed(workplace: Path, after: float, how: signal.Signals) -> int:
    arguments = ["convert", "models.sound:Mlp", *X, "--out", "out", "--formats", "pir", "--quiet"]
    process = subprocess.Popen(
        [*COMMAND, *arguments], cwd=workplace, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    time.sleep(after)
    process.send_signal(how)
    return process.wait(60)


@pytest.mark.parametrize("seconds", [0.4, 2.5, pytest.param(4.0, marks=pytest.mark.slow)])
def test_killed_at_any_moment_the_earlier_bundle_is_whole(workplace: Path, seconds: float) -> None:
    assert convert(workplace, "models.sound:Mlp", "--formats", "pir").code == 0
    _killed(workplace, seconds, signal.SIGKILL)
    assert exporter_verifies(workplace)


@pytest.mark.slow
def test_a_release_killed_at_ten_random_moments_leaves_the_earlier_bundle(released: Path, tmp_path: Path) -> None:
    import random
    import shutil

    place = Path(shutil.copytree(released, tmp_path / "work"))
    generator = random.Random(0)
    for _ in range(10):
        process = subprocess.Popen(
            [*COMMAND, "release", "specs/digits.yaml", "--quiet"],
            cwd=place,
            env=environment(),
            stdout=subprocess.DEVNULL,
        )
        time.sleep(generator.uniform(0.5, 25))
        process.kill()
        process.wait()
        done = subprocess.run(
            [*COMMAND, "verify", "artifacts/digits/1.0.0", "--engines", "onnxruntime"], cwd=place, env=environment()
        )
        assert done.returncode == 0


def exporter_verifies(workplace: Path) -> bool:
    """The bundle opens: every file is there, whole and listed. (Killed writers may leave hidden siblings.)"""
    from exporter.bundle.open import open_bundle

    return open_bundle(workplace / "out").manifest.name == "Mlp"


def test_interrupted_leaves_nothing_and_exits_130(workplace: Path) -> None:
    assert _killed(workplace, 2.0, signal.SIGINT) == 130
    assert not leftovers(workplace) and not (workplace / "out").exists()
