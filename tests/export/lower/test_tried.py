"""One layer for a trial and for every format that is traced: in forks, so that none meets what another has left."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from typing import Any

import numpy as np
import paddle
import pytest

from exporter.base.errors import CannotRun, ChildCrashed, ModelError
from exporter.export.lower import convert
from exporter.export.lower.convert import convert_all
from exporter.process import workers
from exporter.process.workers import Limits, Setting, call
from exporter.prove.goldens.record import Exported, record
from exporter.prove.preflight.cases import trial
from exporter.spec.model import PrecisionSettings, Spec


class Counting(paddle.nn.Layer):
    """Gives other numbers each time."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def forward(self, x: Any) -> Any:
        self.calls += 1
        return x * self.calls


class Deadly(paddle.nn.Layer):
    def forward(self, x: Any) -> Any:
        os.kill(os.getpid(), signal.SIGSEGV)
        return x


class Narrow(paddle.nn.Layer):
    def forward(self, x: Any) -> Any:
        if x.shape[0] == 3:
            raise ValueError("three is one too many")
        return x


class Unseeded(paddle.nn.Layer):
    """Has other weights each time it is built."""

    def __init__(self) -> None:
        super().__init__()
        draw = np.random.default_rng().standard_normal(2).astype("float32")
        self.register_buffer("draw", paddle.to_tensor(draw))

    def forward(self, x: Any) -> Any:
        return x * self.draw


class Dense(paddle.nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.fc = paddle.nn.Linear(2, 300)

    def forward(self, x: Any) -> Any:
        return self.fc(x)


class Legacy(paddle.nn.Layer):
    """Dies while it is traced for `.pdmodel`."""

    deadly = True

    def forward(self, x: Any) -> Any:
        if self.deadly and not paddle.in_dynamic_mode() and not paddle.framework.in_pir_mode():
            os.kill(os.getpid(), signal.SIGSEGV)
        return paddle.tanh(x)


class Threaded(Legacy):
    """Cannot be forked."""

    deadly = False

    def __init__(self) -> None:
        super().__init__()
        threading.Thread(target=threading.Event().wait, daemon=True).start()


class UnseededThreaded(Unseeded, Threaded):
    """Has other weights for each format."""


def spec_of(layer: type[paddle.nn.Layer], *formats: str) -> Spec:
    return Spec.model_validate(
        {
            "name": "tried",
            "model": f"{__name__}:{layer.__name__}",
            "weights": "factory",
            "inputs": {"x": {"dtype": "float32", "shape": ["batch", 2]}},
            "dims": {"batch": {"min": 1, "typical": 2, "max": 3}},
            "formats": formats or ["pir"],
        }
    )


def test_what_forward_leaves_in_the_layer_is_not_traced(tmp_path: Path) -> None:
    convert_all(spec_of(Counting), None, tmp_path, Setting(), trial=trial(spec_of(Counting)))
    made = paddle.jit.load(str(tmp_path / "pir/model"))(paddle.ones([2, 2]))
    assert np.array_equal(made.numpy(), np.ones((2, 2)))


@pytest.mark.parametrize(
    ("layer", "said", "where"),
    [(Deadly, "SIGSEGV", "running forward at batch=1"), (Narrow, "three is one", "test_tried.py:")],
)
def test_a_layer_that_does_not_run_is_no_fault_of_the_format(
    layer: type[paddle.nn.Layer], said: str, where: str, tmp_path: Path
) -> None:
    with pytest.raises(CannotRun, match=said) as raised:
        convert_all(spec_of(layer), None, tmp_path, Setting(), trial=trial(spec_of(layer)))
    assert where in raised.value.where and not raised.value.what.startswith("pir")


def test_every_format_holds_the_weights_of_one_layer(tmp_path: Path) -> None:
    made = convert_all(spec_of(Unseeded, "pir", "pdmodel", "onnx"), None, tmp_path, Setting())
    weights = [set(artifact.weights.values()) for artifact in made.artifacts]
    assert weights == [set(made.parameters.values())] * 3
    assert {name for artifact in made.artifacts for name in artifact.origins.values()} == {"draw"}


def test_weights_that_are_others_when_goldens_are_recorded_are_refused(tmp_path: Path) -> None:
    spec = spec_of(Unseeded)
    made = convert_all(spec, None, tmp_path, Setting())
    exported = Exported(made.output_names, made.parameters)
    with pytest.raises(ModelError, match="other weights than when it was exported"):
        record(spec, None, exported, tmp_path / "golden.safetensors", Setting())


def test_a_format_whose_fork_dies_is_named(tmp_path: Path) -> None:
    for number, formats in enumerate((("pdmodel", "pir"), ("pir", "pdmodel"))):
        into = tmp_path / str(number)
        into.mkdir()
        with pytest.raises(ChildCrashed, match="pdmodel: the child died by SIGSEGV"):
            convert_all(spec_of(Legacy, *formats), None, into, Setting())


def test_a_layer_with_threads_is_built_for_each_format(tmp_path: Path) -> None:
    steps: list[str] = []
    made = convert_all(
        spec_of(Threaded, "pir", "pdmodel"),
        None,
        tmp_path,
        Setting(on_event=lambda event: steps.append(event["doing"])),
    )
    assert steps.count("building the layer") == 2 and len(made.artifacts) == 2


def test_other_weights_for_each_format_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="other weights each time"):
        convert_all(spec_of(UnseededThreaded, "pir", "pdmodel"), None, tmp_path, Setting())


def test_what_is_made_of_a_large_file_gets_time_by_its_size(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    limits: dict[str, float] = {}

    def watched(job: Any, request: Any, limit: Limits, **more: Any) -> Any:
        limits[job.function.__name__] = limit.seconds
        return call(job, request, limit, **more)

    monkeypatch.setattr(convert, "call", watched)
    monkeypatch.setattr(workers, "SECONDS_A_GIGABYTE", 1e10)  # 10 s for each byte
    spec = spec_of(Dense, "onnx").model_copy(
        update={"precisions": {"fp32": PrecisionSettings(), "fp16": PrecisionSettings()}}
    )
    convert_all(spec, None, tmp_path, Setting())
    written = sum(path.stat().st_size for path in (tmp_path / "onnx").iterdir())
    assert limits["export_traced"] == Setting().limits.seconds
    assert limits["lower"] == 10 * written > Setting().limits.seconds
