"""Which products of an int8 file an x86 engine computes in 8 bits, and whether a pair of them can leave 16 bits.

Read from the file alone, whoever wrote it. What the engines make of a file was measured on ONNX Runtime 1.31.1 and
Paddle 3.3.1 (oneDNN) with AVX2 and, oneDNN, SSE4.1; see tests/export/lower/precision/test_kernels.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from exporter.base.readers.nodes import Node, nodes
from exporter.base.tensors import Array
from exporter.export.lower.base import main_file
from exporter.export.lower.precision.saturation import ACTIVATION, WEIGHT, Pairs, pairs
from exporter.export.lower.stored import stored_tensors

#: ONNX operators that are fused with the DequantizeLinear of both sides; of each the axis of its output channels.
_BETWEEN_ROUNDINGS = {"Conv": 0, "ConvTranspose": 1, "Gemm": 1, "MatMul": -1}
#: ONNX operators on integers, the place of their weight, and its axis of output channels.
_ON_INTEGERS = {
    **{"ConvInteger": (1, 0), "QLinearConv": (3, 0)},
    **{"MatMulInteger": (1, -1), "MatMulIntegerToFloat": (1, -1), "DynamicQuantizeMatMul": (1, -1)},
    **{"QLinearMatMul": (3, -1), "QGemm": (3, -1), "QAttention": (1, -1)},
}
#: Paddle's operators with int8 kernels in oneDNN, and the slots of what they take and of their weight.
_CONVOLUTIONS, PRODUCTS = ("conv2d", "depthwise_conv2d"), ("mul", "matmul_v2")
#: What hands scale and sign of its input on (compute_propagate_scales_onednn_pass.cc, 3.3.1), and where that goes in.
IMMUTABLE = {
    **dict.fromkeys(("transpose2", "reshape2", "pool2d", "nearest_interp", "nearest_interp_v2", "split"), "X"),
    **dict.fromkeys(("slice", "shape"), "Input"),
}
#: What a relu6 is fused into, which then gives unsigned codes; where it stands alone they are signed, and a relu's not.
FUSES = (*_CONVOLUTIONS, *PRODUCTS, "conv2d_transpose", "elementwise_add", "fc")


@dataclass(frozen=True)
class Kernel:
    """One layer in int8: its weight's name in the file, and the sums of pairs that it can reach."""

    weight: str
    pairs: Pairs


@dataclass(frozen=True)
class Convolution:
    """One int8 convolution as oneDNN gets it.

    `codes` are its weights as the engine rounds them: always from its own largest in each channel. `chain` are the
    values from a relu to what it takes, if it takes unsigned codes; `codes` of 0 to `most` then come in.
    """

    weight: str
    codes: Array
    chain: tuple[str, ...]
    most: int


def kernels(files: Sequence[str], folder: Path) -> list[Kernel]:
    """Every layer of an artifact that engines compute in 8 bits.

    Raises:
        BundleError: a file is damaged.
    """
    stored = stored_tensors(files, folder).arrays()
    main = folder / main_file(files)
    program = nodes(main)
    return _of_onnx(program, stored) if main.suffix == ".onnx" else _of_paddle(program, stored)


def _of_onnx(program: Sequence[Node], stored: Mapping[str, Array]) -> list[Kernel]:
    makers = {name: node for node in program for name in node.given()}
    found = []
    for node in program:
        codes, axis, name = None, 0, ""
        if node.kind in _ON_INTEGERS:
            place, axis = _ON_INTEGERS[node.kind]
            name = node.taken(str(place))
            codes = stored.get(name)
        elif node.kind in _BETWEEN_ROUNDINGS:
            sides = [makers.get(node.taken(str(at))) for at in (0, 1)]
            if any(side is None or side.kind != "DequantizeLinear" for side in sides):
                continue
            axis = 0 if node.attributes.get("transB") else _BETWEEN_ROUNDINGS[node.kind]
            rounded = sides[1]
            assert rounded is not None  # noqa: S101  # just looked at
            name = rounded.taken("0")
            codes = stored.get(name)
            if codes is None and rounded.taken("2") in stored and stored[rounded.taken("2")].dtype == np.int8:
                codes = np.full((2, 1), WEIGHT, np.int8)  # two activations, both signed
        if codes is not None and codes.dtype == np.int8:  # kernels for unsigned weights multiply in 16 bits
            found.append(Kernel(name, pairs(codes, axis)))
    return found


def _of_paddle(program: Sequence[Node], stored: Mapping[str, Array]) -> list[Kernel]:
    found = []
    for layer in convolutions(program, stored):
        # oneDNN halves the weights where what it takes is signed, and adds 128 to that (measured; -4 dB).
        codes = layer.codes if layer.chain else np.rint(layer.codes / 2)
        found.append(Kernel(layer.weight, pairs(codes, 0, layer.most)))
    makers = {name: node for node in program for name in node.given()}
    for node in program:
        sides = [makers.get(node.taken(slot)) for slot in ("X", "Y")]
        if node.kind in PRODUCTS and all(side is not None and side.kind == "dequantize_linear" for side in sides):
            name = sides[1].taken("X") if sides[1] else ""
            # The engine takes steps from weights of other channels, so that any code may become the largest.
            found.append(Kernel(name, pairs(np.full((1, 2), WEIGHT, np.int8), 0)))
    return found


def convolutions(program: Sequence[Node], stored: Mapping[str, Array]) -> list[Convolution]:
    """Every convolution of a `.pdmodel` between roundings."""
    flow = Flow(program, stored)
    found = []
    for node in program:
        weight = flow.makers.get(node.taken("Filter"))
        if node.kind not in _CONVOLUTIONS or weight is None or weight.kind != "dequantize_linear":
            continue
        name = weight.taken("X")
        if name not in stored or not stored[name].ndim:
            continue
        chain = flow.chain(node.taken("Input"))
        most = flow.most(chain[0]) if chain else ACTIVATION
        found.append(Convolution(name, _as_the_engine_rounds(stored[name]), chain, most))
    return found


def _as_the_engine_rounds(codes: Array) -> Array:
    rows = codes.reshape(len(codes), -1).astype(np.float64)
    largest = np.maximum(np.abs(rows).max(1, initial=0), 1)
    rounded: Array = np.rint(rows * (WEIGHT / largest)[:, None])
    return rounded


class Flow:
    """Where the values of a `.pdmodel` come from, seen through the roundings."""

    def __init__(self, program: Sequence[Node], stored: Mapping[str, Array]) -> None:
        self.makers = {name: node for node in program for name in node.given()}
        self._scales = {
            node.taken("X"): float(stored[node.taken("Scale")].ravel()[0])
            for node in program
            if node.kind == "quantize_linear" and node.taken("Scale") in stored
        }
        self.concatenated: dict[str, str] = {}
        for node in program:
            if node.kind == "concat":  # its scale replaces that of what goes in
                for name in node.inputs.get("X", ()):
                    self.concatenated[self._plain(name)] = next(node.given(), "")

    def chain(self, name: str) -> tuple[str, ...]:
        """From the relu that makes a value unsigned to the value; empty where it is signed."""
        names = [self._plain(name)]
        while (maker := self.makers.get(names[0])) is not None:
            if maker.kind == "relu" or (maker.kind == "relu6" and self.fused(maker)):
                return tuple(names)
            if maker.kind not in IMMUTABLE:
                break
            names.insert(0, self._plain(maker.taken(IMMUTABLE[maker.kind])))
        return ()

    def fused(self, relu: Node) -> bool:
        """Whether a relu may be computed as a part of the operator before it."""
        before = self.makers.get(self._plain(relu.taken("X")))
        return before is not None and before.kind in FUSES

    def most(self, relu: str) -> int:
        """The largest code that what comes of this relu can have."""
        clamp = self._clamp(self.makers[relu])
        scales = [self._scales.get(relu), self._scales.get(self.concatenated.get(relu, ""))]
        known = [scale for scale in scales if scale]
        if clamp is None or not known:
            return ACTIVATION
        return min(ACTIVATION, round(ACTIVATION * clamp / min(known)))

    def _clamp(self, relu: Node) -> float | None:
        """The largest value that it gives: a relu6's threshold, its own or that of the one before a relu."""
        before = self.makers.get(self._plain(relu.taken("X")))
        limits = [node.attributes.get("threshold") for node in (relu, before) if node and node.kind == "relu6"]
        return min((limit for limit in limits if limit is not None), default=None)

    def _plain(self, name: str) -> str:
        """The value that was rounded."""
        while (maker := self.makers.get(name)) is not None and maker.kind in ("quantize_linear", "dequantize_linear"):
            name = maker.taken("X")
        return name
