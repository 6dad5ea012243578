"""Write small networks as int8 `.pdmodel` and serve them; prints JSON of what came. Run with PIR off."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import paddle
from paddle import nn

from exporter.export.lower.precision.base import Order
from exporter.export.lower.precision.int8_pdmodel import quantise, serve
from exporter.export.lower.precision.kernels import kernels
from exporter.export.lower.precision.kinds.int8 import plugin
from exporter.export.lower.precision.noise import snr_db
from exporter.spec.model import PrecisionSettings

#: By name: the layer under test, the shape of what the network takes, what comes before the layer.
NETWORKS: dict[str, tuple[Any, tuple[int, ...], str]] = {
    "signed convolution": (lambda: nn.Conv2D(16, 16, 3, padding=1), (4, 16, 8, 8), ""),
    "unsigned convolution": (lambda: nn.Conv2D(16, 16, 1), (4, 16, 8, 8), "relu"),
    "after a fused relu": (lambda: nn.Conv2D(16, 16, 3, padding=1), (4, 16, 8, 8), "convolution relu"),
    "after a pool": (lambda: nn.Conv2D(16, 16, 1), (4, 16, 8, 8), "convolution relu pool"),
    "after a residual sum": (lambda: nn.Conv2D(16, 16, 1), (4, 16, 8, 8), "convolution sum relu"),
    "groups": (lambda: nn.Conv2D(16, 16, 3, groups=4), (4, 16, 8, 8), "relu"),
    "signed linear": (lambda: nn.Linear(32, 8), (4, 32), ""),
    "unsigned linear": (lambda: nn.Linear(32, 8), (4, 32), "relu"),
    "square linear of a sequence": (lambda: nn.Linear(32, 32), (4, 6, 32), "relu"),
    "one linear called twice": (lambda: nn.Linear(32, 32, bias_attr=False), (4, 32), "twice"),
    "linear after flatten": (lambda: nn.Linear(16 * 64, 8), (4, 16, 8, 8), "convolution relu flatten"),
}


class Network(nn.Layer):
    """What comes before, and one layer whose weights are all nearly as large as the largest, or drawn."""

    def __init__(self, name: str, *, extreme: bool) -> None:
        super().__init__()
        make, _, self.before = NETWORKS[name]
        generator = np.random.default_rng(0)
        self.layer = make()
        like = self.layer.weight.shape
        drawn = generator.uniform(0.95, 1, like) if extreme else generator.normal(size=like)
        self.layer.weight.set_value(drawn.astype("float32"))
        self.first = nn.Conv2D(16, 16, 1, groups=16, bias_attr=False) if "convolution" in self.before else None
        if self.first is not None:
            self.first.weight.set_value(np.ones((16, 1, 1, 1), "float32"))

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        value = self.first(x) if self.first is not None else x
        value = value + x if "sum" in self.before else value
        value = nn.functional.relu(value) if "relu" in self.before else value
        value = nn.functional.max_pool2d(value, 2) if "pool" in self.before else value
        value = nn.functional.relu(self.layer(value) / 32) if "twice" in self.before else value
        return self.layer(value.flatten(1) if "flatten" in self.before else value)


def served(name: str, place: Path, cpu: str, *, extreme: bool) -> dict[str, Any]:
    """The noise in dB of the served file, and whether the arithmetic says that it may overflow."""
    paddle.disable_static()
    shape = NETWORKS[name][1]
    network = Network(name, extreme=extreme)
    network.eval()
    free = [None, None, *shape[2:]] if len(shape) == 3 else [None, *shape[1:]]
    spec = [paddle.static.InputSpec(free, "float32", name="x")]
    source, into = place / "pdmodel", place / "pdmodel-int8"
    into.mkdir(parents=True)
    paddle.jit.save(paddle.jit.to_static(network, input_spec=spec, full_graph=True), str(source / "model"))
    generator = np.random.default_rng(1)
    value = generator.uniform(0.9, 1, shape) if extreme else generator.normal(size=shape)
    calls = [{"x": value.astype("float32")}]
    quantise(Order("pdmodel", source, "model.pdmodel", into, PrecisionSettings(cpu=cpu), plugin.budget, calls, 4))
    true, got = (serve(folder, "model.pdmodel", calls, int8=low) for folder, low in ((source, False), (into, True)))
    # Out of the range that was calibrated: whatever it is cut down to, it may not be cut off at 16 bits.
    beyond = [{"x": 8 * calls[0]["x"]}]
    louder = serve(into, "model.pdmodel", beyond, int8=True)
    pairs = [(next(iter(a.values())), next(iter(b.values()))) for a, b in zip(true, got, strict=True)]
    layers = kernels(["model.pdmodel", "model.pdiparams"], into)
    return {
        "snr_db": snr_db(pairs),
        "saturates": [layer.weight for layer in layers if layer.pairs.saturate],
        "layers": len(layers),
        "louder": float(np.abs(next(iter(louder[0].values()))).mean() / np.abs(pairs[0][1]).mean()),
    }


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    found = {
        f"{name}, {cpu}{', extreme' if extreme else ''}": served(name, folder / f"{number}", cpu, extreme=extreme)
        for number, (name, cpu, extreme) in enumerate(
            [(name, "any", extreme) for name in NETWORKS for extreme in (True, False)]
            + [("unsigned convolution", "vnni", True), ("after a fused relu", "vnni", True)]
        )
    }
    (folder / "found.json").write_text(json.dumps(found))
