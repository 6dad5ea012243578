"""One call of a sunk API: its arguments by the names of the signature, whatever spelling the user chose."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from packaging.version import Version

from exporter.paddle import values
from exporter.paddle.refusal import cannot_lower
from exporter.paddle.sunk import plainly


@cache
def signature_of(text: str) -> inspect.Signature:
    """The signature written in a table entry, such as "x, axis=None, keepdim=False"."""
    namespace: dict[str, Any] = {}
    exec(f"def api({text}): ...", namespace)  # noqa: S102 - the text is a literal of our own table
    return inspect.signature(namespace["api"])


@dataclass
class Call:
    """The arguments of one call; dtype rules replace inputs by their casts in place.

    `target` is the oldest Paddle that has to load the file, None where any may.
    """

    api: str
    arguments: dict[str, Any]
    target: Version | None

    @staticmethod
    def bind(
        api: str, signature: inspect.Signature, aliases: Mapping[str, str], args: Any, kwargs: Any
    ) -> dict[str, Any]:
        """Arguments by parameter name, defaults filled in.

        Raises:
            CannotLower: the call does not fit the signature. Eager Paddle refuses it too.
        """
        spelled = {aliases.get(name, name): value for name, value in kwargs.items()}
        try:
            bound = signature.bind(*args, **spelled)
        except TypeError as error:
            raise cannot_lower(f"paddle.{api}", str(error), f"call it as {api}{plainly(signature)}") from error
        bound.apply_defaults()
        return dict(bound.arguments)

    def __getitem__(self, name: str) -> Any:
        return self.arguments[name]

    def __setitem__(self, name: str, value: Any) -> None:
        self.arguments[name] = value

    def constant(self, name: str) -> Any:
        """The argument as a Python value; of a Tensor, the value it has whenever the program runs.

        Raises:
            CannotLower: the Tensor is computed from the inputs, so its value is not known while tracing.
        """
        return values.known(self[name], f"paddle.{self.api}", name)

    def axes(self, name: str) -> list[int]:
        """The axes of a reduction, all of them for None and for an empty list; [] for a 0-D input."""
        axis = self.constant(name)
        rank = len(self["x"].shape)
        chosen = [] if axis is None else [axis] if isinstance(axis, int) else list(axis)
        return chosen if chosen and rank else list(range(rank))
