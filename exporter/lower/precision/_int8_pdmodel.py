"""int8 for a `.pdmodel`: Paddle's static post-training quantization, and what it writes mended for the engine."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from exporter.errors import ModelError
from exporter.lower.precision._mend_pdmodel import mend
from exporter.lower.precision._noise import snr_db
from exporter.lower.precision._ranges import Flow, told, trained_ranges
from exporter.lower.precision._search import Candidate, choose
from exporter.lower.precision._speed import speedup
from exporter.lower.precision.base import Order
from exporter.tensors import Array, TensorMap
from exporter.workers import doing

#: Operators with weights that the quantizer knows and oneDNN has int8 kernels for, and where the weight goes in.
LAYERS = {"conv2d": "Filter", "depthwise_conv2d": "Filter", "mul": "Y", "matmul_v2": "Y"}
#: What only moves values about (a pool only where it takes the largest): the same range goes in and comes out.
MOVES = ("flatten_contiguous_range", "pool2d", "reshape2", "squeeze2", "transpose2", "unsqueeze2")
_METHODS = {"minmax": "abs_max", "entropy": "KL", "percentile": "hist"}
_PARAMETERS = "model.pdiparams"


def quantise(order: Order) -> dict[str, Any]:
    """Write `model.pdmodel` and `model.pdiparams` with int8 weights per channel and calibrated activations.

    Raises:
        UsageError: `keep` names a layer that is not there.
        ModelError: the program has no layer with weights.
    """
    with _static_mode():
        maker = _Maker(order)
        kept, tried = choose(order, maker.layers, maker, maker.speed)
        maker.write(kept, order.into)
        layers = maker.describe(order.into)
        return {
            "writer": f"paddlepaddle {version('paddlepaddle')}",
            "layers": layers,
            "kept": list(kept),
            **({"ranges": told(layers, maker.trained, order.model)} if order.ranges else {}),
            "calibration": {"method": order.settings.method, "rows": order.rows},
            **tried.to_json(),
        }


class _Maker:
    """Makes one variant after another; the first calibrates, the others take over its scales."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self._model = order.model
        self.layers, self._folded = layers_of(order.source / order.model)
        self._scales: dict[str, Any] | None = None
        self._truth: list[dict[str, Array]] = []
        self.trained = trained_ranges(flow_of(order.source / order.model), order.ranges)
        if not self.layers:
            raise ModelError(
                "the program has no convolution and no matrix product with weights, so int8 would change nothing",
                where=order.model,
                hint="leave int8 out",
            )

    def __call__(self, kept: tuple[str, ...]) -> Candidate:
        self._truth = self._truth or serve(self._order.source, self._model, self._order.calls, int8=False)
        with tempfile.TemporaryDirectory(prefix="exporter-") as folder:
            self.write(kept, Path(folder))
            got = serve(Path(folder), self._model, self._order.calls, int8=True)
            size = sum(path.stat().st_size for path in Path(folder).iterdir())
        pairs = [(true[name], one[name]) for true, one in zip(self._truth, got, strict=True) for name in true]
        return Candidate(kept, size, snr_db(pairs))

    def speed(self, kept: tuple[str, ...]) -> float:
        """How many times as fast as fp32 with oneDNN it is in Paddle Inference, for a call of the typical size."""
        with tempfile.TemporaryDirectory(prefix="exporter-") as folder:
            self.write(kept, Path(folder))
            other = predictor_of(Path(folder), self._model, onednn=True, int8=True)
            plain = predictor_of(self._order.source, self._model, onednn=True)
            call = self._order.calls[0]
            return speedup(lambda: _outputs(plain, call), lambda: _outputs(other, call))

    def write(self, kept: tuple[str, ...], into: Path) -> None:
        """Write the variant with these layers left in float32."""
        if self._scales is None and self.trained:
            with tempfile.TemporaryDirectory(prefix="exporter-") as folder:  # for the other scales
                self._scales = self._quantised(kept, Path(folder))
            self._scales |= {value: max(-low, high) for value, (low, high) in self.trained.items()}
        self._scales = self._quantised(kept, into)
        (into / "model.pdiparams.info").unlink(missing_ok=True)
        mend(into / self._model, into / _PARAMETERS)

    def _quantised(self, kept: tuple[str, ...], into: Path) -> dict[str, Any]:
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
                model_dir=str(self._order.source),
                model_filename=self._model,
                params_filename=_PARAMETERS,
                data_loader=_Calls(calls),
                batch_nums=len(calls),
                algo=_METHODS[self._order.settings.method],
                quantizable_op_type=list(LAYERS),
                onnx_format=True,  # int8 weights; without it the file keeps float32 (3.3.1)
                optimize_model=True,  # folds batch norms, as the engine would
                skip_tensor_list=[self.layers[one] for one in kept] or None,
                scale_dict=dict(self._scales) if self._scales is not None else None,
            )
            quantizer.quantize()
            quantizer.save_quantized_model(str(into), model_filename=self._model, params_filename=_PARAMETERS)
            return dict(quantizer._scale_dict)

    def describe(self, folder: Path) -> dict[str, Any]:
        """For each layer in int8, how its input and its weight were rounded, by the names in the two files."""
        from paddle.base import core

        from exporter.readers import pdiparams
        from exporter.readers.base import map_file
        from exporter.readers.pdmodel import read_pdmodel

        content = map_file(folder / _PARAMETERS)
        stored = pdiparams.named(content, _PARAMETERS, read_pdmodel(folder / self._model).weights)
        program = core.ProgramDesc((folder / self._model).read_bytes())  # kept: its blocks die with it
        block = program.block(0)
        operators = [block.op(index) for index in range(block.op_size())]
        makers = {name: one for one in operators for name in one.output_arg_names()}
        names = {weight: layer for layer, weight in self.layers.items()}
        found: dict[str, Any] = {}
        for one in operators:
            slot = LAYERS.get(one.type())
            weight = makers.get(one.input(slot)[0]) if slot else None
            if slot is None or weight is None or weight.type() != "dequantize_linear":
                continue
            rounded = makers[one.input("Input" if slot == "Filter" else "X")[0]]
            there = makers[rounded.input("X")[0]]
            scale = stored[there.input("Scale")[0]].array(content)
            codes = weight.input("X")[0]
            layer = names.get(codes) or names[codes.removesuffix(".quantized")]
            found[layer] = {
                "input": there.input("X")[0],
                "scale": float(scale.ravel()[0]) / 127,
                "zero_point": 0,
                "range": [-128, 127],
                "weight": self.layers[layer],
                **self._folded.get(layer, {}),
                "codes": codes,
                "scales": weight.input("Scale")[0],
                "divisor": 127,  # Paddle stores the largest value, not the step
                "axis": max(0, int(weight.attr("quant_axis"))),
            }
        return found


def layers_of(path: Path) -> tuple[dict[str, str], dict[str, Any]]:
    """The weights of the layers, by their names without what Paddle appends (`conv2d_0.w_0`: `conv2d_0`).

    And of each layer that only a batch norm follows, by what its weights are multiplied when it is folded.
    """
    from paddle.base import core

    program = core.ProgramDesc(path.read_bytes())  # kept: its blocks die with it
    block = program.block(0)
    operators = [block.op(index) for index in range(block.op_size())]
    found: dict[str, str] = {}
    folded: dict[str, Any] = {}
    for one in operators:
        slot = LAYERS.get(one.type())
        weight = one.input(slot)[0] if slot else ""
        if not weight or not block.find_var(weight.encode()).persistable():
            continue
        layer = weight.removesuffix(".w_0")
        found[layer] = weight
        after = [other for other in operators if set(one.output_arg_names()) & set(other.input_arg_names())]
        if slot == "Filter" and [other.type() for other in after] == ["batch_norm"]:
            norm = after[0]
            names = {key: norm.input(slot)[0] for key, slot in (("gain", "Scale"), ("variance", "Variance"))}
            folded[layer] = {"norm": {**names, "epsilon": float(norm.attr("epsilon"))}}
    return found, folded


def flow_of(path: Path) -> Flow:
    """Layers by their weights, what moves values, and who reads them."""
    from paddle.base import core

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
