"""`.pdmodel`: a Paddle ProgramDesc (`framework.proto`), read without Paddle."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from exporter.base.readers.base import Content, ModelFacts, Reader, Weight, damaged, map_file
from exporter.base.readers.framework import tensor_desc
from exporter.base.readers.wire import Field, Message, root
from exporter.base.tensors import TensorSpec

_FEED, _FETCH = "feed", "fetch"
_LOD_TENSOR = 7


@dataclass
class _Variable:
    name: str = ""
    kind: int = -1
    tensor: tuple[str, tuple[int, ...]] | None = None
    persistable: bool = False


@dataclass
class _Operator:
    """`names` are the variables it reads (fetch) or writes (feed); `column` orders feeds and fetches."""

    kind: str = ""
    reads: list[str] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    column: int = 0


def facts(content: Content, where: str) -> ModelFacts:
    """Facts of a program; its weights are the persistable variables, declared and sorted by name.

    Raises:
        BundleError: not a ProgramDesc, or a feed or fetch of a variable that is no tensor.
    """
    variables: dict[str, _Variable] = {}
    operators: list[_Operator] = []
    versions: dict[str, int | str] = {}
    operator_versions: dict[str, int] = {}
    for part in root(content, where):
        if part.number == 1:
            _block(part.message(), variables, operators)
        elif part.number == 4:
            versions["program"] = _single_integer(part.message())
        elif part.number == 5:
            operator_versions |= dict(_operator_versions(part.message()))
    if not operators:
        raise damaged("no operators: not a Paddle program", where)
    feeds = sorted((one for one in operators if one.kind == _FEED), key=lambda one: one.column)
    fetches = sorted((one for one in operators if one.kind == _FETCH), key=lambda one: one.column)
    kinds = Counter(one.kind for one in operators if one.kind not in (_FEED, _FETCH))
    # Paddle lists every operator that ever changed; those that are here tell something.
    used = {f"operator {kind}": operator_versions[kind] for kind in sorted(kinds) if kind in operator_versions}
    return ModelFacts(
        "pdmodel",
        len(content),
        inputs=tuple(_spec(name, variables, where) for one in feeds for name in one.writes),
        outputs=tuple(_spec(name, variables, where) for one in fetches for name in one.reads),
        operators=dict(sorted(kinds.items())),
        writer=_writer(versions.get("program", 0)),
        versions=versions | used,
        weights=tuple(
            Weight(one.name, *one.tensor)
            for _, one in sorted(variables.items(), key=lambda item: item[0].encode())
            if one.persistable and one.kind == _LOD_TENSOR and one.tensor
        ),
    )


def _block(message: Message, variables: dict[str, _Variable], operators: list[_Operator]) -> None:
    for part in message:
        if part.number == 3:
            variable = _variable(part.message())
            variables.setdefault(variable.name, variable)  # the root block comes first, and its meaning holds
        elif part.number == 4:
            operators.append(_operator(part.message()))


def _variable(message: Message) -> _Variable:
    variable, described = _Variable(), None
    for part in message:
        if part.number == 1:
            variable.name = part.text()
        elif part.number == 2:
            for inner in part.message():
                if inner.number == 1:
                    variable.kind = inner.integer()
                elif inner.number == 3:  # LoDTensorDesc, whose field 1 is the TensorDesc
                    described = next((field.message() for field in inner.message() if field.number == 1), None)
        elif part.number == 3:
            variable.persistable = bool(part.integer())
    if described is not None:
        variable.tensor = tensor_desc(described, computed=not variable.persistable)
    return variable


def _operator(message: Message) -> _Operator:
    operator = _Operator()
    for part in message:
        if part.number == 1:
            operator.reads += _arguments(part)
        elif part.number == 2:
            operator.writes += _arguments(part)
        elif part.number == 3:
            operator.kind = part.text()
        elif part.number == 4:
            name, value = _integer_attribute(part.message())
            if name == "col":
                operator.column = value
    return operator


def _arguments(slot: Field) -> list[str]:
    return [part.text() for part in slot.message() if part.number == 2]


def _integer_attribute(message: Message) -> tuple[str, int]:
    name, value = "", 0
    for part in message:
        if part.number == 1:
            name = part.text()
        elif part.number == 3:
            value = part.integer()
    return name, value


def _operator_versions(message: Message) -> list[tuple[str, int]]:
    pairs = []
    for pair in message:
        name, number = "", 0
        for part in pair.message():
            if part.number == 1:
                name = part.text()
            elif part.number == 2:
                number = _single_integer(part.message())
        pairs.append((name, number))
    return pairs


def _single_integer(message: Message) -> int:
    return next((part.integer() for part in message if part.number == 1), 0)


def _spec(name: str, variables: dict[str, _Variable], where: str) -> TensorSpec:
    variable = variables.get(name)
    if variable is None or variable.tensor is None:
        raise damaged(f"an input or output {name!r} that is no tensor of the program", where)
    return TensorSpec(name, *variable.tensor)


def _writer(version: int | str) -> str:
    """3003001 is 3.3.1; 0 is a build of Paddle from its sources."""
    number = int(version)
    return f"Paddle {number // 1_000_000}.{number // 1000 % 1000}.{number % 1000}" if number > 0 else "Paddle"


def read_pdmodel(path: Path) -> ModelFacts:
    """Facts of a file; raises as :func:`facts`, and `UsageError` where it cannot be opened."""
    return facts(map_file(path), str(path))


plugin: Reader = Reader((".pdmodel",), facts)
