"""What can be wrong with a recipe, each said with what, where and a hint. The child's function runs in this process."""

# ruff: noqa: E501 - a table reads best with one case a line
from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from exporter.base.errors import EnvironmentLacks, ExporterError, ModelError, UsageError
from exporter.train import child
from exporter.train.child import RecipeModel, RunRequest
from exporter.train.document import RunDescription

Train = Callable[..., RunDescription]

#: A sound recipe, of which each case below spoils one line.
SOUND = """
import numpy as np
import paddle
from paddle import nn
from exporter.spec.recipe.base import Recipe, Samples

X, Y = np.ones([8, 2], "float32"), np.zeros([8, 1], "float32")

class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 1)

    def forward(self, x):
        return self.linear(x)

build = Net
data = lambda: Samples({"x": X, "y": Y}, {"x": X, "y": Y})
loss = nn.functional.mse_loss
metric = lambda out, y: float(abs(out - y).mean())
optimizer = lambda layer: paddle.optimizer.SGD(0.1, parameters=layer.parameters())
options = {}
recipe = lambda: None
recipe = Recipe(**{**dict(build=build, data=data, inputs=("x",), labels=("y",), loss=loss, metric=metric,
                          metric_name="error", goal="min", optimizer=optimizer, epochs=2, batch_size=4), **options})
"""

CASES: list[tuple[str, str, type[ExporterError], str, str]] = [
    # what is put in, its place, the error, what it says, where
    ("import no_such_package", "options", UsageError, "No module named 'no_such_package'", "spoilt.py:22"),
    ("options = 1 / 0", "options", UsageError, "cannot import spoilt: ZeroDivisionError: division by zero", "spoilt.py:22"),
    ("options = (", "options", UsageError, "SyntaxError: '(' was never closed", "spoilt.py:22"),
    ("raise SystemExit(3)", "options", UsageError, "SystemExit", "spoilt.py:22"),
    ("options = {'epochs': 0}", "options", UsageError, "epochs is 0", "spoilt:recipe"),
    ("options = {'batch_size': 2.5}", "options", UsageError, "batch_size is 2.5", "spoilt:recipe"),
    ("options = {'goal': 'big'}", "options", UsageError, "goal is 'big'", "spoilt:recipe"),
    ("options = {'inputs': 'x'}", "options", UsageError, "inputs is 'x'", "spoilt:recipe"),
    ("options = {'metric_name': 'loss'}", "options", UsageError, "metric_name is 'loss'", "spoilt:recipe"),
    ("options = {'labels': ('z',)}", "options", UsageError, "no array 'z'", "data().train"),
    ("data = lambda: open('/no/such/file')", "data", UsageError, "data() failed: FileNotFoundError", "spoilt.py:18"),
    ("data = lambda: Samples({'x': X, 'y': Y[1:]}, {'x': X, 'y': Y})", "data", UsageError, "x 8, y 7", "data().train"),
    ("data = lambda: Samples({'x': X, 'y': Y}, {'x': X[:0], 'y': Y[:0]})", "data", UsageError, "no samples", "data().held_out"),
    ("data = lambda: Samples({'x': X, 'y': Y}, {'x': X[:, :1], 'y': Y})", "data", UsageError, "float32[1] in", "data()"),
    ("data = lambda: Samples({'x': X * np.nan, 'y': Y}, {'x': X, 'y': Y})", "data", UsageError, "'x' holds NaN", "data().train"),
    ("data = lambda: Samples({'x': [1, 2], 'y': Y}, {'x': X, 'y': Y})", "data", UsageError, "'x' is a list", "data().train"),
    ("build = lambda: 3", "build", UsageError, "build() gave a int", "spoilt:recipe"),
    ("build = lambda: nn.Linear(2)", "build", UsageError, "build() failed: TypeError", "spoilt.py:17"),
    ("optimizer = lambda layer: None", "optimizer", UsageError, "optimizer() gave a NoneType", "spoilt:recipe"),
    ("build = lambda: nn.Linear(3, 1)", "build", UsageError, "forward failed: ValueError: (InvalidArgument)", "epoch 1, step 1"),
    ("        return self.linear(x).mean()", "        return", UsageError, "forward gave shape [] for a batch of 4", "held-out data"),
    ("        return [self.linear(x).tolist()]", "        return", UsageError, "forward gave a list", "epoch 1, step 1"),
    ("loss = lambda out, y: out - y", "loss", UsageError, "loss gave a tensor of shape [4, 1]", "epoch 1, step 1"),
    ("loss = lambda out, y: 1.0", "loss", UsageError, "loss gave a float", "epoch 1, step 1"),
    ("loss = lambda out, y: paddle.log(out.mean() * 0 - 1)", "loss", ModelError, "the loss is nan", "epoch 1, step 1"),
    ("metric = lambda out, y: float('nan')", "metric", ModelError, "metric 'error' is nan", "held-out data after epoch 1"),
    ("metric = lambda out, y: None", "metric", UsageError, "metric 'error' gave a NoneType", "held-out data after epoch 1"),
    ("metric = lambda out: 1.0", "metric", UsageError, "metric 'error' failed: TypeError", "held-out data after epoch 1"),
    ("recipe, Recipe = 5, dict", "recipe", UsageError, "has no 'recipe'", "spoilt:recipe"),
]  # fmt: skip


def spoil(line: str, place: str) -> str:
    lines = SOUND.splitlines()
    at = next(number for number, text in enumerate(lines) if text.startswith(place))
    if place == "recipe":
        return "\n".join(lines[:at])
    lines[at] = line
    return "\n".join(lines)


@pytest.fixture
def train(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Train:
    """Train the recipe in the text given, in the folder tmp_path/run."""

    def go(text: str, device: str = "cpu", **changes: Any) -> RunDescription:
        (tmp_path / "spoilt.py").write_text(text)
        monkeypatch.chdir(tmp_path)
        monkeypatch.syspath_prepend(str(tmp_path))
        monkeypatch.delitem(sys.modules, "spoilt", raising=False)
        (tmp_path / "run").mkdir(exist_ok=True)
        model = RecipeModel("spoilt:recipe", 0, device)
        run = child.train(RunRequest(model, "", tmp_path / "run", **changes)).run
        assert run is not None
        return run

    return go


def test_the_sound_recipe_trains_and_a_smaller_error_is_better(train: Train, tmp_path: Path) -> None:
    found = train(SOUND)
    assert found.finished
    assert found.metric is not None and found.metric.goal == "min"
    assert found.metric.epoch == 2, "the error falls from epoch to epoch"
    assert (tmp_path / "run" / "best.safetensors").is_file()


@pytest.mark.parametrize(("line", "place", "kind", "what", "where"), CASES, ids=[f"{one[0][:60]}" for one in CASES])
def test_a_spoilt_recipe_is_refused(
    line: str, place: str, kind: type[ExporterError], what: str, where: str, train: Train, tmp_path: Path
) -> None:
    with pytest.raises(kind) as caught:
        train(spoil(line, place))
    assert what in caught.value.what
    assert where in caught.value.where
    assert caught.value.hint
    assert type(caught.value) is kind
    assert {path.name for path in (tmp_path / "run").iterdir()} <= {"run.json"}


def test_a_missing_gpu_is_said_and_nothing_falls_back(train: Train, tmp_path: Path) -> None:
    import paddle

    if paddle.is_compiled_with_cuda() and paddle.device.cuda.device_count() > 7:
        pytest.skip("this machine has eight GPUs")
    with pytest.raises(EnvironmentLacks, match="no device 'gpu:7'") as caught:
        train(SOUND, device="gpu:7")
    assert "--device cpu" in caught.value.hint
    assert not list((tmp_path / "run").iterdir())


@pytest.mark.parametrize("device", ["tpu", "gpu:", "gpu:x", "cpu:1", ""])
def test_a_device_that_does_not_exist_is_a_mistake(device: str, train: Train) -> None:
    with pytest.raises(UsageError, match="unknown device"):
        train(SOUND, device=device)


def test_a_missing_xpu_is_said_by_its_name(train: Train) -> None:
    with pytest.raises(EnvironmentLacks, match=r"no device 'xpu:0': this Paddle was not built for XPU") as caught:
        train(SOUND, device="xpu:0")
    assert caught.value.hint.startswith("use --device cpu")


def test_the_device_of_a_plugin_that_is_not_installed_is_no_mistake_of_the_name(train: Train) -> None:
    with pytest.raises(EnvironmentLacks, match=r"no device 'npu:0': no plugin of Paddle's brings npu here") as caught:
        train(SOUND, device="npu:0")
    assert "install the plugin of PaddleCustomDevice for npu" in caught.value.hint


def test_the_device_of_a_plugin_is_taken_by_its_name(train: Train, monkeypatch: pytest.MonkeyPatch) -> None:
    import paddle

    taken: list[str] = []
    monkeypatch.setattr(
        paddle.device, "get_available_custom_device", lambda: ["npu:0", "npu:1"]
    )  # none can be had here
    monkeypatch.setattr(paddle, "set_device", taken.append)
    train(SOUND, device="npu:1")
    with pytest.raises(EnvironmentLacks, match=r"no device 'npu:2': 2 of them here"):
        train(SOUND, device="npu:2")
    assert taken == ["npu:1"]


def test_a_full_disk_is_said_and_leaves_no_half_file(train: Train, tmp_path: Path) -> None:
    wide = SOUND.replace("nn.Linear(2, 1)", "nn.Sequential(nn.Linear(2, 4000), nn.Linear(4000, 1))")  # 48 kB
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (16_000, hard))
    try:
        with pytest.raises(EnvironmentLacks, match="no room to write"):
            train(wide)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["run.json"]


def test_a_lock_keeps_a_second_process_out(train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "run").mkdir()
    holder = (
        f"import fcntl, os, sys; h = os.open({str(tmp_path / 'run')!r}, os.O_RDONLY); "
        "fcntl.flock(h, fcntl.LOCK_EX); print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen([sys.executable, "-c", holder], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        monkeypatch.setattr(child, "_LOCK_PATIENCE", 0.2)
        with pytest.raises(UsageError, match="another process is training here"):
            train(SOUND)
        process.communicate()


def test_a_run_that_began_elsewhere_is_not_mixed(train: Train) -> None:
    found = train(SOUND)
    changes: tuple[tuple[str, str, RunDescription], ...] = (
        ("device", "gpu", replace(found, device="gpu")),
        ("paddle", "2.6.2", replace(found, paddle="2.6.2")),
    )
    for name, before, began_with in changes:
        with pytest.raises(UsageError, match=f"the run began with {name} {before}; .* would go on with other bits"):
            train(SOUND, resume=True, began_with=began_with)
