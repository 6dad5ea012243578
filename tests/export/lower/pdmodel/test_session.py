"""The context manager: what it changes, and that it puts everything back."""

import functools
import gc
import inspect
import threading
from pathlib import Path

import paddle
import paddle.tensor.math
import pytest
from packaging.version import Version
from paddle.base.framework import Block, Variable

from exporter.export.lower.pdmodel.session import legacy_export
from exporter.paddle.refusal import CannotLower
from exporter.paddle.sunk import sunk_apis

RAW = paddle.tensor.math.multiply  # the C++ entry, taken before any export


class _Holder:
    def __init__(self) -> None:
        self.attribute = RAW
        self.listed = [RAW]
        self.mapped = {"op": RAW}
        self.partial = functools.partial(RAW)

    inherited = RAW

    def default(self, x, y, op=RAW):
        return op(x, y)


def _closure():
    held = RAW
    return lambda x, y: held(x, y)


def _state():
    """Every attribute that an export touches, by identity."""
    owners = (paddle._C_ops, paddle, paddle.Tensor, Variable, Block, paddle.nn.functional, paddle.tensor.math)
    functions = (paddle.nn.functional.normalize, paddle.linalg.solve, paddle.fft.fft_c2c)
    state = {(id(owner), name): id(value) for owner in owners for name, value in vars(owner).items()}
    return state | {function.__name__: id(function.__code__) for function in functions}


def test_everything_is_put_back():
    before, flag = _state(), paddle.get_flags("FLAGS_enable_pir_api")
    with legacy_export():
        assert _state() != before
        assert paddle.get_flags("FLAGS_enable_pir_api") == {"FLAGS_enable_pir_api": False}
    assert _state() == before
    assert paddle.get_flags("FLAGS_enable_pir_api") == flag


def test_everything_is_put_back_after_an_exception():
    before = _state()
    with pytest.raises(KeyError), legacy_export():
        raise KeyError
    assert _state() == before


@pytest.mark.parametrize("frozen", [False, True])
def test_references_that_user_code_took_earlier_follow_and_return(frozen):
    """Also where the collector was told to leave alone what there is, as a program does that starts many processes."""
    if frozen:
        gc.freeze()
    holder, closure = _Holder(), _closure()
    held = {
        "global": lambda: globals()["RAW"],
        "attribute": lambda: holder.attribute,
        "list": lambda: holder.listed[0],
        "dict": lambda: holder.mapped["op"],
        "partial": lambda: holder.partial.func,
        "class": lambda: _Holder.inherited,
        "default": lambda: _Holder.default.__defaults__[0],
        "closure": lambda: closure.__closure__[0].cell_contents,
    }
    original = paddle._C_ops.multiply
    with legacy_export():
        now = {name: read() for name, read in held.items()}
        inside = paddle._C_ops.multiply
    assert now == dict.fromkeys(held, inside)
    assert inside is not original
    assert {name: read() for name, read in held.items()} == dict.fromkeys(held, original)


def test_a_sum_does_not_read_the_source_of_the_whole_stack(monkeypatch, tmp_path):
    """Paddle does, to warn of Paddle 1.x: 7 ms for each `+`, more the deeper the call."""

    class Sum(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.linear = paddle.nn.Linear(2, 2)

        def forward(self, x):
            return self.linear(x) + x

    called = []
    stock = inspect.stack
    monkeypatch.setattr(inspect, "stack", lambda *arguments: called.append(arguments) or stock(*arguments))
    with legacy_export():
        spec = paddle.static.InputSpec([None, 2], "float32", "x")
        layer = paddle.jit.to_static(Sum(), input_spec=[spec], backend=None, full_graph=True)
        paddle.jit.save(layer, str(tmp_path / "model"))
    assert (tmp_path / "model.pdmodel").is_file() and not called


def test_a_nested_entry_changes_nothing_and_ends_nothing():
    before = _state()
    with legacy_export(Version("2.6")):
        outer = _state()
        with legacy_export(Version("2.6")):
            assert _state() == outer
        assert _state() == outer
        with pytest.raises(RuntimeError, match=r"already exports for Paddle 2\.6"), legacy_export(Version("3.0")):
            pass
        assert _state() == outer
    assert _state() == before


def test_a_second_thread_is_refused():
    complaints = []

    def enter():
        try:
            with legacy_export():
                complaints.append("entered")
        except RuntimeError as error:
            complaints.append(str(error))

    with legacy_export():
        thread = threading.Thread(target=enter)
        thread.start()
        thread.join()
    assert complaints == ["another thread is exporting a legacy program; use one process for each export"]
    with legacy_export():
        pass


def test_eager_code_computes_the_same_beside_an_export():
    x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
    apart = [paddle.matmul(x, x), x.sum(axis=0), x * 2, paddle.nn.functional.gelu(x), paddle.shape(x)]
    with legacy_export():
        beside = [paddle.matmul(x, x), x.sum(axis=0), x * 2, paddle.nn.functional.gelu(x), paddle.shape(x)]
    for one, other in zip(apart, beside, strict=True):
        assert one.numpy().tolist() == other.numpy().tolist()


def test_nothing_of_ours_stays_referenced():
    with legacy_export():
        inside = [paddle._C_ops.tanh]
    gc.collect()
    holders = [one for one in gc.get_referrers(inside[0]) if one is not inside]
    assert [type(one) for one in holders if isinstance(one, (dict, type))] == []


def test_all_sunk_apis_are_replaced():
    with legacy_export():
        modules = {name: getattr(paddle._C_ops, name).__module__ for name in sunk_apis()}
    assert set(modules.values()) == {"paddle._C_ops"}


class _Refused(paddle.nn.Layer):
    def forward(self, x):
        y = paddle.tanh(x)
        return paddle._C_ops.share_data(y)  # the line of the refusal


class _RefusedInABranch(paddle.nn.Layer):
    def forward(self, x):
        while paddle.sum(x) < 10:
            if paddle.sum(x) > 0:
                x = _refused_by_a_helper(x)
            x = x * 2
        return x


def _refused_by_a_helper(x):
    return paddle._C_ops.share_data(x)  # the line of the refusal, two blocks further in


@pytest.mark.parametrize(
    ("layer", "mark"),
    [(_Refused, "# the line of the refusal"), (_RefusedInABranch, "# the line of the refusal, two blocks further in")],
)
def test_a_refusal_names_api_line_and_way_out(layer, mark, tmp_path):
    spec = [paddle.static.InputSpec([2, 3], "float32", "x")]
    with pytest.raises(CannotLower) as caught, legacy_export():
        paddle.jit.save(layer(), str(tmp_path / "m"), input_spec=spec)
    source = Path(__file__).read_text().splitlines()
    line = next(number for number, text in enumerate(source, 1) if text.endswith(mark))
    assert caught.value.where == f"{__file__}:{line}"
    assert caught.value.what == "paddle._C_ops.share_data: runs only in C++, where no legacy program can be built"
    assert "pir" in caught.value.hint
