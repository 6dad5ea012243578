"""The shape of a line of the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from exporter.export.lower.pdmodel.attributes import Attribute
from exporter.export.lower.pdmodel.call import Call, signature_of
from exporter.export.lower.pdmodel.dtypes import DtypeRule
from exporter.paddle.sunk import documented


@dataclass(frozen=True)
class Sunk:
    """An API whose body Paddle moved to C++, and the operator that the legacy program has for it.

    `signature` and `aliases` are what the C++ argument parser of eager mode accepts. `inputs` maps slots of the
    operator to parameters; `tensors` maps a parameter to the slot that takes it when it is a Tensor whose value is not
    known while tracing. `instead` may answer a call in another way where the operator would be wrong; it returns None
    otherwise. `computed_in` names the dtype to compute in where the legacy operator has no kernel for that of x.
    `writes_x`: the user's `x` means the result from then on. `since` is the first Paddle in which the API is sunk.
    """

    api: str
    operator: str
    dtype: DtypeRule
    signature: str = "x"
    inputs: Mapping[str, str] = field(default_factory=lambda: {"X": "x"})
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    output: str = "Out"
    aliases: Mapping[str, str] = field(default_factory=dict)
    tensors: Mapping[str, str] = field(default_factory=dict)
    instead: Callable[[Call], Any] | None = None
    computed_in: Mapping[str, str] = field(default_factory=dict)
    writes_x: bool = False
    since: str = "3.3"

    def bind(self, args: Any, kwargs: Any) -> dict[str, Any]:
        """The arguments of one call by parameter name, `name` and `out` too, by the installed Paddle's signature."""
        aliases = {"input": "x", "other": "y", "dim": "axis", **self.aliases}
        bound = Call.bind(self.api, documented(self.api) or signature_of(self.signature), aliases, args, kwargs)
        return {"name": None, "out": None, **bound}
