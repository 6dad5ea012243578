"""`.json`: a Paddle program in PIR (Paddle 3), read without Paddle.

`base_code.version` tells the writer (measured): 1 is 3.0, 2 is 3.1, 3 is 3.2 and 4 is 3.3. In an operator `#` is its
name, `A` its attributes, `I` and `O` its operands and results, `TT` a type; dialects are numbers ("1.relu" is
pd_op.relu), and a parameter is the operator `p` whose fourth attribute is its name.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from exporter.base.bounded_json import unique
from exporter.base.errors import UsageError
from exporter.base.readers.base import Content, ModelFacts, Reader, Weight, checked_shape, damaged, map_file
from exporter.base.readers.whole import refuse_broken
from exporter.base.tensors import TensorSpec

WRITERS = {1: "3.0", 2: "3.1", 3: "3.2", 4: "3.3"}
_DIALECTS = {"0": "builtin.", "1": "", "2": "cf.", "3": "custom.", "4": "dist."}
DTYPES = {
    "t_bool": "bool",
    "t_i8": "int8",
    "t_ui8": "uint8",
    "t_i16": "int16",
    "t_i32": "int32",
    "t_i64": "int64",
    "t_f16": "float16",
    "t_bf16": "bfloat16",
    "t_f32": "float32",
    "t_f64": "float64",
    "t_c64": "complex64",
    "t_c128": "complex128",
    "t_f8e4m3fn": "float8_e4m3fn",
    "t_f8e5m2": "float8_e5m2",
}
_PARAMETER, _DATA, _FETCH = "p", "1.data", "1.fetch"
#: The dropout state of a recurrent layer is declared and never written (measured on 3.3.1); a deep copy of the layer
#: puts more behind the name.
_NOT_STORED = "__non_persistable"
#: Text, not weights: 1,600 operators take 0.7 MB. Parsed, JSON takes some twenty times its size.
_MAX_BYTES = 24 << 20
#: What walking JSON of another shape than ours raises; anything else would be a bug of ours.
WRONG_SHAPE = (LookupError, TypeError, ValueError, AttributeError, OverflowError)


def facts(content: Content, where: str) -> ModelFacts:
    """Facts of a program; its weights are declared, sorted by name.

    Raises:
        UsageError: JSON of another kind.
        BundleError: not JSON, or a PIR program that is not whole.
    """
    return facts_of(parsed(content, where), len(content), where)


def facts_of(program: Any, size: int, where: str) -> ModelFacts:
    """The same of JSON of so many bytes that was parsed; raises as :func:`facts`."""
    try:
        version = int(program["base_code"]["version"])
        operators = list(_operators(program["program"]))
        if any(one["#"] == _DATA for one in operators):  # of a program without inputs it is said that it has none
            refuse_broken(program["program"], where, DTYPES)
        names = Counter(str(one["#"]) for one in operators)
        declared = [_weight(one, where) for one in operators if one["#"] == _PARAMETER]
        weights = [one for one in declared if _NOT_STORED not in one.name]
        inputs = tuple(_spec(one, one["O"][0], where) for one in operators if one["#"] == _DATA)
        fetches = sorted((one for one in operators if one["#"] == _FETCH), key=lambda one: int(_attribute(one, "col")))
        outputs = tuple(_spec(one, one["O"][0], where) for one in fetches)
    except RecursionError as error:
        raise damaged("operators nested too deep", where) from error
    except WRONG_SHAPE as error:
        raise damaged(f"not a PIR program ({type(error).__name__}: {error})"[:200], where) from error
    return ModelFacts(
        "pir",
        size,
        inputs=inputs,
        outputs=outputs,
        operators=_histogram(names),
        writer=f"Paddle {WRITERS.get(version, 'of an unknown version')}",
        versions={"pir": version},
        weights=tuple(sorted(weights, key=lambda weight: weight.name.encode())),
    )


def parsed(content: Content, where: str) -> Any:
    """The JSON of a PIR program; raises as :func:`facts`."""
    if len(content) > _MAX_BYTES:
        raise damaged(f"{len(content)} bytes of JSON, more than any program has", where)
    try:
        program = json.loads(content[:].decode("utf-8-sig"), object_pairs_hook=unique)  # Paddle reads no UTF-16
    except RecursionError as error:
        raise damaged("JSON nested too deep", where) from error
    except ValueError as error:
        raise damaged(f"not JSON ({error})"[:200], where) from error
    magic = program.get("base_code") if isinstance(program, dict) else None
    if not isinstance(magic, dict) or magic.get("magic") != "pir":
        raise UsageError(
            "JSON, but not a PIR program", where=where, hint="check the path: a program has base_code.magic 'pir'"
        )
    return program


def _operators(program: Any) -> Iterator[Any]:
    """Every operator in the order of the file, those of nested regions after their owner."""
    pending = [program]
    while pending:
        owner = pending.pop()
        blocks = [block for region in owner.get("regions", ()) for block in region["blocks"]]
        inner = [operator for block in blocks for operator in block["ops"]]
        if owner is not program:
            yield owner
        pending.extend(reversed(inner))


def _histogram(names: Counter[str]) -> dict[str, int]:
    counted: Counter[str] = Counter()
    for name, count in names.items():
        dialect, _, plain = name.partition(".")
        if name not in (_PARAMETER, _DATA, _FETCH):
            counted[_DIALECTS.get(dialect, f"{dialect}.") + plain] += count
    return dict(sorted(counted.items()))


def _attribute(operator: Any, name: str) -> Any:
    for one in operator["A"]:
        if one["N"] == name:
            return one["AT"]["D"]
    raise LookupError(f"no attribute {name!r}")


def _spec(operator: Any, result: Any, where: str) -> TensorSpec:
    return TensorSpec(_text(_attribute(operator, "name")), *_type(result, where))


def _weight(operator: Any, where: str) -> Weight:
    return Weight(_text(operator["A"][3]), *_type(operator["O"], where))


def _type(result: Any, where: str) -> tuple[str, tuple[int, ...]]:
    """The dtype and shape of a result, `{"TT": {"#": "0.t_dtensor", "D": [{"#": "0.t_f32"}, [-1], …]}}`."""
    element, dims = result["TT"]["D"][0], result["TT"]["D"][1]
    # Paddle multiplies an unknown size like any other: flattened, [-1, 4, 5] is -20.
    known = [-1 if type(dim) is int and -(1 << 63) <= dim < 0 else dim for dim in dims]
    return DTYPES[element["#"].partition(".")[2]], checked_shape(known, where)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"a name that is {type(value).__name__}")
    return value


def read_pir(path: Path) -> ModelFacts:
    """Facts of a file; raises as :func:`facts`, and `UsageError` where it cannot be opened."""
    return facts(map_file(path), str(path))


plugin: Reader = Reader((".json",), facts)
