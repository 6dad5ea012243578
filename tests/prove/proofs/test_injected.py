from __future__ import annotations

from pathlib import Path

import numpy as np
from onnx import helper

from exporter.base.tensors import save
from exporter.export.lower.precision.kinds.int8 import plugin as int8
from exporter.process.workers import Setting
from exporter.prove.proofs.quantisation.injected import Sources, sources_of_noise
from tests.export.lower.passes.models import constant, made, model
from tests.export.lower.precision.test_int8 import FIRST, SECOND, order
from tests.export.lower.precision.test_int8 import artifact as stored
from tests.prove.proofs.subjects import subject


def spread() -> bytes:
    """Two linear layers, and between them values beside others that are a thousand times as large."""
    nodes = [
        constant("one.w_0", FIRST),
        constant("many", 1000),
        constant("two.w_0", np.concatenate([SECOND, np.zeros_like(SECOND)])),
        helper.make_node("MatMul", ["x", "one.w_0"], ["hidden"]),
        helper.make_node("Mul", ["hidden", "many"], ["large"]),
        helper.make_node("Concat", ["hidden", "large"], ["both"], axis=1),
        helper.make_node("MatMul", ["both", "two.w_0"], ["y"]),
    ]
    return made(model(nodes, {"x": [None, 16]})).content


def test_noise_is_blamed_on_what_gives_it_and_not_on_the_layer_behind(tmp_path: Path) -> None:
    details = dict(int8.write(order(tmp_path, spread())))
    inputs = np.random.default_rng(5).standard_normal((8, 16)).astype("float32")
    save(tmp_path / "golden.safetensors", {"batch=4/input/x": inputs})
    plain, low = stored(tmp_path, "onnx", {}), stored(tmp_path, "onnx-int8", details)
    sources = sources_of_noise(subject(plain, low, folder=tmp_path).bench(), low, Setting())
    assert {"the weights of one", "the weights of two", "the input x"} < set(sources.ratios["y"])
    assert sources.worst("y").startswith(
        "most of the noise arises in what Concat.0 gives: this alone, rounded, leaves "
    )
    alone = subject(low, folder=tmp_path).bench()
    assert sources_of_noise(alone, low, Setting()) == Sources(), "there is no float32 to put a rounding into"
    assert sources.worst("another") == ""
