"""An operator on its way into a legacy program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

#: Of Paddle's operators: Variables, or lists of them, by slot; and attributes by name.
Tensors: TypeAlias = dict[str, Any]
Attributes: TypeAlias = dict[str, Any]


@dataclass
class Appended:
    """An operator that is about to be appended to `block`: its tensors by slot, and its attributes by name."""

    block: Any
    operator: str
    inputs: Tensors
    outputs: Tensors
    attributes: Attributes

    @property
    def output(self) -> Any:
        """The Variable that it writes; the operators that are asked have one."""
        (holder,) = self.outputs.values()
        return only(holder)


#: May change the inputs and attributes of an operator, or give the Variable whose value is written instead.
Step = Callable[[Appended], Any]


def only(value: Any) -> Any:
    """The one tensor of a slot, whether it is in a list or not."""
    return value[0] if isinstance(value, (list, tuple)) and len(value) == 1 else value
