"""The line of the model's code that a file recorded, at the operator that is replayed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import paddle
import pytest

from exporter.base.readers.callstack import line_of
from exporter.base.readers.program import Block, Operator, read_operators
from exporter.export.sources.program import build
from exporter.export.sources.recorded import watched_by
from exporter.paddle.names import forget_parameter_names
from exporter.prove.root_cause.watch import watching
from tests.command import environment
from tests.export.sources.networks import NETWORKS, saved

#: What Paddle 3.3.1 can trace for the legacy writer.
_NETWORK = """
import sys
import paddle
import paddle.nn.functional as F

class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.first, self.norm = paddle.nn.Conv2D(3, 8, 3), paddle.nn.BatchNorm2D(8)
        self.last = paddle.nn.Linear(8, 5)

    def forward(self, x):
        y = F.relu(self.norm(self.first(x)))
        y = F.adaptive_avg_pool2d(y, 1).flatten(1)
        return F.softmax(self.last(y) * 2, axis=-1)

layer = Net()
layer.eval()
for name in ("recorded", "plain"):
    specs = [paddle.static.InputSpec([None, 3, 16, 16], "float32", "x")]
    paddle.jit.save(layer, name, input_spec=specs, clip_extra=name == "plain")
"""


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two `.pdmodel` that stock Paddle wrote: `recorded` says where each operator was called. The code is gone."""
    folder = tmp_path_factory.mktemp("old")
    code = folder / "net.py"
    code.write_text(_NETWORK)
    variables = environment(FLAGS_enable_pir_api="0")
    subprocess.run([sys.executable, str(code)], cwd=folder, env=variables, check=True, capture_output=True)
    code.unlink()
    return folder


def replayed(program: Path) -> list[tuple[Operator, int]]:
    """Every operator of the file that ran, with the number of values that it read."""
    forget_parameter_names()
    layer = build(str(program), ["x"], str(program.with_suffix(".pdiparams")))
    layer.eval()
    seen: list[tuple[Operator, int]] = []

    def watcher(operator: Operator, reads: Sequence[object], run):
        seen.append((operator, len(reads)))
        return run()

    with watched_by(watcher), paddle.no_grad():
        layer(paddle.zeros([1, 3, 16, 16]))
    return seen


def test_each_operator_has_the_line_that_called_it(old: Path) -> None:
    lines = {operator.name: operator.line for operator, _ in replayed(old / "recorded.pdmodel")}
    said = {
        "conv2d": "self.first(x)",
        "pool2d": "adaptive_avg_pool2d",
        "matmul": "self.last(y)",
        "softmax": "F.softmax",
    }
    for name, text in said.items():
        path, _, line = lines[name].rpartition(":")
        assert path == str(old / "net.py") and text in _NETWORK.splitlines()[int(line) - 1], lines[name]


def test_a_file_that_records_nothing_gives_no_line(old: Path, tmp_path: Path) -> None:
    forget_parameter_names()
    saved("picture", tmp_path)
    for program in (old / "plain.pdmodel", tmp_path / "inference.json"):
        seen = replayed(program)
        assert {"conv2d", "softmax"} <= {operator.name for operator, _ in seen}
        assert not any(operator.line for operator, _ in seen)


def test_a_json_may_record_the_stack_and_the_sublayer(tmp_path: Path) -> None:
    """No Paddle of 3.3 writes the stack there; whoever does names the line."""
    forget_parameter_names()
    saved("picture", tmp_path)
    program = json.loads((tmp_path / "inference.json").read_text())
    for operator in program["program"]["regions"][0]["blocks"][0]["ops"]:
        if operator["#"] == "1.conv2d":
            frames = ['  File "net.py", line 7, in forward', "    y = self.first(x)"]
            stack = [{"#": "0.a_str", "D": frame} for frame in frames]
            operator["A"].append({"N": "op_callstack", "AT": {"#": "0.a_array", "D": stack}})
    (tmp_path / "inference.json").write_text(json.dumps(program))
    (conv,) = (one for one in read_operators(tmp_path / "inference.json").operators if one.name == "conv2d")
    assert (conv.line, conv.layer[:7]) == ("net.py:7", "/Conv2D") and "op_callstack" not in conv.attributes


@pytest.mark.parametrize(
    ("paths", "line"),
    [
        (["a/net.py", "/x/site-packages/paddle/nn/layer/layers.py"], "a/net.py:1"),
        (["train.py", "/x/site-packages/ppocr/net.py", "<decorator-gen-1>"], "/x/site-packages/ppocr/net.py:2"),
        (["/x/site-packages/paddle/nn/layer/layers.py"], ""),
        ([], ""),
    ],
)
def test_the_innermost_frame_outside_of_paddle_is_told(paths: list[str], line: str) -> None:
    frames = [f'  File "{path}", line {number}, in forward' for number, path in enumerate(paths, 1)]
    assert line_of(frames) == line


@pytest.mark.parametrize("name", NETWORKS)
def test_a_replayed_program_is_watched_operator_by_operator(name: str, tmp_path: Path) -> None:
    forget_parameter_names()
    saved(name, tmp_path)
    program = tmp_path / "inference.json"
    forget_parameter_names()
    parameters = str(program.with_suffix(".pdiparams")) if name != "deciding" else ""
    layer = build(str(program), [NETWORKS[name][1][0][2]], parameters)
    layer.eval()
    values = {"picture": np.ones([1, 3, 16, 16], "float32"), "text": np.ones([1, 3], "int64")}
    with watching(layer) as calls, paddle.no_grad():
        layer(paddle.to_tensor(values.get(name, np.ones([1, 4], "float32"))))
    root, *operators = calls
    assert not root.operator and all(call.operator and call.parent == 0 for call in operators)
    assert set(root.output_keys) <= {key for call in operators for key in call.output_keys}
    read = {key for call in operators for key in call.input_keys} | set(root.output_keys)
    assert all(set(call.output_keys) <= read for call in operators), "what nothing reads says nothing"
    if name == "deciding":
        assert {"if", "while"} <= {call.kind for call in operators}, "what runs inside is part of them"
        main = read_operators(program)
        assert isinstance(main, Block) and len(operators) <= len(main.operators)
