"""int8 for ONNX: QDQ around every convolution and matrix product, by ONNX Runtime's static quantizer.

The quantizer reports success on whatever it is given and leaves out what it does not understand; so every layer that it
was meant to reach is looked at afterwards, and the caller compares the sizes.
"""

from __future__ import annotations

import logging
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from exporter.base.bounded_json import Data
from exporter.base.errors import ModelError
from exporter.base.files import write_draft
from exporter.base.tensors import Array, TensorMap
from exporter.export.lower.onnx_program.passes.graph import Graph, Node, Proto, captured
from exporter.export.lower.precision.base import Order
from exporter.export.lower.precision.keep import Named
from exporter.export.lower.precision.noise import likely_most, shares
from exporter.export.lower.precision.onnx_file import Source, finished, hold
from exporter.export.lower.precision.ranges import Flow, Range, rounded_by, trained_ranges
from exporter.export.lower.precision.rounded import RoundedLayer, StoredWeight
from exporter.export.lower.precision.saturation import safe_steps
from exporter.export.lower.precision.search import INT8_LADDER, Candidate, Grade, Plan, by_grade, choose
from exporter.export.lower.precision.speed import speedup
from exporter.export.lower.precision.weights_onnx import store_weights, unround, with_exact_weights
from exporter.process.workers import doing

#: Operators with weights: what int8 makes smaller and faster, and what is meant by a layer.
LAYERS = ("Conv", "ConvTranspose", "Gemm", "MatMul")
#: What may compute between them without leaving int8. Softmax, norms and the like are not here: 8 bits hurt them.
BETWEEN = (
    *("Add", "AveragePool", "Clip", "Concat", "Flatten", "GlobalAveragePool", "MaxPool", "Mul", "Relu", "Reshape"),
    *("Squeeze", "Transpose", "Unsqueeze"),
)
#: What only moves values about: the same range goes in and comes out.
MOVES = ("Flatten", "MaxPool", "Reshape", "Squeeze", "Transpose", "Unsqueeze")
_METHODS = {"minmax": "MinMax", "entropy": "Entropy", "percentile": "Percentile"}


def quantise(order: Order) -> dict[str, Data]:
    """Write `model.onnx` with int8 weights per channel and calibrated activations.

    Raises:
        UsageError: `keep` names what is not there.
        ModelError: the program has no layer with weights.
    """
    logging.getLogger().setLevel(logging.ERROR)  # the quantizer warns on the root logger, of what is done here already
    with tempfile.TemporaryDirectory(prefix="exporter-") as folder:
        maker = _Maker(order, Path(folder))
        plan, tried = choose(order, maker.plan, INT8_LADDER, maker, maker.speed)
        content, weights = maker.written(plan)
    write_draft(order.into / order.model, content)
    layers = maker.describe(content)
    low: dict[str, RoundedLayer | StoredWeight] = {**layers, **weights}
    return {
        "writer": f"onnxruntime {version('onnxruntime')}",
        "layers": {layer: low[layer].to_json() for layer in plan if layer in low},
        **by_grade(plan),
        **({"kept_operators": list(maker.kept)} if maker.kept else {}),
        **({"ranges": rounded_by(layers, maker.trained, order.model)} if order.ranges else {}),
        "calibration": {"method": order.settings.method, "rows": order.rows},
        "activations": order.settings.activations,
        **tried.to_json(),
    }


class _Maker:
    """Makes one variant after another from one calibration: calling it with the grade of each layer measures one.

    `plan` has the grades that the settings ask for, `kept` the operators without weights that stay in float32.
    """

    def __init__(self, order: Order, folder: Path) -> None:
        self._order = order
        self._source = Source(order.source / order.model, folder)
        self._model = self._source.model
        found = layers_of(self._model, self._model.graph.node)
        self.layers = {layer: node.name for layer, node in found.items()}
        self._weights = {layer: node.input[1] for layer, node in found.items()}
        if not self.layers:
            raise ModelError(
                "the program has no convolution and no matrix product with weights, outside of branches and loops, so "
                "int8 would change nothing",
                where=order.model,
                hint="leave int8 out",
            )
        nodes = self._model.graph.node
        keep = Named(self.layers, {node.name: node.op_type for node in nodes}).resolve(order.settings.keep)
        self.kept = keep.operators
        self.plan = {layer: Grade.FLOAT32 if layer in keep.layers else Grade.INT8 for layer in self.layers}
        doing("calibrating")
        self._ranges = _calibrate(self._source, order.calls, order.settings.method)
        self.trained = trained_ranges(flow_of(self._model), order.ranges)
        _take_over(self._ranges, self.trained)
        self._exact = {*self.kept, *_endless(self._source, self._ranges), *_uneven(self._source)}
        self._truth = run(str(self._source.file), order.calls)
        self._steps: dict[str, list[dict[str, Any]]] = {}
        if order.settings.cpu == "any":
            self._steps = self._safe(self.describe(self.written(self.plan)[0]))

    def _safe(self, layers: Mapping[str, RoundedLayer]) -> dict[str, list[dict[str, Any]]]:
        """By weight, what the quantizer takes for a step of one's own: in each output channel one that is safe.

        Where layers share a weight, the axis of the last counts, as for the quantizer.
        """
        from onnxruntime.quantization import QuantType

        found = {}
        for layer in layers.values():
            steps = safe_steps(self._source.numbers(layer.weight), layer.axis)
            channels: list[dict[str, Any]] = [{"scale": step, "zero_point": 0} for step in steps]
            channels[0] |= {"axis": layer.axis, "quant_type": QuantType.QInt8}
            found[layer.weight] = channels
        return found

    def __call__(self, plan: Plan, calls: int | None = None) -> Candidate:
        content, _ = self.written(plan)
        truth, got = self._truth[:calls], run(content, self._order.calls[:calls])
        return Candidate(plan, len(content), shares(truth, got), shares(truth, got, likely_most))

    def speed(self, plan: Plan) -> float:
        """How many times as fast as fp32 it is in ONNX Runtime, for a call of the typical size."""
        plain, other = session_of(str(self._source.file)), session_of(self.written(plan)[0])
        inputs = dict(self._order.calls[0])
        return speedup(lambda: plain.run(None, inputs), lambda: other.run(None, inputs))

    def written(self, plan: Plan) -> tuple[bytes, dict[str, StoredWeight]]:
        """The file with its layers in these grades, and how the weights are stored that alone are low."""
        lowered = [layer for layer, grade in plan.items() if grade is Grade.INT8]
        model = self._source.whole()
        if lowered:
            others = [operator for layer, operator in self.layers.items() if layer not in lowered]
            model = unround(_float_outputs(self._quantised(model, lowered)), {*others, *self.kept})
            with_exact_weights(model, self._model, others)
            self._source.complete(model)
        alone = {layer: grade for layer, grade in plan.items() if grade in (Grade.WEIGHTS_INT8, Grade.WEIGHTS_FP16)}
        weights = store_weights(model, {layer: (self.layers[layer], grade) for layer, grade in alone.items()})
        return finished(model), weights

    def _quantised(self, model: Proto, layers: Sequence[str]) -> Proto:
        """The model with these layers in int8."""
        import copy

        from onnxruntime.quantization import QuantType
        from onnxruntime.quantization.qdq_quantizer import QDQQuantizer

        kinds = {"uint8": QuantType.QUInt8, "int8": QuantType.QInt8}
        signed = self._order.settings.activations == "int8"
        rounded = {self._weights[layer] for layer in layers}
        steps = {weight: copy.deepcopy(own) for weight, own in self._steps.items() if weight in rounded}
        others = [operator for layer, operator in self.layers.items() if layer not in layers]
        quantizer = QDQQuantizer(
            model,
            per_channel=True,
            reduce_range=False,
            weight_qType=QuantType.QInt8,
            activation_qType=kinds[self._order.settings.activations],
            tensors_range=self._ranges,
            nodes_to_quantize=[],
            nodes_to_exclude=[*others, *sorted(self._exact), *self._outside(layers)],
            op_types_to_quantize=[*LAYERS, *BETWEEN],
            extra_options={
                "ActivationSymmetric": signed,
                "MatMulConstBOnly": True,
                "TensorQuantOverrides": steps,
            },
        )
        quantizer.quantize_model()
        return quantizer.model.model

    def _outside(self, layers: Sequence[str]) -> list[str]:
        """The nodes that may compute between these layers in int8, and have none before or none behind them.

        The quantizer rounds what such a node reads and gives all the same: noise that no kept layer takes away. With
        all 64 layers of PP-OCRv4's detector in float32 there were 3.8 dB. So are the pieces of an activation that is
        written out: of a sigmoid's 1 + exp(-x), which spans ten powers of ten, 8 bits leave 0, and its inverse is
        infinite.
        """
        lowered = {self.layers[layer] for layer in layers}
        nodes = self._model.graph.node
        given = {name for node in nodes if node.name in lowered for name in node.output}
        taken = {name for node in nodes if node.name in lowered for name in node.input}
        between = [node for node in nodes if node.op_type in BETWEEN and node.name not in self._exact]
        for node in between:  # in the order of the graph: what it reads is known
            given |= set(node.output) if given & set(node.input) else set()
        for node in reversed(between):
            taken |= set(node.input) if taken & set(node.output) else set()
        return [node.name for node in between if not (given & set(node.input) and taken & set(node.output))]

    def describe(self, content: bytes) -> dict[str, RoundedLayer]:
        """For each layer in int8, how its input and its weight were rounded, by the names in the two files."""
        import onnx
        from onnx.numpy_helper import to_array

        model = onnx.load_from_string(content)
        makers = {name: node for node in model.graph.node for name in node.output}
        stored = {one.name: one for one in model.graph.initializer}
        nodes = {node.name: node for node in model.graph.node}
        found: dict[str, RoundedLayer] = {}
        for layer, name in self.layers.items():
            rounded, weight = (makers.get(one) for one in nodes[name].input[:2])
            if rounded is None or weight is None or {rounded.op_type, weight.op_type} != {"DequantizeLinear"}:
                continue
            there = makers[rounded.input[0]]
            zero = to_array(stored[there.input[2]])
            found[layer] = RoundedLayer(
                input=there.input[0],
                scale=float(to_array(stored[there.input[1]])),
                zero_point=int(zero),
                range=(0, 255) if zero.dtype.name == "uint8" else (-128, 127),
                weight=self._weights[layer],
                codes=weight.input[0],
                scales=weight.input[1],
                axis=next((one.i for one in weight.attribute if one.name == "axis"), 0),
            )
        return found


def layers_of(model: Proto, nodes: Iterable[Node]) -> dict[str, Node]:
    """Those of a model's nodes with stored weights, by the weight's name without what Paddle appends.

    `conv2d_0.w_0`: `conv2d_0`.
    """
    stored = {tensor.name for tensor in model.graph.initializer}
    layers: dict[str, Node] = {}
    for node in nodes:
        if node.op_type in LAYERS and len(node.input) > 1 and node.input[1] in stored:
            name = node.input[1].removesuffix(".folded").removesuffix(".w_0")  # folded: with its batch norm
            layers[name if name not in layers else f"{name}@{node.name}"] = node
    return layers


def flow_of(model: Proto) -> Flow:
    """Layers by the names that training knew their weights by, what moves values, and who reads them."""
    layers = [
        (node.input[1].removesuffix(".folded"), node.input[0]) for node in layers_of(model, model.graph.node).values()
    ]
    moves = [(node.input[0], node.output[0]) for node in model.graph.node if node.op_type in MOVES]
    read = [name for node in model.graph.node for name in (*node.input, *captured(node))]
    read += [one.name for one in model.graph.output]
    return Flow(layers, moves, Counter(read))


def _endless(source: Source, ranges: Any) -> list[str]:
    """The nodes that read or make a value without a finite range, such as scores to which a mask of -inf was added.

    No 8 bits span infinity: the quantizer gives such a value a scale of infinity, and all of its numbers are lost.
    """
    import numpy as np

    model = source.model
    stored = {tensor.name: source.numbers(tensor.name) for tensor in model.graph.initializer}
    endless = {name for name, value in stored.items() if value.dtype.kind == "f" and not np.isfinite(value).all()}
    for name in {name for node in model.graph.node for name in (*node.input, *node.output)} - stored.keys():
        if name in ranges and not np.isfinite([ranges[name].lowest, ranges[name].highest]).all():
            endless.add(name)
    return [node.name for node in model.graph.node if endless & {*node.input, *node.output}]


def _uneven(source: Source) -> list[str]:
    """The products with stored numbers of which one step for all, 8 bits in each, would make zeros."""
    import numpy as np

    model = source.model
    stored = {tensor.name: source.numbers(tensor.name) for tensor in model.graph.initializer}
    products = [(node, stored[name]) for node in model.graph.node for name in node.input if name in stored]
    return [
        node.name
        for node, factors in products
        if node.op_type == "Mul"
        and factors.size > 1
        and bool((np.abs(factors) * 2 * 255 < np.ptp(factors))[factors != 0].any())
    ]


def _take_over(ranges: Any, trained: Mapping[str, Range]) -> None:
    """Put trained ranges in the place of calibrated ones."""
    import numpy as np
    from onnxruntime.quantization.calibrate import TensorData

    for name, pair in trained.items():
        if name in ranges:
            low, high = (np.asarray(end, "float32") for end in pair)
            ranges[name] = TensorData(lowest=low, highest=high)


def run(content: bytes | str, inputs: Sequence[TensorMap]) -> list[dict[str, Array]]:
    """Every output for each call, as it will be served, of a file by its bytes or its path."""
    session = session_of(content)
    names = [one.name for one in session.get_outputs()]
    return [dict(zip(names, session.run(names, dict(one)), strict=True)) for one in inputs]


def session_of(content: bytes | str) -> Any:
    """ONNX Runtime on the CPU, in one thread, with all optimisations."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(content, sess_options=options, providers=["CPUExecutionProvider"])


def _calibrate(source: Source, inputs: Sequence[TensorMap], method: str) -> Any:
    """The range of every activation, as ONNX Runtime's calibrators find it."""
    from onnxruntime.quantization import CalibrationMethod
    from onnxruntime.quantization.calibrate import CalibrationDataReader, create_calibrator

    class Reader(CalibrationDataReader):  # type: ignore[misc]  # its base has no types
        def __init__(self) -> None:
            self._left = iter(inputs)

        def get_next(self) -> TensorMap | None:
            return next(self._left, None)

    with tempfile.TemporaryDirectory(prefix="exporter-") as folder:
        calibrator = create_calibrator(
            source.file,
            [*LAYERS, *BETWEEN],
            augmented_model_path=str(Path(folder, "augmented.onnx")),
            calibrate_method=getattr(CalibrationMethod, _METHODS[method]),
            use_external_data_format=source.apart,
        )
        calibrator.collect_data(Reader())
        return calibrator.compute_data()


def _float_outputs(model: Proto) -> Proto:
    """Leave what the graph puts out unrounded: its last 8 bits would cost 0.6 dB and make nothing faster."""
    graph = Graph(model, {})
    for output in [one.name for one in model.graph.output]:
        back = graph.maker(output)
        there = graph.maker(back.input[0]) if back is not None and back.op_type == "DequantizeLinear" else None
        if there is None or there.op_type != "QuantizeLinear":
            continue
        source = there.input[0]
        maker = graph.maker(source)
        if maker is None or source in graph.output_names:
            continue
        graph.drop(back)
        if not graph.readers(there.output[0]):
            graph.drop(there)
        graph.puts_out_instead(maker, source, output)
    hold(model.graph, graph.nodes)
    return model
