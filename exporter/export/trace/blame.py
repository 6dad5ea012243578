"""Turn what Paddle raises into an error that names the user's line and, where there is one, the operator."""

from __future__ import annotations

import contextlib
import inspect
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from exporter.base.errors import ExporterError, ModelError
from exporter.export.sources.recorded import noted_place
from exporter.paddle.user_line import error_line, quoted_line

if TYPE_CHECKING:
    import paddle

#: C++ parsers of the operators that were sunk in Paddle 3.2 say this of a legacy program's variables.
_SUNK = re.compile(r"(\w+)\(\): argument (?:'\w+' )?\(position \d+\) must be Value, but got (?:Variable|None)")
#: A frame in a network that comes with Paddle.
_NETWORK = re.compile(r'File "([^"]+/paddle/vision/models/[^"]+)", line (\d+)')


@contextlib.contextmanager
def blamed(stage: str, layer: Any = None) -> Iterator[None]:
    """Whatever the block raises that is not ours becomes a `ModelError` of that stage, at the user's line.

    User code and Paddle may raise anything at all in a trace, `SystemExit` included, so no narrower type would do.
    """
    try:
        yield
    except (ExporterError, KeyboardInterrupt):
        raise
    except BaseException as error:  # of any type: user code and Paddle raised it
        text = str(error)
        owner = f"{type(layer).__module__}.{type(layer).__name__}" if layer is not None else ""
        in_file = noted_place(error)
        where, hint = in_file or error_line(error) or owner, _hint(text, of_file=bool(in_file))
        raise ModelError(f"{stage}: {_what(error, text)}", where=where, hint=hint) from error


@contextlib.contextmanager
def placed_at_forward(layer: Any) -> Iterator[None]:
    """A `ModelError` of the block without a place is of what `forward` returns: it stands where that is defined."""
    try:
        yield
    except ModelError as error:
        if error.where:
            raise
        code = getattr(inspect.unwrap(type(layer).forward), "__code__", None)
        where = f"{code.co_filename}:{code.co_firstlineno}" if code else "forward"
        raise type(error)(error.what, where=where, hint=error.hint) from error


def operator_line(static: Any, name: str, turn: int, count: int) -> str:
    """The user's line, of the operator `turn` of the `count` called `name` in the file of a traced layer.

    Where the trace has more of them than the file, whose unread ones are gone, it is the line of the first.
    """
    alike = list(_operators(static.forward.concrete_program.main_program.global_block(), f"pd_op.{name}"))
    chosen = alike[turn if len(alike) == count else 0 :][:1]
    return quoted_line("\n".join(chosen[0].callstack)) if chosen else ""


def operator_lines(static: paddle.nn.Layer) -> list[tuple[str, str]]:
    """The name of each operator in the main block of a traced layer, in its order, with the line of the model's code.

    Of a network that Paddle brings along that is a line of Paddle's `vision/models`.
    """
    block = static.forward.concrete_program.main_program.global_block()
    lines = ("\n".join(operator.callstack) for operator in block.ops)
    names = [operator.name().removeprefix("pd_op.") for operator in block.ops]
    return [(name, quoted_line(text) or _networks_line(text)) for name, text in zip(names, lines, strict=True)]


def _networks_line(text: str) -> str:
    frames = _NETWORK.findall(text)
    return ":".join(frames[-1]) if frames else ""


def _operators(block: Any, name: str) -> Iterator[Any]:
    for operator in block.ops:
        if operator.name() == name:
            yield operator
        for inner in operator.blocks():
            yield from _operators(inner, name)


def _what(error: BaseException, text: str) -> str:
    if sunk := _SUNK.search(text):
        return f"operator '{sunk.group(1)}' cannot be written as .pdmodel by this Paddle: it takes no legacy variable"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    telling = [line for line in lines if re.match(r"^(\(\w+\)|\w*(Error|Exception)\b)", line)]
    said, kind = (telling or lines or ["no message"])[-1][:400], f"{type(error).__name__}: "
    return said if said.startswith(kind) else kind + said


def _hint(text: str, *, of_file: bool) -> str:
    if _SUNK.search(text):
        return "leave pdmodel out of formats; pir and onnx do not have this limit"
    further = "inspect` lists the file's operators" if of_file else "check` names constructs that cannot be traced"
    return f"run with --debug for Paddle's whole message; `exporter {further}"
