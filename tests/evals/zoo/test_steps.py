"""Decoding steps in the zoo, and the families that are read from checkouts: what holds without their packages."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest

from evals.zoo import decoded
from evals.zoo.calibrated import drawn
from evals.zoo.checkouts import variable
from evals.zoo.families import graphs, recommend, series, steps
from evals.zoo.network import Network, Tensor
from exporter.spec.model import Spec


def test_a_size_and_a_bound_may_be_a_dim_with_a_number_added() -> None:
    mask = Tensor(("batch", "past+1"), "int64", "integers(past,past+1)", "mask")
    network = Network("steps", "Step", lambda: None, (mask,))
    values = drawn(network, 0, np.random.default_rng(0), {"batch": 2, "past": 5})
    assert values.shape == (2, 6) and (values == 5).all()


@pytest.mark.parametrize("decoder", steps.DECODERS, ids=lambda decoder: decoder.name)
def test_a_step_is_a_spec_of_a_decoder(decoder: steps.Decoder) -> None:
    spec = Spec.model_validate(decoded.spec(decoder, 8))
    assert spec.decoding is not None and len(spec.decoding.cache) == 4
    assert set(spec.decoding.held) == {name for name in spec.inputs if name.startswith(("memory", "read", "told"))}


@pytest.mark.parametrize("family", [graphs, recommend, series], ids=lambda family: family.__name__.rpartition(".")[2])
def test_without_a_checkout_there_are_no_networks(family: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(variable(family.__name__.rpartition(".")[2]), raising=False)
    assert family.networks() == []
