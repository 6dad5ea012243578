"""Paddle's C++ functions by name, with the parameters that the installed Paddle declares for them.

An operator of a PIR program and the function of the same name in `paddle._C_ops` come from one line of Paddle's
`ops.yaml`. The order of the parameters is only needed to call it, and the wheel tells it in two headers
(`include/paddle/phi/api/include/api.h` and `fused_api.h`, 3.0 to 3.3).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

#: A C++ function: tensors of a program give such, and eager ones give eager ones.
Function: TypeAlias = Callable[..., Any]
_HEADERS = "include/paddle/phi/api/include"
_DECLARATION = re.compile(r"^PADDLE_API (.*?)[ ](\w+)\((.*)\);$", re.MULTILINE)
_PARAMETER = re.compile(r"(?P<type>.+?)[ ](?P<name>\w+)(?:\s*=\s*(?P<default>.*))?$", re.DOTALL)


@dataclass(frozen=True)
class Parameter:
    """A parameter of a C++ function: its name, and its type without `const`, `&` and namespaces."""

    name: str
    type: str

    @property
    def is_tensor(self) -> bool:
        """Return whether it is a tensor, a list of tensors, or a tensor that may be absent."""
        return "Tensor" in self.type

    @property
    def is_list(self) -> bool:
        """Return whether it is a list of tensors."""
        return self.is_tensor and "vector" in self.type


@cache
def parameters_of(function: str) -> tuple[Parameter, ...] | None:
    """Return the parameters of a function in their order; None where this Paddle declares no such function."""
    return _declared().get(function, (None, 0))[0]


def results_of(function: str) -> int:
    """Return how many tensors, or lists of them, a function returns; 0 where this Paddle declares no such function."""
    return _declared().get(function, (None, 0))[1]


@cache
def _declared() -> dict[str, tuple[tuple[Parameter, ...], int]]:
    import paddle

    folder = Path(paddle.__file__).parent / _HEADERS
    text = "\n".join((folder / name).read_text() for name in ("api.h", "fused_api.h"))
    return {name: (tuple(_parameters(inside)), _results(kind)) for kind, name, inside in _DECLARATION.findall(text)}


def _results(kind: str) -> int:
    inside = re.fullmatch(r"std::tuple<(.*)>", kind)
    return len(list(_split(inside[1]))) if inside else 1


def _parameters(text: str) -> Iterator[Parameter]:
    for part in _split(text):
        match = _PARAMETER.match(part.strip())
        if match is None or match["name"] == "predefined_out":
            continue
        plain = re.sub(r"\bconst\b|&|\bpaddle::|\bstd::", "", match["type"]).strip()
        yield Parameter(match["name"], plain)


def _split(text: str) -> Iterator[str]:
    """Yield the parts between commas that stand in no bracket."""
    depth = begin = 0
    for place, letter in enumerate(text):
        if letter in "<({":
            depth += 1
        elif letter in ">)}":
            depth -= 1
        elif letter == "," and depth == 0:
            yield text[begin:place]
            begin = place + 1
    yield text[begin:]


def function(name: str) -> Function | None:
    """Return the C++ function of a name, as it stands in `paddle._C_ops` now; None where there is none."""
    from exporter.paddle.private import c_ops

    entry: Function | None = getattr(c_ops, name, None)
    return entry


def current_place() -> object:
    """Return the place where this process computes."""
    from exporter.paddle.private import current_expected_place

    return current_expected_place()
