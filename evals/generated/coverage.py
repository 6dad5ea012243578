"""What generated networks meet of the operators that our writers know: `python -m evals.generated.coverage`.

Each network is traced as `exporter convert` does, in a fork, and its program read: no release is needed. An operator
counts where an output depends on it. Beside the operators, four things are counted of each: the dtype and the rank of
the operand that chooses its kernel, whether a size of what it reads or gives varies, and its place (it reads an input,
it gives an output, or neither). What is possible stands in `operators.txt`; of dtypes, Paddle's own kernels for the CPU
say it. With `--json` each network's row is written as it comes, and the next call goes on. Exit 1 below 90 %.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from evals.generated.build import build
from evals.generated.network import Network
from evals.quiet_fork import quiet_fork
from exporter.base.readers.program import Block, Operator, TensorType, Type, read_operators
from exporter.base.tensors import TensorSpec
from exporter.export.lower.base import Wish
from exporter.export.lower.onnx_program.effects import flat, needed
from exporter.export.lower.onnx_program.ops import OF_PAIRS, OPERATORS

POSSIBLE = Path(__file__).with_name("operators.txt")
PLACES = ("first", "inner", "last")
#: Dtypes that a network of the table can compute in; operators of complex values are counted by themselves.
DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64")
RANKS = range(6)
#: What only carries values, and what stands for a list of them.
_CARRIES = ("data", "fetch", "parameter", "builtin.combine", "builtin.split", "cf.yield")
#: They give complex values and read real ones; all others of `OF_PAIRS` read complex ones.
_MAKE_COMPLEX = ("as_complex", "complex", "fft_r2c")
_BATCH, _SECONDS, _WANTED = 20, 60, 0.9


@dataclass(frozen=True)
class Met:
    """An operator as a network has it: what its kernel is chosen by, and where it stands."""

    operator: str
    dtype: str
    rank: int
    varies: bool
    place: str


@dataclass(frozen=True)
class Possible:
    """What `operators.txt` says: no writer meets `never`; `ranks`, `chosen` and `fixed` are of those that others meet.

    `chosen`: the operand that chooses the kernel, where it is not the first. `alone`: what reads no value, and so never
    stands first.
    """

    never: Mapping[str, str]
    ranks: Mapping[str, tuple[int, ...]]
    chosen: Mapping[str, int]
    alone: frozenset[str]


def known() -> dict[str, str]:
    """The operators that a writer knows, each with the writers that do; those of complex values apart."""
    from exporter.export.lower.pdmodel.composed import COMPOSED
    from exporter.export.lower.pdmodel.table import TABLE

    control = ("if", "while", "create_array", "array_write_")
    names = {plain(name): "onnx" for name in (*OPERATORS, *control)}
    names |= {f"{name} of complex": "onnx" for name in OF_PAIRS if name not in _MAKE_COMPLEX}
    for name in (*TABLE, *COMPOSED):
        names[plain(name)] = "onnx, pdmodel" if plain(name) in names else "pdmodel"
    return names


def plain(name: str) -> str:
    """The name of an operator, without the mark of one that writes in place."""
    return name.removesuffix("_")


def possible() -> Possible:
    """Read `operators.txt`: a section for each kind of fact, in it a line for each fact, its names after a colon."""
    sections: dict[str, dict[str, str]] = {}
    section = dict[str, str]()
    for line in POSSIBLE.read_text().splitlines():
        if line.startswith("["):
            section = sections.setdefault(line.strip("[]"), {})
        elif line and not line.startswith("#"):
            fact, _, names = line.partition(": ")
            section |= dict.fromkeys(names.split(), fact)
    return Possible(
        {name.replace("+", " "): why for name, why in sections["never"].items()},
        {name: tuple(map(int, ranks.split(","))) for name, ranks in sections["ranks"].items()},
        {name: int(operand) for name, operand in sections["chosen by operand"].items()},
        frozenset(sections["reads no value"]),
    )


def met(block: Block, facts: Possible) -> set[Met]:
    """What a program has of each operator that an output depends on."""
    wanted = needed(block)
    operators = [operator for top in block.operators if top.index in wanted for operator in (top, *_within(top))]
    types: dict[int, Type] = {value.id: value.type for operator in flat(block) for value in operator.results}
    types |= {value.id: value.type for operator in operators for inner in operator.blocks for value in inner.arguments}
    parts = {operator.results[0].id: operator.operands for operator in operators if operator.name == "builtin.combine"}
    inputs = {value.id for operator in operators if operator.name == "data" for value in operator.results}
    outputs = {number for operator in operators if operator.name == "fetch" for number in operator.operands}
    found = set[Met]()
    for operator in operators:
        if operator.name in _CARRIES:
            continue
        operands = [part for number in operator.operands for part in parts.get(number, (number,))]
        results = [value.id for value in operator.results if value.id]
        places = [
            *(["first"] if inputs & {*operands} else []),
            *(["last"] if outputs & {*results} else []),
        ]
        found |= {_met(operator, operands, results, types, place, facts) for place in places or ["inner"]}
    return found


def _within(operator: Operator) -> Iterator[Operator]:
    for block in operator.blocks:
        yield from flat(block)


def _met(
    operator: Operator,
    operands: Sequence[int],
    results: Sequence[int],
    types: Mapping[int, Type],
    place: str,
    facts: Possible,
) -> Met:
    name = plain(operator.name)
    read = [*_tensors(operands, types)]
    given = [*_tensors(results, types)]
    chosen = facts.chosen.get(name, 0)
    tensor = (read[chosen:] or read or given or [TensorType("none", ())])[0]
    varies = any(-1 in kind.shape for kind in (*read, *given))
    if any(kind.dtype.startswith("complex") for kind in read) and name in OF_PAIRS:
        name += " of complex"
    return Met(name, tensor.dtype, len(tensor.shape), varies, place)


def _tensors(values: Sequence[int], types: Mapping[int, Type]) -> Iterator[TensorType]:
    for number in values:
        kind = types.get(number)
        for member in kind if isinstance(kind, tuple) else (kind,):
            if isinstance(member, TensorType):
                yield member


def traced(network: Network, folder: Path) -> Block:
    """The program of a network, as `exporter convert` writes it.

    Raises:
        ExporterError: it cannot be traced.
    """
    import importlib

    from exporter.export.lower.kinds.pir import plugin as pir
    from exporter.export.trace.traced import trace

    layer = network.layer()
    layer.write(folder)
    net = importlib.import_module(layer.name).build()
    net.eval()
    inputs = tuple(TensorSpec(tensor.name, tensor.dtype, tensor.shape) for tensor in layer.inputs)
    place = folder / f"{layer.name}-files"
    place.mkdir()
    with pir.session(None):
        pir.write(trace(net, inputs, None, {}), None, place, Wish())
    return read_operators(place / "model.json")


@dataclass
class Row:
    """A network: what it meets, or why it has no program."""

    seed: int
    met: list[Met]
    why_not: str = ""


def rows(seeds: Sequence[int]) -> list[Row]:
    """Trace the networks of these numbers in a fork; one at which Paddle ends the process has none."""
    facts = possible()
    with tempfile.TemporaryDirectory(prefix="coverage-") as place:
        folder = Path(place)
        into = folder / "rows"
        into.touch()

        def work() -> None:
            sys.path.insert(0, str(folder))
            with into.open("w") as file:
                for seed in seeds:
                    signal.alarm(_SECONDS)
                    row = Row(seed, [])
                    try:
                        program = traced(build(seed), folder)
                        row.met = sorted(met(program, facts), key=str)
                    except (Exception, SystemExit) as error:  # noqa: BLE001  # whatever a trace raises is its answer
                        row.why_not = f"{type(error).__name__}: {error}"[:300]
                    print(json.dumps(asdict(row)), file=file, flush=True)

        quiet_fork(work)
        done = [read(json.loads(line)) for line in into.read_text().splitlines()]
    if len(done) == len(seeds):
        return done
    ended = Row(seeds[len(done)], [], "Paddle ended the process")
    return [*done, ended, *rows(seeds[len(done) + 1 :])]


def read(stored: Mapping[str, object]) -> Row:
    """Read a row of what `dataclasses.asdict` made of it, by way of JSON."""
    row = Row(**stored)  # type: ignore[arg-type]
    row.met = [Met(**kind) for kind in row.met]  # type: ignore[arg-type]
    return row


def kernels() -> dict[str, set[str]]:
    """The dtypes for which Paddle has a kernel on the CPU, by operator, as far as it registers one of that name."""
    from paddle.base import core

    registered: dict[str, list[str]] = core._get_registered_phi_kernels("all")
    return {
        plain(name): {key.strip("()").split(", ")[-1] for key in keys if key.startswith("(CPU,")}
        for name, keys in registered.items()
    }


def summary(measured: Sequence[Row]) -> tuple[list[str], float]:
    """Lines to print, and the share of the known operators that is met."""
    facts, writers = possible(), known()
    can = [name for name in writers if name not in facts.never]
    seen: Counter[str] = Counter(name for row in measured for name in {kind.operator for kind in row.met})
    every = {kind for row in measured for kind in row.met}
    missing = [name for name in can if not seen[name]]
    share = 1 - len(missing) / len(can)
    of_all = sum(bool(seen[name]) for name in writers) / len(writers)
    lines = [
        f"{len(measured)} networks, {sum(not row.why_not for row in measured)} with a program",
        f"operators: {len(can) - len(missing)} of {len(can)} ({share:.1%}); of all {len(writers)} that a writer knows "
        f"{of_all:.1%}",
        f"not met: {', '.join(sorted(missing)) or 'none'}",
    ]
    by_dtype = kernels()
    wanted: dict[str, set[tuple[str, object]]] = {"dtype": set(), "rank": set(), "varies": set(), "place": set()}
    for name in can:
        base = name.removesuffix(" of complex")
        if name == base:
            wanted["dtype"] |= {(name, dtype) for dtype in by_dtype.get(base, set()) & {*DTYPES}}
            wanted["rank"] |= {(name, rank) for rank in facts.ranks.get(base, tuple(RANKS))}
        wanted["varies"] |= {(name, varies) for varies in (False, True)}
        wanted["place"] |= {(name, place) for place in PLACES if place != "first" or base not in facts.alone}
    for axis, pairs in wanted.items():
        have = {(kind.operator, getattr(kind, axis)) for kind in every} & pairs
        parts = [
            f"{value} {sum(pair[1] == value for pair in have)} of {sum(pair[1] == value for pair in pairs)}"
            for value in sorted({pair[1] for pair in pairs}, key=str)
        ]
        lines.append(f"{axis}: {len(have)} of {len(pairs)} ({len(have) / len(pairs):.1%}): {', '.join(parts)}")
    lines.append(f"rare (in fewer than 5 networks): {' '.join(name for name in sorted(can) if 0 < seen[name] < 5)}")
    lines += [
        f"never, {why}: {' '.join(n for n, w in facts.never.items() if w == why)}"
        for why in dict.fromkeys(facts.never.values())
    ]
    return lines, share


def main() -> int:
    """Trace, and print what is met of what is possible."""
    parser = argparse.ArgumentParser(prog="python -m evals.generated.coverage", description=__doc__)
    parser.add_argument("--first", type=int, default=0, help="the number of the first network")
    parser.add_argument("--count", type=int, default=3000, help="so many networks")
    parser.add_argument("--json", type=Path, help="add the rows here, a line each, and leave out those that it holds")
    wish = parser.parse_args()
    import paddle  # before the forks, so that each has it

    paddle.set_device("cpu")
    os.environ["EXPORTER_NO_CACHE"] = "1"
    stored = wish.json.read_text().splitlines() if wish.json and wish.json.is_file() else []
    done = {row.seed: row for row in map(read, map(json.loads, stored))}
    seeds = [seed for seed in range(wish.first, wish.first + wish.count) if seed not in done]
    for start in range(0, len(seeds), _BATCH):
        for row in rows(seeds[start : start + _BATCH]):
            done[row.seed] = row
            if wish.json:
                with wish.json.open("a") as file:
                    print(json.dumps(asdict(row)), file=file)
    lines, share = summary([done[seed] for seed in sorted(done)])
    print("\n".join(lines))
    return 0 if share >= _WANTED else 1


if __name__ == "__main__":
    sys.exit(main())
