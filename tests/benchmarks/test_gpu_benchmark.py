"""benchmarks/gpu.py: bundles made here, judged on the CPU, and as on a machine with a GPU."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from exporter.engines.device import nvidia_here
from tests import faults
from tests.command import PATIENCE, ROOT

PRETENDED = str(ROOT / "tests/engines/pretended_gpu")
#: It pools, and its shapes are dynamic.
NETWORK = "LeNet"


def gpu(*words: str | Path, how: str | None = None, cwd: Path = ROOT) -> tuple[int, str]:
    """`gpu.py run` as on a machine that has nothing of the exporter on its path; `how`: with a pretended GPU."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    if how is not None:
        environment |= {"PYTHONPATH": PRETENDED, "PRETENDED_GPU": how}
    command = [sys.executable, *map(str, words)]
    done = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One network, written as the command writes it."""
    folder = tmp_path_factory.mktemp("gpu") / "bundles"
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.gpu", "make", str(folder), NETWORK],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture
def copied(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "carried"))


def rows(folder: Path, *words: str, how: str | None = None) -> tuple[int, list[dict[str, Any]], str]:
    """Run the copy of the script that lies beside the bundles, as the other machine does."""
    code, said = gpu(folder / "gpu.py", "run", folder, "--json", folder / "rows.json", *words, how=how, cwd=folder)
    return code, json.loads((folder / "rows.json").read_text()), said


def test_what_is_carried_is_plain_files_and_little(made: Path) -> None:
    names = {path.relative_to(made).as_posix() for path in made.rglob("*") if path.is_file()}
    wanted = {"manifest.json", "verify.py", "golden.safetensors", "onnx/model.onnx"}
    assert names == {"gpu.py", *(f"{NETWORK}/{name}" for name in wanted)}


def test_on_a_cpu_every_ratio_is_within_the_budget(copied: Path) -> None:
    before = sorted(copied.rglob("*"))
    code, [row], said = rows(copied, "--device", "cpu")
    assert (code, row["tf32"], row["faults"]) == (0, False, []), said
    assert 0 < row["max"] <= 4 and 0 < row["l2"] <= 4 and row["matches"] == row["checks"] > 5
    assert row["placement"].startswith("CPUExecutionProvider ") and NETWORK in said
    assert sorted(copied.rglob("*")) == sorted([*before, copied / "rows.json"]), "it left something beside the bundles"


def test_on_a_gpu_tf32_shows_beside_float32_and_fails_nothing(copied: Path) -> None:
    code, [off, on], said = rows(copied, how="")
    assert code == 0, said
    assert (off["tf32"], on["tf32"]) == (False, True)
    assert off["max"] <= 4 < 50 < on["max"] and on["faults"] and not off["faults"]
    assert off["placement"].startswith("CUDAExecutionProvider ") and not off["values_elsewhere"]


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("tf32", "use_tf32 0 was asked for, and 1 is in effect"),
        ("half", "these computed values elsewhere than on CUDAExecutionProvider: MaxPool"),
        ("late", "these computed values elsewhere than on CUDAExecutionProvider: "),
    ],
)
def test_what_is_not_as_it_was_asked_for_fails(how: str, said: str, copied: Path) -> None:
    code, [off, _], told = rows(copied, how=how)
    assert code == 1 and any(said in fault for fault in off["faults"]) and said in told
    if how == "tf32":
        assert any("over the budget of 4" in fault for fault in off["faults"]), "the numbers show it as well"


def test_without_a_gpu_the_cause_is_said(copied: Path) -> None:
    code, said = gpu(copied / "gpu.py", "run", copied, how="idle")
    assert code == 3 and "CUDAExecutionProvider cannot run here" in said
    if not nvidia_here():
        code, said = gpu(copied / "gpu.py", "run", copied)
        assert code == 3 and "CUDAExecutionProvider" in said


def test_a_damaged_bundle_is_not_judged(copied: Path) -> None:
    faults.truncate(copied / NETWORK / "onnx/model.onnx")
    code, [row], said = rows(copied, "--device", "cpu")
    assert code == 5 and "onnx/model.onnx" in row["why"], said


def test_an_artifact_that_kills_the_process_is_a_fault_of_its_own(copied: Path) -> None:
    script = copied / NETWORK / "verify.py"
    script.write_text("import os\nos.abort()\n")
    code, [row], _ = rows(copied, "--device", "cpu")
    assert code == 1 and "ended with code -6" in row["why"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run", "{empty}"), "holds no bundles"),
        (("run", "{made}", "--device", "tpu"), "'tpu' is no device"),
        (("run", "{made}", "--device", "cpu:1"), "'cpu:1' is no device"),
        ((), "required"),
    ],
)
def test_usage(words: tuple[str, ...], said: str, made: Path, tmp_path: Path) -> None:
    code, told = gpu(made / "gpu.py", *(word.format(empty=tmp_path, made=made) for word in words))
    assert code == 2 and said in told


@pytest.mark.parametrize(("name", "said"), [("ResNet1000", "no network is called ResNet1000"), (NETWORK, "not empty")])
def test_make_refuses_before_it_works(name: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("keep")
    command = [sys.executable, "-m", "benchmarks.gpu", "make", str(tmp_path), name]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 2 and said in done.stderr and [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.gpu
@pytest.mark.skipif(not nvidia_here(), reason="needs an NVIDIA GPU")
def test_on_a_real_gpu(copied: Path) -> None:
    code, said = gpu(copied / "gpu.py", "run", copied)
    if code == 3:
        pytest.skip(said)
    assert code == 0, said
