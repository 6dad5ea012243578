"""EX122: each cure is run. It keeps eager's answer, and the trace has it too."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from exporter.base.diagnostics import Diagnostic, Severity
from exporter.check.run import check

NET = """
import paddle
import paddle.nn.functional as F


class Net(paddle.nn.Layer):
    def forward(self, x):
        {body}


SPECS = [paddle.static.InputSpec([None, 4], "float32", "x")]
"""
#: What follows `y = x * 2.0 - 1.0`; the in-place line comes first.
MISSING = [
    "y.fill_diagonal_(0.25); return y",
    "y.set_value(paddle.zeros_like(x) + 1.0); return y",
    "y.set_value(value=x + 1.0); return y",
    "y.fill_(3.0); return y + x",
    "y.fill_(value=3.0); return y + x",
    "y.zero_(); return y + x",
    "y.copy_(x + 1.0, True); return y * 2.0",
]
FOLLOWED = [
    "F.relu_(y); return y",
    "F.leaky_relu_(y, negative_slope=0.5); return y",
    "F.softmax_(y, axis=0); return y",
    "paddle.tanh_(y); return y",
    "y.add_(paddle.ones([4])); return y",
    "y.clip_(min=0.0); return y",
    "y.scale_(3.0, bias=1.0); return y",
    "y.masked_fill_(y > 0, 5.0); return y",
]
VIEWS = [
    "row = y[0]; row.add_(paddle.full([4], 5.0)); return y * 1.0",
    "row = y[0]; row.add_(paddle.full([4], 5.0)); return y * row",
    "part = y[:, 1:3]; F.relu_(part); return y.sum(0), part",
]


def finding(place: Path, body: str) -> tuple[Diagnostic, str]:
    """The finding and the text of the network, each statement on a line."""
    lines = ["y = x * 2.0 - 1.0", *body.split("; ")]
    text = NET.replace("{body}", "\n        ".join(lines))
    (place / "net.py").write_text(text)
    (found,) = check([str(place / "net.py")])
    assert found.code == "EX122"
    return found, text


def cured(found: Diagnostic, text: str) -> str:
    """The text with the cure in place of the line at fault."""
    (statement,) = re.findall("`(.*= .*)`", found.cure)
    lines = text.splitlines()
    lines[found.location.line - 1] = f"        {statement}"
    return "\n".join(lines) + "\n"


def outputs(path: Path, text: str, traced: bool) -> list[Any]:
    import paddle

    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    layer = module.Net()
    layer.eval()
    if traced:
        layer = paddle.jit.to_static(layer, input_spec=module.SPECS, backend=None, full_graph=True)
    given = layer(paddle.to_tensor(np.arange(12, dtype="float32").reshape(3, 4) / 6))
    return [np.array(one.numpy()) for one in paddle.utils.flatten(given)]


@pytest.mark.parametrize("body", [*MISSING, *FOLLOWED, *VIEWS])
def test_a_cure_runs_and_keeps_what_eager_gives(body: str, tmp_path: Path) -> None:
    pytest.importorskip("paddle")
    found, text = finding(tmp_path, body)
    wanted = outputs(tmp_path / "before.py", text, traced=False)
    better = cured(found, text)
    for traced in (False, True):
        given = outputs(tmp_path / f"after_{traced}.py", better, traced)
        for one, other in zip(wanted, given, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6)


@pytest.mark.parametrize("body", [*MISSING, *VIEWS])
def test_what_no_export_can_follow_is_an_error(body: str, tmp_path: Path) -> None:
    assert finding(tmp_path, body)[0].severity is Severity.ERROR


@pytest.mark.parametrize("body", FOLLOWED)
def test_what_the_exporter_follows_is_a_warning_about_stock_paddle(body: str, tmp_path: Path) -> None:
    found, _ = finding(tmp_path, body)
    assert found.severity is Severity.WARNING and "exporter's own export follows it" in found.message


def test_a_view_that_is_no_item_is_told_what_to_compute(tmp_path: Path) -> None:
    found, _ = finding(tmp_path, "flat = y.reshape([-1]); flat.add_(paddle.ones([1])); return y")
    assert found.cure == "compute the new value, `flat.add(paddle.ones([1]))`, and what shares its data from that"
