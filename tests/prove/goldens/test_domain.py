"""Places that are not there are named before a kernel is given them: which input, which value, which layer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import paddle
import paddle.nn.functional as F
import pytest
from paddle import nn

from exporter.base.errors import ModelError, UsageError
from exporter.base.tensors import TensorMap
from exporter.prove.goldens.cases import Case
from exporter.prove.goldens.domain import OutOfRange, checked_places
from exporter.spec.model import Spec


class Net(nn.Layer):
    """A table of 20 words and an LSTM over them."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.lstm = nn.Embedding(20, 8), nn.LSTM(8, 6)

    def forward(self, ids: paddle.Tensor, lengths: paddle.Tensor) -> paddle.Tensor:
        return self.lstm(self.words(ids), sequence_length=lengths)[0]


def spec(ids: str = "integers(0,30)", lengths: str = "integers(1,9)") -> Spec:
    inputs = {
        "ids": {"dtype": "int64", "shape": ["batch", "seq"], "values": ids},
        "lengths": {"dtype": "int64", "shape": ["batch"], "values": lengths},
    }
    sizes = {name: {"min": 1, "typical": size, "max": 9} for name, size in (("batch", 2), ("seq", 5))}
    recipe = {"recipe": "recipes.digits:recipe"} if "dataset" in (ids, lengths) else {}
    weights = {} if recipe else {"weights": "factory"}
    return Spec.model_validate({"name": "net", "model": "m:Net", "inputs": inputs, "dims": sizes, **recipe, **weights})


def refusal(layer: Any, inputs: TensorMap) -> OutOfRange:
    with pytest.raises(OutOfRange) as caught, checked_places(layer, inputs), paddle.no_grad():
        layer(*[paddle.to_tensor(value) for value in inputs.values()])
    return caught.value


CASE = Case("batch=2,seq=5", {"batch": 2, "seq": 5}, 0)
IDS = np.array([[0, 1, 2, 3, 19], [5, 5, 5, 5, 5]])


@pytest.mark.parametrize("values", ["integers(0,30)", "dataset", "ids.npy"])
def test_an_id_beyond_its_table(values: str) -> None:
    found = refusal(Net(), {"ids": IDS + 11, "lengths": np.array([5, 1])})
    assert str(found) == "input 'ids' holds 30, and the table of 20 rows of words (Embedding) allows 0 to 19"
    error = found.for_user(spec(ids=values), CASE)
    assert isinstance(error, UsageError) and error.where == "inputs.ids, case batch=2,seq=5"
    assert "integers(0,20)" in error.hint and (values.partition("(")[0] in error.hint or values == "dataset")


@pytest.mark.parametrize(("lengths", "value"), [([6, 1], 6), ([5, 10**6], 10**6), ([1, -1], -1)])
def test_a_length_beyond_its_sequence(lengths: list[int], value: int) -> None:
    found = refusal(Net(), {"ids": IDS, "lengths": np.array(lengths)})
    assert str(found) == f"input 'lengths' holds {value}, and the sequence of 5 steps of lstm (LSTM) allows 0 to 5"
    assert found.for_user(spec(), CASE).hint == "write values: integers(1,seq+1)"


USES: dict[str, Callable[[Any, Any], Any]] = {
    "item": lambda table, ids: table[ids],
    "item of columns": lambda table, ids: table[:, ids],
    "gather": lambda table, ids: paddle.gather(table, ids),
    "gather of columns": lambda table, ids: paddle.gather(table, ids, axis=1),
    "gather_nd": lambda table, ids: paddle.gather_nd(table, ids[:, None]),
    "index_select": lambda table, ids: paddle.index_select(table, ids),
    "take_along_axis": lambda table, ids: paddle.take_along_axis(table, ids[:, None], 0),
    "index_sample": lambda table, ids: paddle.index_sample(table, paddle.tile(ids, [7, 1])),
    "one_hot": lambda table, ids: F.one_hot(ids, 7) + table.sum(),
    "embedding": lambda table, ids: F.embedding(ids, table),
}


class Uses(nn.Layer):
    def __init__(self, use: str, factor: int = 1) -> None:
        super().__init__()
        self.use, self.factor = use, factor
        self.table = self.create_parameter([7, 7])

    def forward(self, ids: paddle.Tensor) -> paddle.Tensor:
        return USES[self.use](self.table, ids * self.factor if self.factor > 1 else ids)


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("beyond", [7, 10**9, -8])
def test_every_operator_that_takes_places_is_watched(use: str, beyond: int) -> None:
    found = refusal(Uses(use), {"ids": np.array([0, beyond, 6])})
    assert f"input 'ids' holds {beyond}" in str(found) and "of . (Uses)" in str(found)


@pytest.mark.parametrize("use", USES)
def test_the_last_place_is_one(use: str) -> None:
    layer, ids = Uses(use), np.array([0, 6])
    before = layer(paddle.to_tensor(ids)).numpy()
    with checked_places(layer, {"ids": ids}):
        assert np.array_equal(layer(paddle.to_tensor(ids)).numpy(), before)


def test_what_forward_computes_is_no_input_s_fault() -> None:
    found = refusal(Uses("item", factor=2), {"ids": np.array([1, 5])})
    assert "forward computes 10" in str(found) and isinstance(found.for_user(spec(), CASE), ModelError)


def test_nothing_stays_patched() -> None:
    before = paddle.Tensor.__getitem__, paddle._C_ops.embedding
    refusal(Net(), {"ids": IDS + 11, "lengths": np.array([5, 1])})
    assert (paddle.Tensor.__getitem__, paddle._C_ops.embedding) == before
