"""Which inputs of real numbers a program uses as masks: as a condition, a factor of something else, a bias of scores.

Of whole numbers the declared range says enough (`integers(0,2)`). `uniform(0,1)` may be pixels or a mask; what it meets
in the program tells: it decides in `where` or `masked_fill`, multiplies what other inputs give, or is added to that in
front of a softmax, with nothing but casts, shapes, constants and comparisons between. Read from the written program,
without Paddle.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from exporter.base.readers.nodes import Node, nodes
from exporter.base.readers.program import read_operators
from exporter.export.lower.base import Artifact

#: Formats whose programs are read, the best readable first.
_FORMATS = ("pir", "onnx", "pdmodel")
#: Names by which the formats call what leaves a mask one, in small letters and without `elementwise_` and a last 2.
_KEEP = frozenset(
    """abs assign bitwise_not cast clip equal expand expand_as flatten full_like greater greater_equal greater_than
    greaterorequal identity less less_equal less_than lessorequal logical_and logical_not logical_or max min maximum
    minimum mul multiply neg not not_equal or and pow reciprocal reshape scale share_data share_data_ sign slice split
    square squeeze stack strided_slice sub subtract add tile transpose unsqueeze where div divide floor round""".split()
)
#: By the operator of PIR, the operand that is a condition.
_CONDITIONED = {"where": 0, "masked_fill": 1, "masked_fill_": 1, "masked_select": 1}
_FACTORS, _TERMS = frozenset({"mul", "multiply"}), frozenset({"add", "sub", "subtract"})
_SCORES = frozenset({"softmax", "log_softmax", "logsoftmax", "exp"})


@dataclass(frozen=True)
class _Step:
    """An operator of whatever format: its name, its values, and the one that decides between others, if one does."""

    kind: str
    takes: Sequence[str]
    gives: Sequence[str]
    condition: str = ""


def program_of(folder: Path, artifacts: Sequence[Artifact]) -> Path | None:
    """The program of the artifacts in a folder that says most; None where there is none."""
    programs = {artifact.format: folder / artifact.main for artifact in artifacts if artifact.precision == "fp32"}
    return next((programs[name] for name in _FORMATS if name in programs), None)


def masks_in(program: Path, inputs: Sequence[str], candidates: Sequence[str]) -> tuple[str, ...]:
    """Those of the `candidates`, among all inputs of a program, that it uses as masks."""
    steps, values = _read(program, inputs)
    return tuple(name for name in candidates if name in values and _is_mask(steps, values, name))


def _is_mask(steps: Sequence[_Step], inputs: Mapping[str, str], name: str) -> bool:
    """Follow what is made of the input alone, what others have a say in, and sums of both, which may be scores."""
    own, scores = {inputs[name]}, set[str]()
    others = {value for other, value in inputs.items() if other != name}
    for step in steps:
        takes = set(step.takes)
        mine, theirs = takes & own, takes & others
        if step.condition in own or (mine and theirs and step.kind in _FACTORS):
            return True
        if takes & scores and step.kind in _SCORES:
            return True
        if (mine and theirs and step.kind in _TERMS) or (takes & scores and step.kind in _KEEP):
            scores.update(step.gives)
        if theirs:
            others.update(step.gives)
        elif mine and step.kind in _KEEP:
            own.update(step.gives)
    return False


def _read(program: Path, inputs: Sequence[str]) -> tuple[list[_Step], dict[str, str]]:
    """The operators in order, and the value of each input."""
    if program.suffix != ".json":
        return [_of_node(node) for node in nodes(program)], {name: name for name in inputs}
    steps, values = [], {}
    for operator in read_operators(program).operators:
        takes, gives = [str(value) for value in operator.operands], [str(value.id) for value in operator.results]
        kind = _plain(operator.name)
        if kind == "data":
            values[str(operator.attributes["name"])] = gives[0]
        place = _CONDITIONED.get(kind, len(takes))
        steps.append(_Step(kind, takes, gives, takes[place] if place < len(takes) else ""))
    return steps, {name: values[name] for name in inputs if name in values}


def _of_node(node: Node) -> _Step:
    kind = _plain(node.kind)
    condition = node.taken("0") or node.taken("Condition") if kind == "where" else node.taken("Mask")
    return _Step(kind, [value for values in node.inputs.values() for value in values], list(node.given()), condition)


def _plain(kind: str) -> str:
    return kind.lower().removeprefix("elementwise_").removesuffix("2")
