"""Rows are followed through each operator, and what the graph says is held against ONNX Runtime, beside NaN."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

from exporter.base.tensors import Array
from exporter.deploy.handoff.rows.graph import GraphAnswer, GraphRequest, follow_rows
from exporter.deploy.handoff.rows.rules import _RULES

HEAD = '<ir_version: 8, opset_import: ["" : {opset}]>\n'
X = "g (float[N,4,6] x) => (float y) "
IMAGE = "g (float[N,4,6,6] x) => (float y) "
FLAT = "g (float[N,6] x) => (float y) "
BRANCH = "y = If (c) <then_branch = a () => (float p) { p = Neg(x) }, else_branch = b () => (float q) { q = Abs(x) }> }"
#: Graphs whose rows are independent; `y` is the output.
APART = {
    "elementwise": X + "<float[4,6] c> { a = Tanh(x) b = Mul(a, c) y = Clip(b) }",
    "broadcast": X + "<float[1] c = {2.0}> { a = Add(x, c) b = Sub(c, a) y = Max(a, b, c) }",
    "where": X + "<float c = {0.1}> { a = Greater(x, c) y = Where(a, x, c) }",
    "reduce": X + "{ a = ReduceMean<axes=[-1], keepdims=0>(x) y = ReduceMax<axes=[1]>(a) }",
    "softmax": X + "{ a = Softmax<axis=-1>(x) y = LogSoftmax<axis=1>(a) }",
    "norm": X + "<float[6] s, float[6] b> { y = LayerNormalization<axis=-1>(x, s, b) }",
    "products": X + "<float[6,5] w> { a = MatMul(x, w) b = Transpose<perm=[0,2,1]>(a) y = MatMul(a, b) }",
    "gemm": FLAT + "<float[5,6] w, float[5] b> { y = Gemm<transB=1>(x, w, b) }",
    "gemm of the transposed": FLAT + "<float[6,5] w> { a = Transpose(x) y = Gemm<transA=1>(a, w) }",
    "product from the left": X + "<float[2,4] w> { y = MatMul(w, x) }",
    "columns": FLAT + "<float[2,6] w> { a = Transpose(x) b = MatMul(w, a) y = Transpose(b) }",
    "einsum": X + '<float[6,5] w> { y = Einsum<equation="bsi,ij->bsj">(x, w) }',
    "convolution": IMAGE + "<float[2,4,3,3] w> { a = Conv<pads=[1,1,1,1]>(x, w) y = MaxPool<kernel_shape=[2,2]>(a) }",
    "image norm": IMAGE + "<float[4] s, float[4] v> { y = BatchNormalization(x, s, s, s, v) }",
    "instance norm": IMAGE + "<float[4] s> { y = InstanceNormalization(x, s, s) }",
    "pool": IMAGE + "{ a = GlobalAveragePool(x) y = Flatten(a) }",
    "depth": IMAGE + "{ a = DepthToSpace<blocksize=2>(x) y = SpaceToDepth<blocksize=2>(a) }",
    "resize": IMAGE + "<float[4] s = {1.0,1.0,2.0,2.0}, float[0] r = {}> { y = Resize(x, r, s) }",
    "pad": X + "<int64[6] p = {0,1,0,0,1,2}> { y = Pad(x, p) }",
    "move": X + "{ a = Transpose<perm=[1,0,2]>(x) b = Tanh(a) y = Transpose<perm=[1,0,2]>(b) }",
    "merge": X + "<int64[2] s = {-1,6}, int64[3] t = {-1,4,6}> { a = Reshape(x, s) b = Tanh(a) y = Reshape(b, t) }",
    "heads": X + "<int64[4] s = {0,0,2,3}> { a = Reshape(x, s) y = Transpose<perm=[0,2,1,3]>(a) }",
    "by sizes": X
    + """<int64[1] zero = {0}, int64[1] one = {1}, int64[1] rest = {-1}>
    { s = Shape(x) n = Slice(s, zero, one, zero) t = Concat<axis=0>(n, rest) y = Reshape(x, t) }""",
    "zeros": X
    + """<int64[1] zero = {0}, int64[1] one = {1}, int64[2] rest = {4,6}>
    { s = Shape(x) n = Slice(s, zero, one, zero) t = Concat<axis=0>(n, rest) z = ConstantOfShape(t)
      y = Concat<axis=1>(x, z) }""",
    "expanded": X
    + """<int64[1] zero = {0}, int64[1] one = {1}, int64[2] rest = {1,6}, float[1,1,6] c>
    { s = Shape(x) n = Slice(s, zero, one, zero) t = Concat<axis=0>(n, rest) z = Expand(c, t)
      y = Concat<axis=1>(x, z) }""",
    "squeeze": X + "<int64[1] a = {1}> { b = Unsqueeze(x, a) c = Neg(b) y = Squeeze(c, a) }",
    "slice": X + "<int64[1] s = {1}, int64[1] e = {3}, int64[1] a = {2}> { y = Slice(x, s, e, a) }",
    "split": X + "{ a, b = Split<axis=2>(x) y = Add(a, b) }",
    "gather": X + "<int64 i = {2}> { y = Gather<axis=1>(x, i) }",
    "embedding": FLAT + "<float[9,5] t> { a = Abs(x) i = Cast<to=7>(a) y = Gather<axis=0>(t, i) }",
    "one hot": FLAT
    + "<int64 d = {4}, float[2] v = {0.0,1.0}> { a = ArgMax<axis=1, keepdims=0>(x) y = OneHot(a, d, v) }",
    "sorted": X + "<int64[1] k = {2}> { y, i = TopK<axis=2>(x, k) }",
    "cumulated": X + "<int64 a = {1}> { y = CumSum(x, a) }",
    "by element": X + "{ i = ArgMax<axis=2, keepdims=1>(x) y = GatherElements<axis=2>(x, i) }",
    "by place": FLAT + "{ i = ArgMax<axis=1, keepdims=1>(x) y = GatherND<batch_dims=1>(x, i) }",
    "length": X + "{ y = LpNormalization<axis=-1>(x) }",
    "sampled": IMAGE + "<float[2,4,1,1] w> { a = Conv(x, w) b = Transpose<perm=[0,2,3,1]>(a) y = GridSample(x, b) }",
    "deformed": IMAGE
    + """<float[18,4,3,3] w, float[2,4,3,3] v>
    { a = Conv<pads=[1,1,1,1]>(x, w) y = DeformConv<pads=[1,1,1,1]>(x, v, a) }""",
    "tile": X + "<int64[3] r = {1,2,1}> { y = Tile(x, r) }",
    "quantized": X + "<float s = {0.1}, uint8 z = {128}> { a = QuantizeLinear(x, s, z) y = DequantizeLinear(a, s, z) }",
    "dropout": X + "{ y = Dropout(x) }",
    "triangle": X + "{ y = Trilu(x) }",
    "recurrent": X
    + """<float[1,20,6] w, float[1,20,5] r>
    { a = Transpose<perm=[1,0,2]>(x) b = LSTM<hidden_size=5>(a, w, r) y = Transpose<perm=[2,0,1,3]>(b) }""",
    "a weight that is computed": X + "<float[5,6] w> { t = Transpose(w) y = MatMul(x, t) }",
}
#: Graphs whose rows depend on each other, with what is words of it.
MIXED = {
    "mean": (X + "{ m = ReduceMean<axes=[0], keepdims=1>(x) y = Sub(x, m) }", "reduces over the rows"),
    "all": (X + "{ m = ReduceMax<keepdims=0>(x) y = Div(x, m) }", "reduces over the rows"),
    "softmax": (X + "{ y = Softmax<axis=0>(x) }", "along the axis that counts rows"),
    "cumulated": (X + "<int64 a = {0}> { y = CumSum(x, a) }", "adds up along"),
    "sorted": (X + "<int64[1] k = {1}> { v, i = TopK<axis=0>(x, k) y = Add(x, v) }", "along the axis that counts"),
    "largest row": (X + "{ i = ArgMax<axis=0, keepdims=1>(x) f = Cast<to=1>(i) y = Add(x, f) }", "of all rows"),
    "gram": (FLAT + "{ t = Transpose(x) a = MatMul(x, t) y = MatMul(a, x) }", "multiplies rows by other rows"),
    "product over rows": (FLAT + "{ t = Transpose(x) a = MatMul(t, x) y = MatMul(x, a) }", "rows"),
    "turned": (
        FLAT
        + "<int64[1] s = {-1}, int64[1] e = {-9223372036854775807}, int64[1] a = {0}> { y = Slice(x, s, e, a, s) }",
        "turns their order",
    ),
    "shifted": (
        FLAT + "<int64[4] p = {1,0,-1,0}> { b = Pad(x, p) y = Add(x, b) }",
        "adds or takes away rows",
    ),
    "how many": (
        FLAT + "<int64 z = {0}> { s = Shape(x) n = Gather(s, z) f = Cast<to=1>(n) y = Div(x, f) }",
        "how many rows there are",
    ),
    "more than one": (
        FLAT
        + """<int64 z = {0}, int64 k = {1}>
        { s = Shape(x) n = Gather(s, z) g = Greater(n, k) f = Cast<to=1>(g) y = Mul(x, f) }""",
        "how many rows there are",
    ),
    "its place": (
        FLAT
        + """<int64 z = {0}, int64 o = {1}, int64[1] a = {1}>
        { s = Shape(x) n = Gather(s, z) r = Range(z, n, o) f = Cast<to=1>(r) c = Unsqueeze(f, a) y = Add(x, c) }""",
        "how many rows there are",
    ),
    "laid out anew": (
        X + "<int64[2] s = {4,-1}, int64[3] t = {-1,4,6}> { a = Reshape(x, s) y = Reshape(a, t) }",
        "anew",
    ),
    "trained": (
        IMAGE + "<float[4] s, float[4] v> { y, m, w = BatchNormalization<training_mode=1>(x, s, s, s, v) }",
        "mean of all rows",
    ),
    "drawn": (X + "{ r = RandomUniform<shape=[1]>() y = Add(x, r) }", "draws at random"),
    "drawn beside": (X + "{ r = RandomNormalLike(x) y = Add(x, r) }", "draws at random"),
    "a branch": (
        FLAT + "<float k = {1.0}> { m = ReduceMax<keepdims=0>(x) c = Greater(m, k) " + BRANCH,
        "reduces over the rows",
    ),
    "a branch on nothing": (
        FLAT + "<bool c = {1}> { " + BRANCH,
        "may hang on any row",
    ),
    "dynamic scale": (X + "{ q, s, z = DynamicQuantizeLinear(x) y = DequantizeLinear(q, s, z) }", "one for all rows"),
    "found": (FLAT + "{ i = NonZero(x) f = Cast<to=1>(i) y = Transpose(f) }", "hangs on the rows"),
    "no row": (FLAT + "<int64[1] a = {1}> { y = ReduceSum<keepdims=0>(x, a) z = Neg(y) }", ""),
    "a constant": (FLAT + "<float[2] c> { z = Neg(x) y = Neg(c) }", "first size does not count the rows"),
    "elsewhere": (FLAT + "{ y = Transpose(x) }", "first size does not count the rows"),
    "unknown": (FLAT + "{ y = MeanVarianceNormalization<axes=[0,1]>(x) }", "normalises over the rows"),
}


def model_of(text: str, opset: int = 17) -> onnx.ModelProto:
    """The model of a graph in ONNX's own notation; constants without numbers get some."""
    model = onnx.parser.parse_model(HEAD.format(opset=opset) + text)
    chance = np.random.default_rng(0)
    for declared in model.graph.value_info:
        shape = [size.dim_value for size in declared.type.tensor_type.shape.dim]
        values = np.abs(chance.normal(size=shape)).astype("float32")
        model.graph.initializer.append(onnx.numpy_helper.from_array(values, declared.name))
    return model


def followed(model: onnx.ModelProto, to: Path) -> GraphAnswer:
    onnx.save(model, to / "model.onnx")
    shapes = {}
    for declared in model.graph.input:
        rest = tuple(size.dim_value for size in declared.type.tensor_type.shape.dim[1:])
        shapes[declared.name] = ((2, *rest), (3, *rest))
    return follow_rows.function(GraphRequest(to / "model.onnx", shapes))


def outcomes(model: onnx.ModelProto) -> list[Array]:
    """Rows of the output for the same two rows of the input, beside others and beside NaN."""
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    (declared,) = model.graph.input
    shape = [size.dim_value for size in declared.type.tensor_type.shape.dim[1:]]
    rows = np.random.default_rng(1).normal(size=(2, *shape)).astype("float32")
    others = (rows[::-1] * 2 + 1, np.full_like(rows, np.nan), np.full_like(rows, 1e30))
    return [session.run(["y"], {"x": np.concatenate([rows, beside])})[0][:2] for beside in others]


@pytest.mark.parametrize("name", APART)
def test_rows_that_are_independent_are_found_so_and_are(name: str, tmp_path: Path) -> None:
    model = model_of(APART[name], 19 if name == "deformed" else 17)
    assert followed(model, tmp_path) == GraphAnswer({"y": ""})
    if name != "embedding":  # what is no number picks no word
        first, *more = outcomes(model)
        assert all(first.tobytes() == value.tobytes() for value in more)


@pytest.mark.parametrize("name", MIXED)
def test_rows_that_depend_on_each_other_are_told_with_the_operator(name: str, tmp_path: Path) -> None:
    text, words = MIXED[name]
    (why,) = followed(model_of(text), tmp_path).mixes.values()
    assert words in why and bool(why) == bool(words)


def test_every_rule_is_tried() -> None:
    tried = {node.op_type for text in APART.values() for node in model_of(text).graph.node}
    tried |= {node.op_type for text, _ in MIXED.values() for node in model_of(text).graph.node}
    by_rule: dict[object, set[str]] = {}
    for kind, rule in _RULES.items():
        by_rule.setdefault(rule, set()).add(kind)
    untried = [kinds for kinds in by_rule.values() if not kinds & tried]
    assert not untried


def test_an_operator_that_is_not_known_mixes(tmp_path: Path) -> None:
    model = model_of(FLAT + "{ y = Relu(x) }")
    model.graph.node[0].domain = "com.microsoft"
    assert "domain com.microsoft" in followed(model, tmp_path).mixes["y"]


def test_outputs_that_are_left_out_are_no_obstacle(tmp_path: Path) -> None:
    model = model_of(APART["recurrent"].replace("Transpose<perm=[2,0,1,3]>(b)", "Transpose<perm=[1,0,2]>(h)"))
    model.graph.node[1].output[:] = ["", "h"]
    assert followed(model, tmp_path) == GraphAnswer({"y": ""})


def test_a_softmax_of_old_opsets_flattens_from_its_axis(tmp_path: Path) -> None:
    for axis, words in ((1, ""), (0, "along the axis")):
        model = model_of(X + f"{{ y = Softmax<axis={axis}>(x) }}", opset=11)
        assert words in followed(model, tmp_path).mixes["y"] and bool(followed(model, tmp_path).mixes["y"]) == bool(
            words
        )
