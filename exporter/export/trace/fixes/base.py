"""What a fix is. One file an API; it ends in ``plugin: Fix = …``."""

from __future__ import annotations

import inspect
from abc import ABC
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from exporter.base.tensors import TensorSpec
from exporter.paddle.patches import Patches
from exporter.paddle.private import found
from exporter.paddle.refusal import CannotLower
from exporter.paddle.values import meets_program
from exporter.spec.inputs import Dim

if TYPE_CHECKING:
    import paddle

#: What Paddle's functions take and give: a tensor, what stands for it in a program, a number, or a node of its Python.
Value: TypeAlias = Any
#: What an example computes with, and the layer that it is of. They are values of a program while it is traced, and the
#: layer has parts that its class does not tell of; Paddle has no types.
Tensor: TypeAlias = Any
Layer: TypeAlias = Any
Refuse = Callable[[CannotLower], None]
BOTH = ("pir", "pdmodel")


@dataclass(frozen=True)
class Example:
    """The smallest layer that shows a defect: `forward` of a layer that has the `parts` as attributes.

    Each of the `shapes` is that of a float32 input, in the order of `forward`; a name in one is a dim that varies. The
    defect shows in each of the `formats`, in all of the fix if there are none. Where the cure is to say what no program
    can, `refused` is in what it says. `dims` are the sizes that a spec declares, where the cure goes by them.
    """

    forward: Callable[..., Any]
    shapes: tuple[tuple[int | str, ...], ...]
    parts: Mapping[str, Callable[[], Any]] = field(default_factory=dict)
    formats: tuple[str, ...] = ()
    refused: str = ""
    dims: Mapping[str, Dim] = field(default_factory=dict)

    def layer(self) -> paddle.nn.Layer:
        """A new layer, in evaluation."""
        import paddle

        made = type("Example", (paddle.nn.Layer,), {"forward": self.forward, "__module__": self.forward.__module__})()
        for name, make in self.parts.items():
            setattr(made, name, make())
        made.eval()
        return made

    def inputs(self) -> tuple[TensorSpec, ...]:
        """The inputs, as a spec has them."""
        names = list(inspect.signature(self.forward).parameters)[1:]
        return tuple(TensorSpec(name, "float32", shape) for name, shape in zip(names, self.shapes, strict=True))


class Fix(ABC):
    """A defect of Paddle in what is written of an API, and the cure, which is in force while a layer is traced.

    The docstring of a fix says what stock Paddle does. tests/contract/test_fixes.py traces each example without the fix
    and must see it fail: a fix that the installed Paddle needs no more is told to go.
    """

    #: The APIs, as a user writes them.
    apis: ClassVar[tuple[str, ...]]
    #: In which of them the defect shows; what is made of PIR's files, such as ONNX, has PIR's.
    formats: ClassVar[tuple[str, ...]] = BOTH
    #: The oldest and the newest Paddle in which it was seen.
    seen: ClassVar[tuple[str, str]]
    examples: ClassVar[tuple[Example, ...]]

    def install(self, patches: Patches, refuse: Refuse) -> None:
        """Put the cure in force where the API is; `refuse` is to be told of each refusal, before it is raised."""
        for function in filter(None, map(found, self.apis)):
            patches.body(function, self.within_programs(self.instead, refuse))

    def instead(self, stock: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """What a call of the API gives, if a tensor of a program is among the arguments or in a list of them.

        Raises:
            CannotLower: no program can say it.
        """
        raise NotImplementedError

    @staticmethod
    def within_programs(
        cure: Callable[..., Any], refuse: Refuse, met: Callable[[Iterable[Any]], bool] = meets_program
    ) -> Callable[..., Any]:
        """For :meth:`Patches.body`: `cure(stock, …)` where a program is `met` in the arguments, stock elsewhere."""

        def body(stock: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
            if not met((*args, *kwargs.values())):
                return stock(*args, **kwargs)
            try:
                return cure(stock, *args, **kwargs)
            except CannotLower as refusal:
                refuse(refusal)
                raise

        return body
