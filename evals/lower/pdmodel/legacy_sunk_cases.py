# ruff: noqa: E501, C901 - one form of a case is one line, and a family of APIs one function
"""Every sunk API as function, method and operator, at each dtype and in each way of spelling its arguments."""

from __future__ import annotations

from collections.abc import Iterator

from legacy_cases import Case, case

DTYPES = ("bool", "u8", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64", "c64", "c128")
UNARY = (
    "acos acosh sinh atanh asin log2 log10 log1p log rsqrt sin cos cosh sqrt exp expm1 tanh sigmoid abs sign ceil floor "
    "round isfinite isinf isnan logical_not"
).split()
DOMAIN = {"acosh": "u(1.1,3)", "ceil": "u(-3,3)", "floor": "u(-3,3)", "round": "u(-3,3)", "sign": "n", "abs": "n"}
LOGICAL = ("logical_and", "logical_or", "logical_xor")
BINARY = ("multiply", "maximum", "minimum", "greater_than", *LOGICAL)
#: (x, y) that eager promotes.
MIXED = (("f32", "f64"), ("f64", "f32"), ("f16", "f32"), ("bf16", "f32"), ("f32", "c64"), ("c128", "f32"))
REDUCE = ("sum", "amax", "amin", "all", "any", "logsumexp")
AXES = (
    "axis=0",
    "axis=-1",
    "axis=[0, 1]",
    "axis=(1, -1)",
    "axis=1, keepdim=True",
    "keepdim=True",
    "axis=[]",
    "0, True",
)


def cases() -> list[Case]:
    """All of them, in the order of the table."""
    makers = (_unary, _binary, _matmul, _products, _reduce, _search, _triangles, _activations, _arrange, _sample, _held)
    return [one for maker in makers for one in maker()]


def _values(api: str, dtype: str) -> str:
    return f"@{DOMAIN[api]}" if api in DOMAIN and dtype[0] in "fbc" and dtype != "bool" else ""


def _shaped(dtype: str, shape: str) -> str:
    """A complex input is fed as pairs of floats."""
    if dtype[0] == "c":
        return f"{dtype}[{shape + ',' if shape and shape != 'b' else ''}2]"
    return f"{dtype}[{shape}]"


def _unary() -> Iterator[Case]:
    for api in UNARY:
        for dtype in DTYPES:
            x = _shaped(dtype, "b2,3") + _values(api, dtype)
            yield case(api, "function", f"paddle.{api}(x)", x)
            yield case(api, "method", f"x.{api}()", x)
        yield case(api, "0-D", f"paddle.{api}(x)", "f32[]" + _values(api, "f32"))
        yield case(api, "keyword", f"paddle.{api}(input=x)", "f32[2,3]" + _values(api, "f32"))
        yield case(api, "keyword", f"paddle.{api}(x=x, name='n')", "f32[2,3]" + _values(api, "f32"))
    for api in ("sigmoid", "tanh"):
        yield case(api, "F", f"F.{api}(x)", "f32[b2,3]")
    for decimals in (0, 1, 2, -1):
        yield case("round", f"decimals={decimals}", f"paddle.round(x, decimals={decimals})", "f32[b2,3]@u(-30,30)")
        yield case("round", f"decimals={decimals}", f"x.round({decimals})", "f64[2,3]@u(-30,30)")
    yield case("abs", "operator", "abs(x)", "f32[b2,3]@n")
    yield case("logical_not", "operator", "~x", "bool[b2,3]")
    yield case("exp", "out", "y = paddle.zeros_like(x)\npaddle.exp(x, out=y)\nreturn y", "f32[2,3]")


def _binary() -> Iterator[Case]:
    for api in BINARY:
        for dtype in DTYPES:
            x, y = _shaped(dtype, "b2,3"), _shaped(dtype, "b2,3")
            yield case(api, "function", f"paddle.{api}(x, y)", x, y)
            yield case(api, "method", f"x.{api}(y)", x, y)
        for left, right in (("b2,3", "3"), ("3", "2,3"), ("2,1,3", "4,1"), ("2,3", ""), ("", "2,3"), ("", "")):
            for dtype in ("f32", "i64") if api not in LOGICAL else ("bool",):
                yield case(api, f"[{left}] [{right}]", f"paddle.{api}(x, y)", f"{dtype}[{left}]", f"{dtype}[{right}]")
        for left, right in MIXED:
            yield case(api, "promotion", f"paddle.{api}(x, y)", _shaped(left, "2,3"), _shaped(right, "2,3"))
            yield case(api, "0-D promotion", f"paddle.{api}(x, y)", _shaped(left, "2,3"), _shaped(right, ""))
        yield case(api, "keyword", f"paddle.{api}(input=x, other=y)", "f32[2,3]", "f32[2,3]")
    for left, right in (
        ("i32", "f32"),
        ("f32", "i64"),
        ("bool", "i32"),
        ("i64", "f64"),
        ("f64", "f32"),
        ("i64", "i32"),
    ):
        yield case("multiply", "0-D of another kind", "paddle.multiply(x, y)", f"{left}[2,3]", f"{right}[]")
        yield case("multiply", "operator 0-D", "x * y", f"{left}[2,3]", f"{right}[]")
    signs = {"multiply": "*", "greater_than": ">"}
    for api, sign in signs.items():
        for dtype in ("i32", "i64", "f16", "bf16", "f32", "f64", "c64"):
            x, y = _shaped(dtype, "b2,3"), _shaped(dtype, "b2,3")
            yield case(api, "operator", f"x {sign} y", x, y)
        for dtype in ("bool", "i32", "i64", "f32", "f64"):
            for scalar in ("2", "0.5"):
                yield case(api, f"operator {scalar}", f"x {sign} {scalar}", f"{dtype}[b2,3]")
                yield case(api, f"{scalar} operator", f"{scalar} {sign} x", f"{dtype}[b2,3]")
        for left, right in MIXED:
            yield case(api, "operator promotion", f"x {sign} y", _shaped(left, "2,3"), _shaped(right, "2,3"))
    for api, sign in (("logical_and", "&"), ("logical_or", "|"), ("logical_xor", "^")):
        yield case(api, "operator", f"x {sign} y", "bool[b2,3]", "bool[b2,3]")
    for equal_nan in (False, True):
        for dtype in ("f32", "f64", "c64"):
            x, y = _shaped(dtype, "2,3"), _shaped(dtype, "2,3")
            yield case("isclose", "function", f"paddle.isclose(x, y, 0.1, 0.2, {equal_nan})", x, y)
            yield case("isclose", "method", f"x.isclose(y, atol=0.3, equal_nan={equal_nan})", x, y)
    yield case("isclose", "nan", "paddle.isclose(x / (x - x), y / (y - y), equal_nan=True)", "f32[2,3]", "f32[2,3]")
    yield case("isclose", "keyword", "paddle.isclose(input=x, other=y, rtol=0.5)", "f32[2,3]", "f32[2,3]")
    yield case("isclose", "0-D", "paddle.isclose(x, y)", "f32[]", "f32[]")
    yield case("isclose", "tolerance of float64", "paddle.isclose(x, x + 1e-9, rtol=1e-12)", "f64[2,3]")


def _matmul() -> Iterator[Case]:
    for dtype in DTYPES:
        x, y = _shaped(dtype, "b2,3"), _shaped(dtype, "3,4")
        yield case("matmul", "function", "paddle.matmul(x, y)", x, y)
        yield case("matmul", "operator", "x @ y", x, y)
        yield case("matmul", "method", "x.matmul(y)", x, y)
    shapes = (("3", "3"), ("3", "3,4"), ("b2,3", "3"), ("b5,2,3", "3,4"), ("5,2,3", "5,3,4"), ("2,1,2,3", "4,3,2"))
    for left, right in shapes:
        yield case("matmul", f"[{left}] [{right}]", "paddle.matmul(x, y)", f"f32[{left}]", f"f32[{right}]")
        yield case("matmul", f"operator [{left}] [{right}]", "x @ y", f"f32[{left}]", f"f32[{right}]")
    yield case("matmul", "transpose_x", "paddle.matmul(x, y, transpose_x=True)", "f32[3,2]", "f32[3,4]")
    yield case("matmul", "transpose_y", "paddle.matmul(x, y, False, True)", "f32[b2,3]", "f32[4,3]")
    yield case("matmul", "both", "paddle.matmul(x, y, True, True)", "f32[3,2]", "f32[4,3]")
    yield case("matmul", "keyword", "paddle.matmul(input=x, other=y)", "f32[b2,3]", "f32[3,4]")
    yield case("matmul", "promotion", "paddle.matmul(x, y)", "f32[2,3]", "c64[3,4,2]")
    yield case(
        "matmul",
        "by a parameter",
        "paddle.matmul(x, self.w)",
        "f32[b2,3]",
        init="self.w = self.create_parameter([3, 4])",
    )
    yield case(
        "matmul",
        "parameters",
        "x + paddle.matmul(self.w, self.w)",
        "f32[3,3]",
        init="self.w = self.create_parameter([3, 3])",
    )
    yield case("matmul", "parameter @", "self.w @ x", "f32[3,2]", init="self.w = self.create_parameter([3, 3])")
    yield case("matmul", "plain tensor", "paddle.matmul(x, self.t)", "f32[b2,3]", init="self.t = paddle.ones([3, 4])")


def _products() -> Iterator[Case]:
    for dtype in ("i32", "i64", "f32", "f64", "c64"):
        yield case("dot", "function", "paddle.dot(x, y)", _shaped(dtype, "3"), _shaped(dtype, "3"))
        yield case("dot", "method", "x.dot(y)", _shaped(dtype, "b2,3"), _shaped(dtype, "b2,3"))
    yield case("dot", "keyword", "paddle.dot(input=x, tensor=y)", "f32[3]", "f32[3]")
    yield case("dot", "promotion", "paddle.dot(x, y)", "c64[3,2]", "f32[3]")
    for dtype in ("f32", "f64"):
        yield case("bmm", "function", "paddle.bmm(x, y)", f"{dtype}[b2,3,4]", f"{dtype}[b2,4,5]")
        yield case("bmm", "method", "x.bmm(y)", f"{dtype}[2,3,4]", f"{dtype}[2,4,5]")
    yield case("bmm", "keyword", "paddle.bmm(input=x, mat2=y)", "f32[2,3,4]", "f32[2,4,5]")


def _reduce() -> Iterator[Case]:
    for api in REDUCE:
        for dtype in DTYPES:
            x = _shaped(dtype, "b2,3")
            yield case(api, "function", f"paddle.{api}(x)", x)
            yield case(api, "method", f"x.{api}(axis=1)", x)
        for arguments in AXES:
            spelled = arguments if api != "sum" or arguments != "0, True" else "0, None, True"
            x = "bool[b2,3,2]" if api in ("all", "any") else "f32[b2,3,2]"
            yield case(api, arguments, f"paddle.{api}(x, {spelled})", x)
            yield case(api, f"dim: {arguments}", f"x.{api}({spelled.replace('axis', 'dim')})", x)
        x = "bool[{}]" if api in ("all", "any") else "f32[{}]"
        yield case(api, "0-D", f"paddle.{api}(x)", x.format(""))
        yield case(api, "0-D axis=0", f"paddle.{api}(x, 0)", x.format(""))
        yield case(api, "0-D keepdim", f"paddle.{api}(x, keepdim=True)", x.format(""))
        yield case(api, "keyword", f"paddle.{api}(input=x, dim=[0])", x.format("2,3"))
        yield case(api, "numpy axis", f"paddle.{api}(x, axis=np.int64(1))", x.format("b2,3"))
        yield case(api, "Tensor axis", f"paddle.{api}(x, axis=paddle.to_tensor(1))", x.format("b2,3"))
        yield case(api, "Tensor axes", f"paddle.{api}(x, axis=paddle.to_tensor([0, 1]))", x.format("b2,3,2"))
        yield case(api, "list of Tensor", f"paddle.{api}(x, axis=[paddle.to_tensor(1), 0])", x.format("b2,3,2"))
        yield case(api, "buffer axis", f"paddle.{api}(x, axis=self.axis)", x.format("2,3"),
                   init="self.register_buffer('axis', paddle.to_tensor(0))")  # fmt: skip
        yield case(
            api,
            "attribute axis",
            f"paddle.{api}(x, axis=self.axis)",
            x.format("2,3"),
            init="self.axis = paddle.to_tensor([0])",
        )
    for wanted in ("bool", "int32", "int64", "float32", "float64", "float16"):
        for dtype in ("bool", "i32", "i64", "f32", "f64"):
            yield case("sum", f"dtype={wanted}", f"paddle.sum(x, dtype='{wanted}')", f"{dtype}[b2,3]")
    yield case("sum", "third is keepdim", "paddle.sum(x, 1, True)", "f32[b2,3]")
    yield case("sum", "third is dtype", "x.sum(1, 'float64', True)", "f32[b2,3]")
    yield case("sum", "dtype object", "paddle.sum(x, dtype=paddle.float64)", "f32[b2,3]")
    yield case("sum", "dtype held", "paddle.sum(x, dtype=HELD_DTYPE64)", "i32[b2,3]")


def _search() -> Iterator[Case]:
    for api in ("argmax", "argmin"):
        for dtype in DTYPES[:10]:
            yield case(api, "function", f"paddle.{api}(x)", f"{dtype}[b2,3]")
            yield case(api, "method", f"x.{api}(axis=1)", f"{dtype}[b2,3]")
        for arguments in (
            "axis=-1",
            "0, True",
            "keepdim=True",
            "dtype='int32'",
            "axis=1, dtype=paddle.int32",
            "axis=1, dtype=np.int32",
        ):
            yield case(api, arguments, f"paddle.{api}(x, {arguments})", "f32[b2,3]")
        yield case(api, "keyword", f"paddle.{api}(input=x, dim=1, keepdims=True)", "f32[b2,3]")
        yield case(api, "Tensor axis", f"paddle.{api}(x, paddle.to_tensor(1))", "f32[b2,3]")
        yield case(api, "0-D", f"paddle.{api}(x)", "f32[]")
        yield case(api, "0-D axis=0", f"paddle.{api}(x, 0)", "f32[]")


def _triangles() -> Iterator[Case]:
    for api in ("tril", "triu"):
        for dtype in DTYPES:
            yield case(api, "function", f"paddle.{api}(x)", _shaped(dtype, "b2,3"))
            yield case(api, "method", f"x.{api}(1)", _shaped(dtype, "3,3"))
        yield case(api, "diagonal=-1", f"paddle.{api}(x, diagonal=-1)", "f32[b2,3,3]")
        yield case(api, "keyword", f"paddle.{api}(input=x)", "f32[3,3]")
        yield case(api, "Tensor diagonal", f"paddle.{api}(x, paddle.to_tensor(1))", "f32[3,3]")
    for dtype in DTYPES:
        yield case("diagonal", "function", "paddle.diagonal(x)", _shaped(dtype, "b3,3"))
        yield case("diagonal", "method", "x.diagonal(1)", _shaped(dtype, "3,3"))
    yield case("diagonal", "axes", "paddle.diagonal(x, 0, 1, 2)", "f32[b2,3,3]")
    yield case("diagonal", "keyword", "paddle.diagonal(x, offset=-1, dim1=-1, dim2=0)", "f32[4,3,3]")


def _activations() -> Iterator[Case]:
    for dtype in ("f32", "f64", "f16", "c64"):
        yield case("softplus", "function", "F.softplus(x)", _shaped(dtype, "b2,3"))
        yield case("gelu", "function", "F.gelu(x)", _shaped(dtype, "b2,3"))
    for arguments in ("2", "beta=0.5, threshold=1.0", "2, 0.5"):
        yield case("softplus", arguments, f"F.softplus(x, {arguments})", "f32[b2,3]@u(-3,3)")
    yield case("softplus", "Tensor beta", "F.softplus(x, paddle.to_tensor(2.0))", "f32[b2,3]")
    yield case("softplus", "layer", "self.act(x)", "f32[b2,3]", init="self.act = nn.Softplus(2, 1)")
    for arguments in ("True", "False", "approximate=True", "'tanh'", "'none'", "approximate='tanh'"):
        yield case("gelu", arguments, f"F.gelu(x, {arguments})", "f32[b2,3]@n")
    yield case("gelu", "layer", "self.act(x)", "f32[b2,3]", init="self.act = nn.GELU()")
    yield case("gelu", "keyword", "F.gelu(input=x)", "f32[b2,3]@n")
    for api in ("softplus", "gelu"):
        yield case(api, "0-D", f"F.{api}(x)", "f32[]")


def _arrange() -> Iterator[Case]:
    for dtype in DTYPES:
        yield case("roll", "function", "paddle.roll(x, 1)", _shaped(dtype, "b2,3"))
        yield case("roll", "method", "x.roll(-1, 1)", _shaped(dtype, "b2,3"))
    for arguments in ("[1, -2], [0, 1]", "shifts=2, axis=-1", "(1, 1), (0, 2)", "shifts=1, dims=0"):
        yield case("roll", arguments, f"paddle.roll(x, {arguments})", "f32[b2,3,4]")
    yield case("roll", "Tensor shifts", "paddle.roll(x, paddle.to_tensor(1), 0)", "f32[b2,3]")
    yield case("roll", "Tensor shifts", "paddle.roll(x, paddle.to_tensor([1, 2]), [0, 1])", "f32[b2,3]")
    yield case("roll", "list of Tensor", "paddle.roll(x, [paddle.to_tensor(1), 0], [0, 1])", "f32[b2,3]")
    yield case("roll", "Tensor axis", "paddle.roll(x, 1, paddle.to_tensor(1))", "f32[b2,3]")
    yield case("roll", "shifts from the input", "paddle.roll(x, y, 0)", "f32[4,3]", "i64[1]@i(1,3)")
    yield case("roll", "0-D", "paddle.roll(x, 1)", "f32[]")
    for dtype in DTYPES:
        yield case("expand_as", "function", "paddle.expand_as(x, y)", _shaped(dtype, "3"), "f32[b2,3]")
        yield case("expand_as", "method", "x.expand_as(y)", _shaped(dtype, "1,3"), "f32[4,2,3]")
    yield case("expand_as", "0-D", "paddle.expand_as(x, y)", "f32[]", "f32[2,3]")
    yield case("expand_as", "0-D to 0-D", "paddle.expand_as(x, y)", "f32[]", "f32[]")
    yield case("expand_as", "keyword", "paddle.expand_as(input=x, other=y)", "f32[3]", "f32[2,3]")
    i, m = "(paddle.to_tensor([0, 1]),)", "(x > 0.5,)"
    for dtype in DTYPES:
        yield case("index_put", "function", f"paddle.index_put(x, {i}, x[0])", _shaped(dtype, "3,3"))
        yield case("index_put", "method", f"x.index_put({i}, x[1:], True)", _shaped(dtype, "3,3"))
        yield case("index_put_", "method", f"y = x + 0\ny.index_put_({i}, x[2])\nreturn y", _shaped(dtype, "3,3"))
    yield case("index_put", "mask", f"paddle.index_put(x, {m}, y)", "f32[3,3]", "f32[]")
    yield case("index_put", "two indices", "paddle.index_put(x, (y, y), z)", "f32[3,3]", "i64[2]@i(0,3)", "f32[2]")
    yield case(
        "index_put", "accumulate", "paddle.index_put(x, [y], z, accumulate=True)", "f32[3,3]", "i64[4]@i(0,3)", "f32[3]"
    )
    yield case("index_put", "keyword", f"paddle.index_put(input=x, indices={i}, values=x[0])", "f32[3,3]")
    yield case("index_put_", "function", f"y = x * 1\npaddle.index_put_(y, {i}, x[2], True)\nreturn y * 2", "f32[3,3]")
    yield case("index_put_", "result", f"(x * 1).index_put_({i}, x[2])", "f32[b3,3]")
    yield case("index_put_", "an input", f"x.index_put_({i}, y)\nreturn x + 1", "f32[3,3]", "f32[3]")


def _sample() -> Iterator[Case]:
    grid = "f32[b2,3,3,2]@u(-1.3,1.3)"
    for mode in ("bilinear", "nearest"):
        for padding in ("zeros", "border", "reflection"):
            for corners in (True, False):
                body = f"F.grid_sample(x, y, mode='{mode}', padding_mode='{padding}', align_corners={corners})"
                yield case("grid_sample", f"{mode} {padding} {corners}", body, "f32[b2,3,4,4]", grid)
    yield case(
        "grid_sample",
        "positional",
        "F.grid_sample(x, y, 'nearest', 'border', False)",
        "f64[2,3,4,4]",
        "f64[2,3,3,2]@u(-1,1)",
    )
    yield case("grid_sample", "keyword", "F.grid_sample(input=x, grid=y)", "f32[b2,3,4,4]", grid)
    yield case("grid_sample", "3-D", "F.grid_sample(x, y)", "f32[1,2,3,3,3]", "f32[1,2,2,2,3]@u(-1,1)")


def _held() -> Iterator[Case]:
    """References that user code took before the export."""
    x, xy = ("f32[b2,3]",), ("f32[b2,3]", "f32[b2,3]")
    yield case("multiply", "held: module global", "raw_multiply(x, y)", *xy)
    yield case("multiply", "held: list", "HELD_LIST[0](x, y)", *xy)
    yield case("multiply", "held: closure", "HELD_CLOSURE(x, y)", *xy)
    yield case("multiply", "held: class", "HeldInClass.op(x, y)", *xy)
    yield case("multiply", "held: attribute", "self.op(x, y)", *xy, init="self.op = raw_multiply")
    yield case("multiply", "held: operator", "operator.mul(x, y)", *xy)
    yield case("exp", "held: dict", "HELD_DICT['exp'](x)", *x)
    yield case("sum", "held: partial", "HELD_PARTIAL(x)", *x)
    yield case("tanh", "held: wrapper", "HELD_FUNCTION(x)", *x)
    yield case("abs", "held: method", "HELD_METHOD(x)", *x)
    yield case("matmul", "held: from paddle", "matmul_from_paddle(x, y)", "f32[b2,3]", "f32[3,4]")
    yield case("sigmoid", "held: attribute", "self.act(x)", *x, init="self.act = F.sigmoid")
    yield case(
        "tanh",
        "held: list of layers",
        "for act in self.acts:\n    x = act(x)\nreturn x",
        *x,
        init="self.acts = [paddle.tanh, paddle.tensor.ops.exp]",
    )
