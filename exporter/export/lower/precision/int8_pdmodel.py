"""int8 for a `.pdmodel`: Paddle's static post-training quantization, and what it writes mended for the engine."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from exporter.base.bounded_json import Data
from exporter.base.errors import ModelError
from exporter.base.readers.nodes import Node, nodes
from exporter.base.tensors import Array, TensorMap
from exporter.export.lower.precision.base import Order
from exporter.export.lower.precision.keep import Named
from exporter.export.lower.precision.kernels import Flow as Served
from exporter.export.lower.precision.kernels import convolutions
from exporter.export.lower.precision.linear_pdmodel import as_convolutions
from exporter.export.lower.precision.mend_pdmodel import mend
from exporter.export.lower.precision.noise import likely_most, shares
from exporter.export.lower.precision.ranges import Flow, rounded_by, trained_ranges
from exporter.export.lower.precision.rounded import FoldedNorm, RoundedLayer
from exporter.export.lower.precision.saturation import ACTIVATION, largest_activation
from exporter.export.lower.precision.search import INT8_OR_FLOAT32, Candidate, Grade, Plan, by_grade, choose
from exporter.export.lower.precision.speed import speedup
from exporter.export.lower.stored import stored_tensors
from exporter.paddle.programs import legacy_programs
from exporter.process.workers import doing

#: Operators with weights that the quantizer knows and oneDNN has int8 kernels for, and where the weight goes in.
CONVOLUTIONS = {"conv2d": "Filter", "depthwise_conv2d": "Filter"}
#: A product that cannot be a convolution (see _linear_pdmodel.py) is computed wrongly without VNNI.
LAYERS = {**CONVOLUTIONS, "mul": "Y", "matmul_v2": "Y"}
#: What only moves values about (a pool only where it takes the largest): the same range goes in and comes out.
MOVES = ("flatten_contiguous_range", "pool2d", "reshape2", "squeeze2", "transpose2", "unsqueeze2")
_METHODS = {"minmax": "abs_max", "entropy": "KL", "percentile": "hist"}
_PARAMETERS = "model.pdiparams"
#: How operators are called in ONNX, by kind and by name, and none is here.
_OF_ONNX = re.compile(r"[A-Z]\w*(\.\d+)?")


def quantise(order: Order) -> dict[str, Data]:
    """Write `model.pdmodel` and `model.pdiparams` with int8 weights per channel and calibrated activations.

    Raises:
        UsageError: `keep` names what is not there.
        ModelError: the program has no layer with weights.
    """
    with _static_mode(), tempfile.TemporaryDirectory(prefix="exporter-") as folder:
        maker = _Maker(order, Path(folder))
        plan, tried = choose(order, maker.plan, INT8_OR_FLOAT32, maker, maker.speed)
        maker.write(plan, order.into)
        layers = maker.describe(order.into)
        return {
            "writer": f"paddlepaddle {version('paddlepaddle')}",
            "layers": {name: maker.as_in_float32(layer).to_json() for name, layer in layers.items()},
            **by_grade(plan),
            **({"ranges": rounded_by(layers, maker.trained, order.model)} if order.ranges else {}),
            "calibration": {"method": order.settings.method, "rows": order.rows},
            **tried.to_json(),
        }


class _Maker:
    """Makes one variant after another; the first calibrates, the others take over its scales.

    `folder` is an empty one, for the float32 program with linear layers as convolutions.
    """

    def __init__(self, order: Order, folder: Path) -> None:
        self._order = order
        self._model, self._source = order.model, folder
        self._linears = as_convolutions(order.source, order.model, folder)
        self._kinds = CONVOLUTIONS if order.settings.cpu == "any" else LAYERS
        self.layers, self._folded = layers_of(folder / order.model, self._kinds)
        self._scales: dict[str, npt.ArrayLike] | None = None
        self._limits: dict[str, float] = {}
        self._truth: list[dict[str, Array]] = []
        self.trained = trained_ranges(flow_of(folder / order.model), order.ranges)
        if not self.layers:
            raise ModelError(
                "the program has no convolution and no matrix product with weights, so int8 would change nothing",
                where=order.model,
                hint="leave int8 out",
            )
        named = Named(self.layers, operators_of(order.source / order.model, self.layers.values()))
        known = {*named.layers, *named.operators, *named.operators.values()}
        # Between layers nothing is rounded here, so that nothing has to be kept there.
        keep = named.resolve([name for name in order.settings.keep if name in known or not _OF_ONNX.fullmatch(name)])
        self.plan = {layer: Grade.FLOAT32 if layer in keep.layers else Grade.INT8 for layer in self.layers}

    def __call__(self, plan: Plan, calls: int | None = None) -> Candidate:
        self._truth = self._truth or serve(self._order.source, self._model, self._order.calls, int8=False)
        with tempfile.TemporaryDirectory(prefix="exporter-") as folder:
            self.write(plan, Path(folder))
            got = serve(Path(folder), self._model, self._order.calls[:calls], int8=True)
            size = sum(path.stat().st_size for path in Path(folder).iterdir())
        truth = self._truth[:calls]
        return Candidate(plan, size, shares(truth, got), shares(truth, got, likely_most))

    def speed(self, plan: Plan) -> float:
        """How many times as fast as fp32 with oneDNN it is in Paddle Inference, for a call of the typical size."""
        with tempfile.TemporaryDirectory(prefix="exporter-") as folder:
            self.write(plan, Path(folder))
            other = predictor_of(Path(folder), self._model, onednn=True, int8=True)
            plain = predictor_of(self._order.source, self._model, onednn=True)
            call = self._order.calls[0]
            return speedup(lambda: _outputs(plain, call), lambda: _outputs(other, call))

    def write(self, plan: Plan, into: Path) -> None:
        """Write the variant with its layers in these grades."""
        kept = [layer for layer, grade in plan.items() if grade is Grade.FLOAT32]
        if self._scales is None:
            with tempfile.TemporaryDirectory(prefix="exporter-") as folder:  # for the scales, and the weights' codes
                scales = self._quantised(kept, Path(folder))
                scales |= {value: max(-low, high) for value, (low, high) in self.trained.items()}
                self._scales = scales
                if self._order.settings.cpu == "any":
                    mend(Path(folder) / self._model, Path(folder) / _PARAMETERS, {}, products=False)
                    self._limits, safe = safe_scales(*_read(Path(folder), self._model), scales)
                    self._scales |= safe
        self._quantised(kept, into)
        (into / "model.pdiparams.info").unlink(missing_ok=True)
        products = self._order.settings.cpu == "vnni"
        mend(into / self._model, into / _PARAMETERS, self._limits, products=products)

    def _quantised(self, kept: Sequence[str], into: Path) -> dict[str, npt.ArrayLike]:
        """What the quantizer writes by itself; the scales that it took."""
        import paddle
        from paddle.static.quantization import PostTrainingQuantization

        calls = self._order.calls if self._scales is None else self._order.calls[:1]
        doing("calibrating" if self._scales is None else "quantising")
        scope = paddle.static.Scope()
        with paddle.static.scope_guard(scope), paddle.utils.unique_name.guard(), _quiet_progress():
            quantizer = PostTrainingQuantization(
                executor=paddle.static.Executor(paddle.CPUPlace()),
                scope=scope,
                model_dir=str(self._source),
                model_filename=self._model,
                params_filename=_PARAMETERS,
                data_loader=_Calls(calls),
                batch_nums=len(calls),
                algo=_METHODS[self._order.settings.method],
                quantizable_op_type=list(self._kinds),
                onnx_format=True,  # int8 weights; without it the file keeps float32 (3.3.1)
                optimize_model=True,  # folds batch norms, as the engine would
                skip_tensor_list=[self.layers[one] for one in kept] or None,
                scale_dict=dict(self._scales) if self._scales is not None else None,
            )
            quantizer.quantize()
            quantizer.save_quantized_model(str(into), model_filename=self._model, params_filename=_PARAMETERS)
            return dict(quantizer._scale_dict)

    def as_in_float32(self, layer: RoundedLayer) -> RoundedLayer:
        """With the value that the float32 program knows, where the layer takes an image of it."""
        return replace(layer, input=self._linears.images.get(layer.input, layer.input))

    def describe(self, folder: Path) -> dict[str, RoundedLayer]:
        """For each layer in int8, how its input and its weight were rounded, by the names in the two files."""
        from exporter.paddle.private import core

        listed, stored = _read(folder, self._model)
        served = {layer.weight: layer for layer in convolutions(listed, stored)}
        program = core.ProgramDesc((folder / self._model).read_bytes())  # kept: its blocks die with it
        block = program.block(0)
        operators = [block.op(index) for index in range(block.op_size())]
        makers = {name: one for one in operators for name in one.output_arg_names()}
        names = {weight: layer for layer, weight in self.layers.items()}
        found: dict[str, RoundedLayer] = {}
        for one in operators:
            slot = LAYERS.get(one.type())
            weight = makers.get(one.input(slot)[0]) if slot else None
            if slot is None or weight is None or weight.type() != "dequantize_linear":
                continue
            rounded = makers[one.input("Input" if slot == "Filter" else "X")[0]]
            there = makers[rounded.input("X")[0]]
            scale = float(stored[there.input("Scale")[0]].ravel()[0])
            codes = weight.input("X")[0]
            if codes not in stored:  # a product of two activations
                continue
            layer = names.get(codes) or names[codes.removesuffix(".quantized")]
            engine = served.get(codes)
            unsigned = engine is not None and bool(engine.chain)
            found[layer] = RoundedLayer(
                input=there.input("X")[0],
                scale=scale / (255 if unsigned else 127),  # as served: behind a relu oneDNN takes unsigned codes
                zero_point=0,
                range=(0, engine.most) if engine is not None and unsigned else (-128, 127),
                weight=self.layers[layer],
                codes=codes,
                scales=weight.input("Scale")[0],
                axis=max(0, int(weight.attr("quant_axis"))),
                halved=engine is not None and not unsigned,
                transposed=self._linears.transposed.get(self.layers[layer]),
                norm=self._folded.get(layer),
                divisor=127,  # Paddle stores the largest value, not the step
            )
        return found


def layers_of(path: Path, kinds: Mapping[str, str]) -> tuple[dict[str, str], dict[str, FoldedNorm]]:
    """The weights of the layers, by their names without what Paddle appends (`conv2d_0.w_0`: `conv2d_0`).

    And of each layer that only a batch norm follows, by what its weights are multiplied when it is folded.
    """
    from exporter.paddle.private import core

    program = core.ProgramDesc(path.read_bytes())  # kept: its blocks die with it
    block = program.block(0)
    operators = [block.op(index) for index in range(block.op_size())]
    found: dict[str, str] = {}
    folded: dict[str, FoldedNorm] = {}
    for one in operators:
        slot = kinds.get(one.type())
        weight = one.input(slot)[0] if slot else ""
        if not weight or not block.find_var(weight.encode()).persistable():
            continue
        layer = weight.removesuffix(".w_0")
        found[layer] = weight
        after = [other for other in operators if set(one.output_arg_names()) & set(other.input_arg_names())]
        if slot == "Filter" and [other.type() for other in after] == ["batch_norm"]:
            norm = after[0]
            gain, variance = (norm.input(slot)[0] for slot in ("Scale", "Variance"))
            folded[layer] = FoldedNorm(gain, variance, float(norm.attr("epsilon")))
    return found, folded


def operators_of(path: Path, weights: Collection[str]) -> dict[str, str]:
    """The kind of each operator, by its weight's name if that is one of these, else by what it gives first."""
    kinds = {}
    for node in nodes(path):
        weight = next((name for names in node.inputs.values() for name in names if name in weights), "")
        if name := weight or next(node.given(), ""):
            kinds[name] = node.kind
    return kinds


def safe_scales(
    program: Sequence[Node], stored: Mapping[str, Array], scales: Mapping[str, npt.ArrayLike]
) -> tuple[dict[str, float], dict[str, float]]:
    """What keeps convolutions of unsigned codes from overflowing 16 bits: limits of relus, and wider scales.

    oneDNN rounds weights to all 8 bits whatever the file holds, so it is the activations that get 7: the scale of what
    a relu gives is about twice its largest value, and the relu is limited to that value, so that no code goes beyond.
    """
    flow = Served(program, stored)
    layers = [layer for layer in convolutions(program, stored) if layer.chain]
    limits, safe = dict[str, float](), dict[str, float]()
    for relu in {layer.chain[0] for layer in layers}:
        own = [layer for layer in layers if layer.chain[0] == relu]
        values = {value for layer in own for value in layer.chain}
        limit = max(float(np.ravel(scales[value])[0]) for value in values if value in scales)
        limits[relu] = limit
        most = min(largest_activation(layer.codes, 0) for layer in own)
        wider = ACTIVATION / most
        safe |= {value: limit * wider for value in values if value in scales}
        together = flow.concatenated.get(relu, "")
        if together in scales:
            safe[together] = float(np.ravel(scales[together])[0]) * wider
    return limits, safe


def _read(folder: Path, model: str) -> tuple[tuple[Node, ...], dict[str, Array]]:
    """The operators of a written program, and what it stores."""
    return nodes(folder / model), stored_tensors((model, _PARAMETERS), folder).arrays()


def flow_of(path: Path) -> Flow:
    """Layers by their weights, what moves values, and who reads them."""
    from exporter.paddle.private import core

    program = core.ProgramDesc(path.read_bytes())  # kept: its blocks die with it
    block = program.block(0)
    operators = [block.op(index) for index in range(block.op_size())]
    taken = {"Filter": "Input", "Y": "X"}  # the slot of what a layer takes, by that of its weight
    layers = [(one.input(slot)[0], one.input(taken[slot])[0]) for one in operators if (slot := LAYERS.get(one.type()))]
    moves = [
        (one.input("X")[0], one.output("Out")[0])
        for one in operators
        if one.type() in MOVES and (one.type() != "pool2d" or one.attr("pooling_type") == "max")
    ]
    return Flow(layers, moves, Counter(name for one in operators for name in one.input_arg_names()))


def serve(folder: Path, model: str, calls: Sequence[TensorMap], *, int8: bool) -> list[dict[str, Array]]:
    """What Paddle Inference computes: fp32 as strictly as it can, int8 as it is served."""
    predictor = predictor_of(folder, model, onednn=int8, int8=int8)
    return [_outputs(predictor, call) for call in calls]


def predictor_of(folder: Path, model: str, *, onednn: bool, int8: bool = False) -> Any:
    """A predictor on the CPU, in one thread; without oneDNN also without any rewriting of the program."""
    from paddle import inference

    config = inference.Config(str(folder / model), str(folder / _PARAMETERS))
    config.disable_gpu()
    config.disable_glog_info()
    config.set_cpu_math_library_num_threads(1)
    if onednn:
        config.enable_mkldnn()
    else:
        config.switch_ir_optim(False)
        config.disable_mkldnn()
    if int8:
        config.enable_mkldnn_int8()
    return inference.create_predictor(config)


def _outputs(predictor: Any, call: TensorMap) -> dict[str, Array]:
    for name, value in call.items():
        predictor.get_input_handle(name).copy_from_cpu(value)
    predictor.run()
    return {name: predictor.get_output_handle(name).copy_to_cpu() for name in predictor.get_output_names()}


class _Calls:
    """What the quantizer takes for a data loader."""

    def __init__(self, calls: Sequence[TensorMap]) -> None:
        self._calls = calls

    def __call__(self) -> Iterator[TensorMap]:
        return iter(self._calls)

    def __len__(self) -> int:
        return len(self._calls)


@contextlib.contextmanager
def _static_mode() -> Iterator[None]:
    import paddle

    with legacy_programs():  # it knows no others (3.3.1)
        paddle.enable_static()
        try:
            yield
        finally:
            paddle.disable_static()


@contextlib.contextmanager
def _quiet_progress() -> Iterator[None]:
    """The quantizer draws progress bars, which would bury what the child says last."""
    before = os.environ.get("TQDM_DISABLE")
    os.environ["TQDM_DISABLE"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["TQDM_DISABLE"]
        else:
            os.environ["TQDM_DISABLE"] = before
