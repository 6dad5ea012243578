"""Building the user's layer: again and again in one process, with the same weights each time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from exporter.base.errors import ModelError
from exporter.export.trace.layer import load_layer, parameters
from tests.command import ROOT

NAMED = "tests.models.named"


@pytest.fixture(autouse=True)
def where_the_models_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.mark.parametrize("network", ["Res2Net", "Tied"])
def test_a_network_that_names_its_parameters_is_built_as_often_as_asked_with_the_same_weights(network: str) -> None:
    first, second, third = (load_layer(f"{NAMED}:{network}", None, 7) for _ in range(3))
    for name, value in parameters(first).items():
        assert np.array_equal(value, parameters(second)[name]), name
        assert np.array_equal(value, parameters(third)[name]), name
    assert {one.name for one in first.parameters()} >= {"conv1_weights" if network == "Res2Net" else "tied"}


def test_two_tensors_of_one_name_are_refused_by_both_their_names() -> None:
    with pytest.raises(ModelError, match=r"'first.weight' and 'second.weight' are two tensors of one name") as caught:
        load_layer(f"{NAMED}:OneNameTwice", None, 0)
    assert "Parameter" in caught.value.hint and caught.value.where == f"{NAMED}:OneNameTwice"


def test_a_name_that_a_factory_gives_twice_is_still_paddle_s_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In dygraph a name shares no weights; Paddle says so, and building anew must not silence it."""
    source = "from paddle import ParamAttr, nn\n\n\ndef build():\n    name = ParamAttr(name='w')\n"
    (tmp_path / "same_name.py").write_text(
        f"{source}    return nn.Sequential(nn.Linear(4, 4, name), nn.Linear(4, 4, name))\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    for _ in range(2):
        with pytest.raises(ValueError, match=r"parameter name .w. have be been used"):
            load_layer("same_name:build", None, 0)


def test_infinity_is_a_weight_like_another() -> None:
    held = parameters(load_layer("tests.models.masked:Svtr", None, 0))
    masks = [value for name, value in held.items() if name.endswith("mask")]
    assert len(masks) == 3 and all(np.isneginf(mask).any() for mask in masks)


def test_nan_is_refused_by_its_tensor_where_a_checkpoint_holds_it() -> None:
    assert np.isnan(parameters(load_layer("tests.models.masked:Scratch", None, 0))["scratch"]).all()
    with pytest.raises(ModelError, match="hold NaN: 4 of the 4 numbers of 'scratch'"):
        load_layer("tests.models.masked:stored", None, 0)
