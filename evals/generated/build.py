"""Put a network together, statement by statement, each tried eagerly at several sizes before it stays.

What Paddle refuses at one of the sizes, what is not finite, what hardly depends on the input, and what changes much
where the input changes by rounding is left out: every network runs, and has one right answer. The same number gives the
same network, for the same version of Paddle.
"""

from __future__ import annotations

import random
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from evals.generated.network import Network, Step
from evals.generated.statement import CannotFill, Filling, Hole, Known, Statement, chosen, statements
from evals.small.catalogue import Input
from evals.small.truth import drawn

Array = npt.NDArray[Any]
_NAMES = {"nn", "F", "paddle", "np", "self", "namedtuple", "__builtins__"}
#: So many numbers, from a multiple of it, have the same dims: their networks can be one layer.
GROUP = 24
_MOST = 4096  # numbers in a value
_LARGEST = 1e3
_STEPS = (3, 25)
_MOST_OUTPUTS = 4
_MOST_RANK = 5
_DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64")
#: Of an input's numbers, about ten steps of float32; and of a value's largest number, what may come of it.
_ROUNDING, _MOVED = 1e-6, 3e-5
_RANGES = ((1, 3), (1, 4), (2, 5)), ((2, 6), (3, 7), (1, 5))
#: The inputs that are drawn from: dtype, shape, values.
_Kind = tuple[str, tuple[int | str, ...], str]
_FLOAT_INPUTS: tuple[_Kind, ...] = (
    ("float32", ("b", 6), "normal"),
    ("float32", ("b", "t", 4), "normal"),
    ("float32", ("b", 4, 8, 6), "normal"),
    ("float32", ("b", 3, "t", 8), "normal"),
    ("float32", ("b", 4, "t"), "normal"),
    ("float32", ("b", 2, 4, 4, 4), "normal"),
    ("float32", ("b",), "normal"),
    ("float32", (5,), "normal"),
    ("float32", ("t", 6), "uniform(0.1,2)"),
    ("float32", ("b", 6, "t", 2), "uniform(-1,1)"),
    ("float32", (2, 4, 6), "normal"),
    ("float32", (1, 3, 8, 8), "normal"),
    ("float32", ("b", 4), "uniform(0.1,0.9)"),
    ("float64", ("b", 6), "normal"),
    ("float64", ("b", "t", 4), "normal"),
    ("float64", (2, 4), "uniform(0.1,2)"),
    ("float16", ("b", 6), "normal"),
    ("float16", ("b", "t", 4), "normal"),
)
_OTHER_INPUTS: tuple[_Kind, ...] = (
    ("int64", ("b", "t"), "integers(0,9)"),
    ("int64", ("b",), "integers(1,9)"),
    ("int32", ("b", 6), "integers(-9,9)"),
    ("int32", ("b", "t", 4), "integers(-9,9)"),
    ("int64", (4,), "integers(0,9)"),
    ("uint8", ("b", 6), "integers(0,200)"),
    ("int8", ("b", 6), "integers(-9,9)"),
    ("int16", ("b", "t"), "integers(-99,99)"),
    ("bool", ("b", "t"), "integers(0,2)"),
    ("bool", ("b", 6), "integers(0,2)"),
)
#: How often a statement gets what it would not find by itself: a value of a rare dtype or rank, or an input itself.
_BENT, _EARLY, _BARE = 0.3, 0.2, 0.2
#: How often it is the statement that a number has for its own, so that none is rare.
_THEME = 0.1
#: What keeps an operand where its operator is defined; an input may be there as it is.
_GUARDS = re.compile(
    r"\$(\w+)\.abs\(\) \+ (?:\$\([^)]*\)|[\d.]+)|paddle\.(?:sin|tanh)\(\$(\w+)\) \* \$\([^)]*\)"
    r"|F\.sigmoid\(\$(\w+)\)|paddle\.clip\(\$(\w+), [^)]*\)"
)
#: What may take any of equal numbers (exporter/paddle/choices.py): with two of them there is no one right answer.
_CHOOSES = re.compile(r"\b(argsort|topk|kthvalue)\(")


class _Refused(Exception):
    """The statement does not stay."""


@dataclass
class _Try:
    """One sizing: the inputs, and the names as they stand after the steps so far."""

    inputs: dict[str, Array]
    names: dict[str, Any]


def build(seed: int) -> Network:
    """Generate the network of a number."""
    attempt = 0
    while True:
        draw = random.Random(f"{seed}.{attempt}")
        network = _Builder(draw, dims_of(seed)).network(seed)
        if network:
            return network
        attempt += 1


def dims_of(seed: int) -> dict[str, tuple[int, int]]:
    """The ranges of the dims `b` and `t` of a network, the same in each group of :data:`GROUP`."""
    draw = random.Random(f"dims {seed // GROUP}")
    return {name: draw.choice(ranges) for name, ranges in zip("bt", _RANGES, strict=True)}


class _Builder:
    def __init__(self, draw: random.Random, dims: dict[str, tuple[int, int]]) -> None:
        self.draw, self.dims = draw, dims
        kinds = draw.choices(_FLOAT_INPUTS, k=draw.choice((1, 1, 2, 2, 3))) + draw.choices(
            _OTHER_INPUTS, k=draw.choice((0, 1, 1, 2, 3))
        )
        self.inputs = tuple(Input(f"x{number}", *kind[:2], kind[2]) for number, kind in enumerate(kinds, 1))
        self.steps: list[Step] = []
        self.counts: dict[str, int] = {}
        self.net: Any = None
        self.tries: list[_Try] = []

    def network(self, seed: int) -> Network | None:
        self._begin()
        table = statements()
        weights = [statement.weight for statement in table]
        count, spent = self.draw.randint(*_STEPS), 0
        theme = table[seed % len(table)]
        while len(self.steps) < count and spent < 30 * count:
            spent += 1
            if self.draw.random() < _THEME:
                self._offer(theme, bent=1.0)
            else:
                self._offer(self.draw.choices(table, weights)[0], _BENT)
        outputs = self._outputs()
        if not outputs or len(self.steps) < _STEPS[0]:
            return None
        form = self.draw.choice(("plain", "plain", "plain", "list", "dict"))
        return Network(seed, self.inputs, self.dims, tuple(self.steps), (), form).with_outputs(outputs)

    def _begin(self) -> None:
        """Draw the inputs of each sizing: the least, the largest, one between, the largest nudged, both ends again."""
        generator = np.random.default_rng(self.draw.getrandbits(32))
        ends = [{name: pair[end] for name, pair in self.dims.items()} for end in (0, 1)]
        middle = {name: self.draw.randint(*pair) for name, pair in self.dims.items()}
        draws = [
            {tensor.name: drawn(tensor, sizes, generator) for tensor in self.inputs}
            for sizes in (*ends, middle, ends[1])
        ]
        nudged = {
            name: (value * (1 + _ROUNDING * generator.choice([-1.0, 1.0], value.shape))).astype(value.dtype)
            if value.dtype.kind == "f"
            else value
            for name, value in draws[1].items()
        }
        least = {tensor.name: drawn(tensor, ends[0], generator) for tensor in self.inputs}
        self.tries = [_Try(values, {}) for values in (*draws[:3], nudged, draws[3], least)]
        self._again()

    def _again(self) -> None:
        """Run all steps anew, since one that was refused may have changed what stands."""
        import paddle
        import paddle.nn.functional as F
        from paddle import nn

        paddle.seed(0)
        self.net = nn.Layer()
        for step in self.steps:
            _run(step.init, {"paddle": paddle, "nn": nn, "F": F, "np": np, "self": self.net})
        self.net.eval()
        for tried in self.tries:
            tensors = {name: paddle.to_tensor(value) for name, value in tried.inputs.items()}
            tried.names = {"paddle": paddle, "nn": nn, "F": F, "np": np, "self": self.net, **tensors}
            for step in self.steps:
                _run(step.lines, tried.names)

    def _known(self) -> dict[str, Known]:
        names = [name for name in self.tries[0].names if name[0] in "xv" and name[1:].isdigit()]
        return {
            name: Known(_dtype(self.tries[0].names[name]), tuple(tuple(t.names[name].shape) for t in self.tries))
            for name in names
        }

    def _offer(self, statement: Statement, bent: float) -> None:
        """Add a statement if it fits; now and then one whose operand is made for it, by steps of its own."""
        before = len(self.steps)
        made = self._bent(statement) if statement.holes and self.draw.random() < bent else {}
        if not self._added(statement, made) and len(self.steps) > before:
            del self.steps[before:]
            self._again()

    def _bent(self, statement: Statement) -> dict[str, str]:
        """Make a value of a dtype and rank that a hole may have, and one beside it for a hole that has to fit it."""
        hole = self.draw.choice(statement.holes)
        known = self._known()
        if hole.relation or not known:
            return {}
        fitting = [name for name, value in known.items() if hole.dtypes[0].startswith("complex") == _complex(value)]
        if not fitting:
            return {}
        name, dtype = self.draw.choice(fitting), self.draw.choice(widened(hole.dtypes))
        ranks = [rank for rank in hole.ranks if rank <= _MOST_RANK]
        rank = known[name].rank if known[name].rank in ranks and self.draw.random() < 0.5 else self.draw.choice(ranks)
        made = {hole.name: self._made(name, dtype, rank)}
        for partner in statement.holes:
            if partner.other == hole.name:
                made[partner.name] = self._made(self._like(name, known), dtype, rank)
        return {key: value for key, value in made.items() if value}

    def _like(self, name: str, known: Mapping[str, Known]) -> str:
        alike = [other for other, value in known.items() if value.shapes == known[name].shapes]
        return self.draw.choice(alike)

    def _made(self, name: str, dtype: str, rank: int) -> str:
        """A value in a dtype and rank, by one statement after another; empty where one of them is refused."""
        for kind, line in _ways(self._known()[name], dtype, rank):
            statement = Statement("made", kind, (Hole("x", (), range(0), "", ""),), (), (f"$r = {line}",))
            if not self._added(statement, {"x": name}):
                return ""
            name = self.steps[-1].defines[0]
        return name

    def _added(self, statement: Statement, made: Mapping[str, str]) -> bool:
        """Return whether a statement fits, with these values in their holes, and stays."""
        known = self._known()
        counts = dict(self.counts)
        init, lines = statement.init, statement.lines
        if self.draw.random() < _BARE:
            lines = tuple(_GUARDS.sub(lambda match: f"${match[match.lastindex or 1]}", line) for line in lines)
        inputs = {name: value for name, value in known.items() if name.startswith("x")}
        try:
            early = statement.family != "made" and self.draw.random() < _EARLY
            names = chosen(statement.holes, inputs if early and not made else known, self.draw, made)
            filling = Filling(known, dict(names), self.draw, counts)
            init, lines = (tuple(map(filling.fill, part)) for part in (init, lines))
        except CannotFill:
            return False
        defines = tuple(name for key, name in filling.names.items() if key not in names and name[0] == "v")
        step = Step(
            f"{statement.family}.{statement.name}", init, lines, tuple(dict.fromkeys(names.values())), (), defines
        )
        before = {name: [tried.names[name].numpy() for tried in self.tries] for name in step.reads}
        try:
            self._take(step)
        except Exception:  # noqa: BLE001  # whatever Paddle raises, the statement is not valid here
            self._again()
            return False
        self.counts = counts
        changed = tuple(name for name, old in before.items() if self._differs(name, old))
        self.steps.append(replace(step, changes=changed))
        return True

    def _differs(self, name: str, old: Sequence[Array]) -> bool:
        now = [tried.names[name].numpy() for tried in self.tries]
        return any(a.shape != b.shape or not np.array_equal(a, b) for a, b in zip(old, now, strict=True))

    def _take(self, step: Step) -> None:
        """Run a step in each sizing, and look at what it gives.

        Raises:
            _Refused: it gives what no network should have.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _run(step.init, self.tries[0].names)
            self.net.eval()
            for tried in self.tries:
                _run(step.lines, tried.names)
        if _CHOOSES.search("\n".join(step.lines)) and any(
            np.unique(value := _value(tried.names[name])).size < value.size
            for tried in self.tries
            for name in step.reads
        ):
            raise _Refused
        for name in (*step.defines, *step.reads):
            values = [_value(tried.names[name]) for tried in self.tries]
            if len({(value.dtype, value.ndim) for value in values}) != 1 or not all(map(_sound, values)):
                raise _Refused
            if _moved(values[1], values[3]):
                raise _Refused

    def _outputs(self) -> list[str]:
        """The values that nothing reads and that tell something of the inputs."""
        read = {name for step in self.steps for name in step.reads}
        last = [name for step in self.steps for name in step.defines if name not in read]
        telling = [name for name in last if self._tells(name)]
        return telling[-_MOST_OUTPUTS:]

    def _tells(self, name: str) -> bool:
        """Whether other inputs give other values, at the least sizes as well: an index into one row is always 0."""
        return all(self._varies(name, places) for places in ((1, 4), (0, 5)))

    def _varies(self, name: str, places: tuple[int, int]) -> bool:
        first, again = (self.tries[place].names[name].numpy() for place in places)
        if first.shape != again.shape:
            return True
        return not np.allclose(first.astype("complex128"), again.astype("complex128"), rtol=1e-3, atol=1e-4)


def widened(dtypes: Sequence[str]) -> tuple[str, ...]:
    """The dtypes to try where the table asks for some: kernels may have any; what they refuse does not stay."""
    return _DTYPES if len(dtypes) > 1 and not dtypes[0].startswith("complex") else tuple(dtypes)


def _complex(value: Known) -> bool:
    return value.dtype.startswith("complex")


def _ways(value: Known, dtype: str, rank: int) -> Iterator[tuple[str, str]]:
    """Names and expressions that bring a value `$x` into a dtype and a rank."""
    if value.dtype != dtype:
        yield "cast", f'$x.astype("{dtype}")'
    if rank == 0 < value.rank:
        yield "number", "$x.flatten()[0]"
    elif rank < value.rank:
        yield "flatter", f"$x.flatten({rank - 1})"
    for _ in range(rank - value.rank):
        yield "deeper", "$x.unsqueeze($(0|-1))"


def _run(lines: Sequence[str], names: dict[str, Any]) -> None:
    exec(compile("\n".join(lines), "<step>", "exec"), names)  # our own statements


def _dtype(tensor: Any) -> str:
    return str(tensor.dtype).rpartition(".")[2]


def _value(tensor: Any) -> Array:
    import paddle

    if not isinstance(tensor, paddle.Tensor):
        raise _Refused
    return np.asarray(tensor.numpy())


def _sound(value: Array) -> bool:
    if not 1 <= value.size <= _MOST or value.ndim > 6:
        return False
    if value.dtype.kind in "fc":
        return bool(np.isfinite(value).all() and np.abs(value).max() < _LARGEST)
    return bool(value.dtype.kind == "b" or np.abs(value.astype("int64")).max() < 1e6)


def _moved(value: Array, nudged: Array) -> bool:
    """Whether rounding of the inputs changes it by more than rounding."""
    if value.shape != nudged.shape:
        return True
    if value.dtype.kind not in "fc":
        return not np.array_equal(value, nudged)
    scale = float(np.abs(value).max()) + 1e-6
    limit = _MOVED if value.dtype != np.float16 else 5e-3
    return bool(np.abs(value.astype("complex128") - nudged).max() > limit * scale)
