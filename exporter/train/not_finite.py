"""In a child: where NaN or infinity begins, forward and backward."""

from __future__ import annotations

import contextlib
import linecache
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from exporter.train.finding import Finding
from exporter.train.lines import FirstWrong, Line, Ran, line_by_line
from exporter.train.passes import ROOT, Passes, has_nan, is_finite, leads_to_nan

if TYPE_CHECKING:
    import paddle

_BOUND = "bound what it computes: log, sqrt, exp, a division"
_CLEAR = "keep clear of sqrt(0), 0/0 and norm(0)"
#: What Paddle says of the operator whose result is not finite, with FLAGS_check_nan_inf (3.0 to 3.3).
_OPERATOR = re.compile(r"NAN or INF .*?op=(\w+)")
#: How an operator is written where its name does not stand in the code.
_WRITTEN = {
    **{
        "divide": r"/",
        "elementwise_pow": r"\*\*",
        "pow": r"\*\*|\bpow\b",
        "multiply": r"\*",
        "matmul": r"@|\bmatmul\b",
    },
    **{"p_norm": r"\bnorm\b", "frobenius_norm": r"\bnorm\b"},
}


def wrong_at_the_start(layer: paddle.nn.Layer, inputs: dict[str, paddle.Tensor]) -> list[Finding]:
    """Parameters, buffers and inputs that hold NaN or infinity before anything is computed."""
    held = {**dict(layer.named_parameters()), **dict(layer.named_buffers())}
    found = [
        Finding("error", name, "it holds NaN or infinity before the first step", "look at how it is initialised")
        for name, value in held.items()
        if not is_finite(value)
    ]
    return found + [
        Finding("error", name, "it holds NaN or infinity", "clean the data, or what prepares it")
        for name, value in inputs.items()
        if not is_finite(value)
    ]


def forward_source(passes: Passes, value: paddle.Tensor, run: Callable[[], Any]) -> Finding:
    """Where a loss that is not finite became so, of finite parameters and inputs; `run` runs it again.

    Where there is NaN, −∞ is not looked for: a mask of it is no fault.
    """
    wrong = leads_to_nan if has_nan(value) else (lambda tensor: not is_finite(tensor))
    first = FirstWrong(wrong)
    passes_before = list(passes.calls)
    with line_by_line(lambda: passes.place, first.look):
        run()
    line = f" ({first.line})" if first.line else ""
    for call in passes_before:
        if any(map(wrong, call.outputs)):
            if not any(map(wrong, call.inputs)):
                what = f"forward makes NaN or infinity of finite inputs{line}"
                return Finding("error", call.name, what, _BOUND)
            parent = call.name.rpartition(".")[0] or ROOT
            what = f"its code makes NaN or infinity before it calls {call.name}{line}"
            return Finding("error", parent, what, _BOUND)
    return Finding("error", "loss", f"it is NaN or infinite, of finite outputs{line}", _BOUND)


def backward_source(passes: Passes, run: Callable[[], Any]) -> Finding | None:
    """Where the backward pass makes a gradient that is not finite; None where all are finite.

    Paddle is asked for the operator, and the place is that of the only line that calls it, if there is only one.
    """
    if not passes.faulty:
        return None
    kind, name = passes.faulty[0]
    place = name if kind == "parameter" else _consumer(passes, name)
    ran = Ran()
    with line_by_line(lambda: passes.place, ran.look):
        value = run()
    operator = _operator(value)
    lines = [line for line in ran.lines if operator and _calls(line, operator)]
    if len(lines) == 1:
        place = lines[0].place
    said = f" in {operator}" if operator else ""
    where = f" ({', '.join(map(str, lines))})" if 0 < len(lines) <= 3 else ""
    return Finding("error", place, f"its backward pass makes NaN or infinity{said}{where}", _CLEAR)


def _operator(value: paddle.Tensor) -> str:
    """The operator whose gradient is not finite first; "" where Paddle does not say."""
    import paddle

    flag = "FLAGS_check_nan_inf"
    before = paddle.get_flags([flag])
    paddle.set_flags({flag: True})
    try:
        with contextlib.suppress(ValueError):
            value.backward()
    except (RuntimeError, OSError) as error:  # OSError through a PyLayer
        said = _OPERATOR.search(str(error))
        return str(said[1]).removesuffix("_grad") if said else ""
    finally:
        paddle.set_flags(before)
    return ""


def _calls(line: Line, operator: str) -> bool:
    written = _WRITTEN.get(operator, rf"\b{re.escape(operator)}\b")
    return re.search(written, linecache.getline(line.path, line.number)) is not None


def _consumer(passes: Passes, name: str) -> str:
    """The call that takes what `name` gave, whose gradient was not finite; whose code it is where none does."""
    made = next(call for call in passes.calls if call.name == name)
    for call in passes.calls:
        if call.name != name and any(value is output for value in call.inputs for output in made.outputs):
            return call.name
    return name.rpartition(".")[0] or ("loss" if name == ROOT else ROOT)
