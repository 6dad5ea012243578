"""Hold a program against the limits of consumers: what each cannot take, where it stands, and who says so."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from exporter.base.errors import UsageError
from exporter.engines.consumers.base import Limit, consumer_of, name_of, names
from exporter.engines.consumers.program import Place, Program, SizedValue, program_of_spec
from exporter.spec.model import Spec

#: The largest finite float16, and what is smaller than its smallest step from 0 (2⁻²⁴, about 5.96e-8).
LARGEST, SMALLEST = 65504.0, 6e-8
#: Places of one kind that are named; the rest is counted.
_NAMED = 3
#: A value has a width beside its channels from this rank on.
_HAS_WIDTH = 3


@dataclass(frozen=True)
class Finding:
    """What one consumer does not take: what stands in its way, where, and the limit with its source."""

    target: str
    what: str
    limit: Limit
    place: Place | None = None

    @property
    def is_error(self) -> bool:
        """Whether the consumer cannot take the program, by its source."""
        return self.limit.level == "error"

    def to_json(self) -> dict[str, object]:
        """Return the object that `exporter targets --json` prints."""
        place = self.place
        summary = {"target": self.target, "severity": self.limit.level, "kind": self.limit.kind, "what": self.what}
        where = {} if place is None else {key: value for key, value in vars(place).items() if value}
        return {**summary, **where, "limit": self.limit.says, "source": self.limit.source, "date": self.limit.date}

    def __str__(self) -> str:
        return f"{self.target}: {self.what} ({self.limit.says}; {self.limit.source}, {self.limit.date})"


@dataclass(frozen=True)
class LayerRange:
    """The finite values that an operator puts out, without sign: the largest, and the smallest that is not 0."""

    place: Place
    largest: float
    smallest: float

    @property
    def overflows(self) -> bool:
        """Whether a value leaves the range of float16."""
        return self.largest > LARGEST

    @property
    def vanishes(self) -> bool:
        """Whether every value that is not 0 becomes 0 in float16, or nearly so."""
        return 0 < self.largest < SMALLEST


def check(program: Program, targets: Sequence[str], ranges: Sequence[LayerRange] = ()) -> tuple[Finding, ...]:
    """Find what stands in the way of each target, in their order; `ranges` as the fp16 scan measured them.

    Raises:
        UsageError: a target names no consumer.
    """
    return tuple(finding for target in targets for finding in _of_target(program, target, ranges))


def _of_target(program: Program, target: str, ranges: Sequence[LayerRange]) -> Iterator[Finding]:
    from packaging.requirements import Requirement

    consumer, wanted = consumer_of(target), Requirement(target)
    if not program.formats & set(consumer.formats):
        had, reads = ", ".join(sorted(program.formats)), " or ".join(consumer.formats)
        raise UsageError(
            f"'{target}' reads {reads}, and there is {had}", where="targets", hint=f"add {reads} to formats"
        )
    for limit in consumer.limits:
        if limit.holds_for(wanted):
            obstacles = _CHECKS[limit.kind](program, limit) if limit.kind != "fp16" else _fp16(ranges)
            for what, place in obstacles:
                yield Finding(target, what, limit, place)


Found = Iterator[tuple[str, Place | None]]


def _opset(program: Program, limit: Limit) -> Found:
    opset = program.opset
    if opset is None or (limit.least or 0) <= opset <= (limit.most or opset):
        return
    yield f"the ONNX has opset {opset}; asked for are {_between(limit)}", None


def _between(limit: Limit) -> str:
    if limit.least is None:
        return f"at most {limit.most}"
    return f"{limit.least} to {limit.most}" if limit.most is not None else f"{limit.least} or later"


def _nothing(_program: Program, _limit: Limit) -> Found:
    """The formats of a consumer are checked first."""
    yield from ()


def _operator(program: Program, limit: Limit) -> Found:
    for name in limit.operators:
        if (places := program.operators.get(name)) is not None:
            first = next(iter(places), None)
            where = f": {first}" if first is not None and (first.layer or first.line) else ""
            yield f"{max(1, len(places))} × {name}{where}", first


def _rank(program: Program, limit: Limit) -> Found:
    def too_many(value: SizedValue) -> bool:
        named = not limit.operators or value.place.operator in limit.operators
        return named and len(value.shape) > (limit.most or 0)

    yield from _values(program, too_many, lambda value: f"{len(value.shape)} dimensions, {list(value.shape)}")
    if not limit.operators:
        for tensor in program.inputs:
            if len(tensor.shape) > (limit.most or 0):
                yield f"input {tensor.name} has {len(tensor.shape)} dimensions", None


def _size(program: Program, limit: Limit) -> Found:
    """Find the last size of what has a width; of the outputs as the ONNX declares them where no value is known."""
    most = limit.most or 0

    def too_wide(value: SizedValue) -> bool:
        return len(value.shape) >= _HAS_WIDTH and value.shape[-1] > most

    yield from _values(program, too_wide, lambda value: f"a width of {value.shape[-1]:,}, over {most:,}")
    if not program.values:
        for tensor in (*program.inputs, *program.outputs):
            last = tensor.shape[-1] if len(tensor.shape) >= _HAS_WIDTH else 0
            if isinstance(last, int) and last > most:
                yield f"{tensor.name} has a width of {last:,}, over {most:,}", None


def _values(program: Program, wrong: Callable[[SizedValue], bool], words: Callable[[SizedValue], str]) -> Found:
    values = [value for value in program.values if wrong(value)]
    for value in values[:_NAMED]:
        yield f"{value.place}: {words(value)}", value.place
    if len(values) > _NAMED:
        yield f"{len(values) - _NAMED} more values like these", None


def _bytes(program: Program, limit: Limit) -> Found:
    if program.nbytes > (limit.most or 0):
        yield f"the file has {program.nbytes:,} bytes", None


def _dynamic(program: Program, limit: Limit) -> Found:
    for tensor in program.inputs:
        sizes = tensor.shape[1:] if limit.allowed == "batch" else tensor.shape
        open_sizes = [str(size) for size in sizes if not isinstance(size, int) or size < 0]
        if open_sizes:
            yield f"input {tensor.name} varies in size: {', '.join(open_sizes)}", None


def _dtype(program: Program, limit: Limit) -> Found:
    for tensor in (*program.inputs, *program.outputs):
        if tensor.dtype in limit.dtypes:
            yield f"{tensor.name} is {tensor.dtype}", None


def _external(program: Program, _limit: Limit) -> Found:
    if program.external:
        yield "weights lie in a file beside the ONNX", None


def _attention(program: Program, _limit: Limit) -> Found:
    if program.attention is not None:
        yield f"the network has attention: {program.attention}", program.attention


def _fp16(ranges: Sequence[LayerRange]) -> Found:
    wide = [layer for layer in ranges if layer.overflows]
    gone = [layer for layer in ranges if layer.vanishes]
    for layer in wide[:_NAMED]:
        yield f"{layer.place}: values up to {layer.largest:.4g}, over {LARGEST:,.0f}", layer.place
    if len(wide) > _NAMED:
        yield f"{len(wide) - _NAMED} more layers leave the range of float16", None
    for layer in gone[:_NAMED]:
        yield f"{layer.place}: no value over {layer.largest:.4g}, so all become 0", layer.place
    if len(gone) > _NAMED:
        yield f"{len(gone) - _NAMED} more layers fall under {SMALLEST:g}", None


_CHECKS: Mapping[str, Callable[[Program, Limit], Found]] = {
    **{"opset": _opset, "format": _nothing, "operator": _operator, "rank": _rank, "size": _size, "bytes": _bytes},
    **{"dynamic": _dynamic, "dtype": _dtype, "external": _external, "attention": _attention},
}


def consumers_in(targets: Sequence[str]) -> tuple[str, ...]:
    """Those of a spec's targets that name a consumer."""
    return tuple(target for target in targets if name_of(target) in names())


def refuse_consumers(spec: Spec) -> None:
    """Make sure, before any work, that the consumers which a spec names take what it says of its program.

    Raises:
        UsageError: one does not, by its source; the message names the limit.
    """
    for finding in check(program_of_spec(spec), consumers_in(spec.targets)):
        if finding.is_error:
            hint = "change the spec, or take the target out; `exporter targets` lists what each takes"
            raise UsageError(str(finding), where="targets", hint=hint)
