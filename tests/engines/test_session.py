"""What every session goes through, on an engine of the test's own: no setting is quietly another."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import numpy as np
import pytest

from exporter.base.tensors import Array, TensorMap, TensorSpec
from exporter.engines.base import Availability, Engine, EngineRefused, Runnable, Session, Settings, SourceModel
from exporter.engines.session import started

ARTIFACT = Runnable(
    format="source",
    folder=None,
    model="",
    inputs=("x", "n"),
    outputs=("y",),
    source=SourceModel(
        "a:b", None, 0, (TensorSpec("x", "float32", ("batch", 2)), TensorSpec("n", "int64", ())), ("y",), {}
    ),
)
GOOD = {"x": np.ones((3, 2), "float32"), "n": np.array(2)}


class Writer(Engine):
    """An engine that writes into its inputs, and whose settings are as it is told."""

    formats = ("source",)

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def probe(self, device: str) -> Availability:
        return Availability(version="1")

    @contextlib.contextmanager
    def open(self, artifact: Runnable, device: str) -> Iterator[Session]:
        yield WriterSession(self.settings)


class WriterSession:
    def __init__(self, settings: Settings) -> None:
        self.settings, self.provider = settings, "test"

    def run(self, inputs: TensorMap) -> dict[str, Array]:
        assert all(value.flags.c_contiguous for value in inputs.values())
        inputs["x"][...] *= inputs["n"]
        return {"y": inputs["x"]}


def test_a_setting_that_is_not_in_effect_is_refused() -> None:
    engine = Writer(Settings({"threads": 1, "precision": "f32"}, {"threads": 1, "precision": "bf16"}))
    said = "precision 'f32' was asked for and 'bf16' is in effect"
    with pytest.raises(EngineRefused, match=said), started(engine, ARTIFACT, "cpu"):
        pass


def test_a_setting_of_which_the_engine_tells_nothing_is_refused() -> None:
    engine, said = Writer(Settings({"provider": "CUDA"}, {})), "provider 'CUDA' was asked for and None is in effect"
    with pytest.raises(EngineRefused, match=said), started(engine, ARTIFACT, "cpu"):
        pass


def test_more_than_was_asked_may_be_told() -> None:
    with started(Writer(Settings({"threads": 1}, {"threads": 1, "onednn": True})), ARTIFACT, "cpu") as session:
        assert session.settings.effective["onednn"] is True and session.provider == "test"


def test_an_engine_that_writes_into_its_inputs_harms_no_case() -> None:
    with started(Writer(Settings({}, {})), ARTIFACT, "cpu") as session:
        case = {**GOOD, "x": np.asfortranarray(GOOD["x"])}
        for _ in range(2):
            assert (session.run(case)["y"] == 2).all()
        assert (case["x"] == 1).all()


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("x", np.ones((3, 2), "float64"), r"takes x=float32\[batch,2\], and float64\[3, 2\] came"),
        ("x", np.ones((3, 3), "float32"), r"float32\[3, 3\] came"),
        ("x", np.ones(2, "float32"), r"float32\[2\] came"),
        ("x", np.ones((0, 2), "float32"), r"float32\[0, 2\] came"),
        ("n", np.ones(1, "int64"), r"takes n=int64\[\], and int64\[1\] came"),
        ("n", np.array(1, "int32"), r"int32\[\] came"),
    ],
)
def test_what_the_model_does_not_take_is_refused(name: str, value: Array, said: str) -> None:
    with started(Writer(Settings({}, {})), ARTIFACT, "cpu") as session, pytest.raises(EngineRefused, match=said):
        session.run({**GOOD, name: value})


@pytest.mark.parametrize("inputs", [{}, {"x": GOOD["x"]}, {**GOOD, "more": GOOD["n"]}])
def test_inputs_are_all_there_and_no_others(inputs: dict[str, Array]) -> None:
    said = r"the model takes \['x', 'n'\], not"
    with started(Writer(Settings({}, {})), ARTIFACT, "cpu") as session, pytest.raises(EngineRefused, match=said):
        session.run(inputs)
