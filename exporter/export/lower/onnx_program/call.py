"""One operator of PIR while it is lowered: what it reads is counted, so that nothing of it is dropped in silence."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeAlias

from exporter.base.errors import ModelError
from exporter.base.readers.program import Operator, TensorType
from exporter.export.lower.onnx_program.graph import Builder, Growing, Pair, Tensor


class OperatorRefused(ModelError):
    """What ONNX, or this writer, cannot say."""

    operator: Operator


class NeedsOpset(OperatorRefused):
    """What ONNX can say since a later opset, which is `opset`."""

    opset = 0


class Unwritten:
    """Stands for a result that no lowering computes; whoever reads it is refused."""


UNWRITTEN = Unwritten()
#: What stands for one value of PIR: a tensor, a list of them, or nothing where an operand is left out.
Lowered: TypeAlias = "Tensor | Pair | Growing | tuple[Tensor | Pair, ...] | Unwritten | None"
#: Returns the results in order; None stands for a result that is not computed.
Lowering: TypeAlias = "Callable[[Call], Tensor | Pair | Sequence[Lowered] | None]"

#: They say where and when Paddle computes, not what.
_NEVER_MATTER = (
    *("place", "dst_place_type", "op_callstack", "op_device", "op_role", "op_role_var", "op_namescope"),
    "with_quant_attr",
)
_WIDER = {
    "float16": "float32",
    "bfloat16": "float32",
    "int8": "int32",
    "uint8": "int32",
    "int16": "int32",
}


def wide(dtype: str) -> str:
    """The dtype that is computed in: runtimes have few kernels for narrow ones, and Paddle rounds only the result."""
    return _WIDER.get(dtype, dtype)


class Call:
    """`b` emits nodes. Reading operands and attributes goes through this object alone."""

    def __init__(
        self,
        operator: Operator,
        operands: Sequence[Lowered],
        builder: Builder,
        read: Mapping[int, Collection[str]] | None = None,
    ) -> None:
        self.operator, self.b = operator, builder
        self._results_read = read or {}
        self._operands = list(operands)
        self._read: set[int] = set()
        self._attributes_read: set[str] = set()

    def refuse(self, reason: str) -> OperatorRefused:
        """The error for what ONNX, or this writer, cannot say."""
        place = f" in sublayer {self.operator.layer.strip('/')}" if self.operator.layer.strip("/") else ""
        refusal = OperatorRefused(
            f"operator {self.operator.name} (number {self.operator.index}{place}): {reason}",
            where="onnx",
            hint="write that part of forward with other operators, or leave onnx out: pir and pdmodel hold it",
        )
        refusal.operator = self.operator
        return refusal

    def since(self, opset: int, what: str) -> None:
        """Make sure that the opset is new enough.

        Raises:
            NeedsOpset: it is not.
        """
        if self.b.opset < opset:
            refusal = self.refuse(f"ONNX has {what} since opset {opset}")
            needed = NeedsOpset(refusal.what, where=refusal.where, hint=f"ask for `opset: {opset}`, or for none")
            needed.operator, needed.opset = self.operator, opset
            raise needed

    def __len__(self) -> int:
        return len(self._operands)

    def has(self, at: int) -> bool:
        """Whether an operand is there; optional ones may be left out."""
        self._read.add(at)
        return at < len(self._operands) and self._operands[at] is not None

    def maybe(self, at: int) -> Tensor | None:
        """An operand, widened; None where it is left out."""
        return self.x(at) if self.has(at) else None

    def x(self, at: int = 0) -> Tensor:
        """An operand, widened to a dtype that runtimes compute in."""
        found = self.raw(at)
        return self.b.cast(found, wide(found.dtype))

    def raw(self, at: int = 0) -> Tensor:
        """An operand in its own dtype."""
        self._read.add(at)
        found = self._operands[at] if at < len(self._operands) else None
        if not isinstance(found, Tensor):
            kinds = {Unwritten: "a result that is not written", Pair: "of complex values, which are not written here"}
            what = kinds.get(type(found), "not a tensor")
            raise self.refuse(f"operand {at} is {what}")
        return found

    def growing(self, at: int) -> Growing:
        """An operand that is a list which a loop appends to."""
        self._read.add(at)
        growing = self._operands[at]
        if not isinstance(growing, Growing):
            raise self.refuse(f"operand {at} is no list that grows")
        return growing

    def pair(self, at: int) -> Pair:
        """An operand that is complex, or real with an imaginary part of zeros."""
        found = self._operands[at] if at < len(self._operands) else None
        self._read.add(at)
        if isinstance(found, Pair):
            return found
        real = self.x(at)
        floats = next((part.real.dtype for part in self._operands if isinstance(part, Pair)), "float32")
        real = self.b.cast(real, floats)
        return Pair(real, self.b.expand(self.b.constant(0.0, floats), self.b.shape_of(real), real.shape))

    def pairs(self, at: int) -> list[Pair]:
        """An operand that is a list of complex values."""
        self._read.add(at)
        found = self._operands[at]
        parts = [part for part in found if isinstance(part, Pair)] if isinstance(found, tuple) else []
        if not isinstance(found, tuple) or len(parts) != len(found):
            raise self.refuse(f"operand {at} is no list of complex values")
        return parts

    def xs(self, at: int = 0) -> list[Tensor]:
        """An operand that is a list of tensors, each widened."""
        self._read.add(at)
        found = self._operands[at]
        parts = list(found) if isinstance(found, tuple) else [self.raw(at)] if found is not None else []
        tensors = [part for part in parts if isinstance(part, Tensor)]
        if len(tensors) != len(parts):
            raise self.refuse(f"operand {at} holds complex values, which are not written here")
        return [self.b.cast(part, wide(part.dtype)) for part in tensors]

    def attr(self, name: str, default: Any = None) -> Any:
        """An attribute, which counts as honoured from now on."""
        self._attributes_read.add(name)
        return self.operator.attributes.get(name, default)

    def ignore(self, *names: str) -> None:
        """Say that attributes make no difference here."""
        self._attributes_read.update(names)

    def idle(self, *operands: int) -> None:
        """Say that operands make no difference here."""
        self._read.update(operands)

    def insist(self, name: str, *allowed: Any) -> Any:
        """An attribute that is honoured only where it has one of these values."""
        value = self.attr(name, allowed[0])
        if value not in allowed:
            raise self.refuse(f"{name} = {value!r} is not written")
        return value

    def integers(self, at: int) -> list[int]:
        """An operand that is a constant, as integers.

        Raises:
            ModelError: it is computed while the model runs.
        """
        found = self._operands[at] if at < len(self._operands) else None
        self._read.add(at)
        if isinstance(found, tuple) and found:
            arrays = [part.array for part in found if isinstance(part, Tensor) and part.array is not None]
            if len(arrays) == len(found):
                return [int(array.ravel()[0]) for array in arrays]
        if not isinstance(found, Tensor) or found.array is None:
            raise self.refuse(f"operand {at} is computed while the model runs, and ONNX needs it as a constant")
        return [int(number) for number in found.array.ravel()]

    def number(self, at: int) -> float:
        """Like :meth:`integers`, for one number of any kind."""
        found = self.raw(at)
        if found.array is None or found.array.size != 1:
            raise self.refuse(f"operand {at} is computed while the model runs, and ONNX needs it as a constant")
        return float(found.array.ravel()[0])

    def known(self, at: int) -> bool:
        """Whether an operand is a constant."""
        found = self._operands[at]
        parts = found if isinstance(found, tuple) else (found,)
        return all(isinstance(part, Tensor) and part.array is not None for part in parts)

    def vector(self, at: int) -> Tensor:
        """An operand that is a vector of int64, or a list of numbers that makes one."""
        self._read.add(at)
        found = self._operands[at]
        if isinstance(found, tuple):
            if self.known(at):
                return self.b.constant(self.integers(at))
            return self.b.concat([self.b.reshape(self.b.cast(part, "int64"), [1]) for part in self.xs(at)])
        value = self.b.cast(self.raw(at), "int64")
        if value.array is not None:
            return self.b.constant(value.array.reshape(-1))
        return value if value.rank == 1 else self.b.reshape(value, [-1], [1 if not value.rank else -1])

    def result(self, at: int = 0) -> TensorType:
        """What PIR declares of a result."""
        declared = self.operator.results[at].type
        if not isinstance(declared, TensorType):
            raise self.refuse(f"result {at} is not a tensor")
        return declared

    def wants(self, at: int) -> bool:
        """Whether anything reads a result."""
        return self.operator.results[at].id in self._results_read

    def is_read_by(self, names: Collection[str], at: int = 0) -> bool:
        """Return whether an operator of one of these names reads a result."""
        return bool(set(self._results_read.get(self.operator.results[at].id, ())) & set(names))

    def unread(self) -> str:
        """What the lowering has not looked at; empty where it has seen everything."""
        operands = [at for at, given in enumerate(self._operands) if given is not None and at not in self._read]
        left = set(self.operator.attributes) - self._attributes_read - set(_NEVER_MATTER)
        if left:
            return f"attribute {min(left)} is not written"
        return f"operand {operands[0]} is not written" if operands else ""
