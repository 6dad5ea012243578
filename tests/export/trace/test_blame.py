"""Whose line an error names: the user's, or that of the package that the network comes from."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import paddle
import pytest

from exporter.base.errors import ModelError
from exporter.base.tensors import TensorSpec
from exporter.export.trace.traced import trace
from exporter.paddle import user_line

NETWORK = """
import paddle

class Net(paddle.nn.Layer):
    def forward(self, x):
        y = x.sum()
        return x * max(1.0, float(y))
"""
LINE = 7  # a comparison by Python of a value that does not exist while the model is traced


def module(path: Path, text: str) -> ModuleType:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def refused(layer: paddle.nn.Layer) -> str:
    with pytest.raises(ModelError) as caught:
        trace(layer.eval(), [TensorSpec("x", "float32", ("batch", 4))], None, {})
    return caught.value.where


def test_a_network_of_an_installed_package_is_refused_at_its_own_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site-packages"
    monkeypatch.setattr(user_line, "_SITE", {str(site)})
    monkeypatch.setattr(user_line, "_ELSEWHERE", (*user_line._ELSEWHERE, str(site)))
    net = site / "strangers" / "net.py"
    assert refused(module(net, NETWORK).Net()) == f"{net}:{LINE}"


def test_an_output_that_is_no_tensor_is_refused_where_forward_is_defined(tmp_path: Path) -> None:
    text = NETWORK.replace("y = x.sum()", "y = x + 1").replace("x * max(1.0, float(y))", "y, None")
    net = tmp_path / "net.py"
    assert refused(module(net, text).Net()) == f"{net}:5"


def test_the_users_own_line_comes_before_that_of_a_package_it_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site, own = tmp_path / "site-packages", tmp_path / "mine.py"
    monkeypatch.setattr(user_line, "_SITE", {str(site)})
    monkeypatch.setattr(user_line, "_ELSEWHERE", (*user_line._ELSEWHERE, str(site)))
    text = f'  File "{own}", line 3, in forward\n  File "{site}/strangers/net.py", line {LINE}, in forward\n'
    own.write_text("")
    assert user_line.quoted_line(text) == f"{own}:3"
    assert user_line.quoted_line(text.splitlines()[1]) == f"{site}/strangers/net.py:{LINE}"


def test_what_calls_the_exporter_is_not_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site, script = tmp_path / "site-packages", tmp_path / "script.py"
    monkeypatch.setattr(user_line, "_SITE", {str(site)})
    monkeypatch.setattr(user_line, "_ELSEWHERE", (*user_line._ELSEWHERE, str(site)))
    script.write_text("")
    stack = (f"{script}", user_line.__file__, f"{site}/strangers/net.py")
    text = "".join(f'  File "{path}", line {LINE}, in f\n' for path in stack)
    assert user_line.quoted_line(text) == f"{site}/strangers/net.py:{LINE}"
    assert (
        user_line.quoted_line(f'  File "{user_line.__file__}", line 1, in f\n{text}')
        == f"{site}/strangers/net.py:{LINE}"
    )
    a_rewrite = "".join(reversed(text.splitlines(keepends=True)[1:]))
    assert user_line.quoted_line(a_rewrite) == f"{site}/strangers/net.py:{LINE}"


@pytest.mark.parametrize("library", ["paddle/nn/layer/layers.py", "numpy/core/multiarray.py"])
def test_a_line_of_paddle_or_numpy_is_nobodys(library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(user_line, "_SITE", {str(tmp_path)})
    monkeypatch.setattr(user_line, "_ELSEWHERE", (*user_line._ELSEWHERE, str(tmp_path)))
    assert user_line.quoted_line(f'File "{tmp_path}/{library}", line 5, in f') == ""


def test_the_kind_of_an_error_is_named_once(tmp_path: Path) -> None:
    with pytest.raises(ModelError) as caught:
        trace(module(tmp_path / "net.py", NETWORK).Net().eval(), [TensorSpec("x", "float32", ("batch", 4))], None, {})
    assert caught.value.what.startswith("trace: TypeError: bool(Tensor)")
