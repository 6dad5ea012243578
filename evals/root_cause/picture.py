"""How often the planted operator is the darkest of the picture: `python -m evals.root_cause.picture [--faults N]`.

In each format, faults are planted one by one in released networks: in the graph by the families of `exporter drill`,
and in stored tensors by those of `evals.root_cause.score`. The operators of the file are then fed the right inputs, as
on a failure, and the one with the largest own error is compared with the one that holds the fault. A fault that leaves
the outputs within the budget is no failure, so that there is no picture of it: it is left out and counted apart. Exits
with 1 where another operator is as dark or darker.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

import numpy as np

from evals.root_cause.score import BUDGET, CHANGES, NETS, released, spec_of, subject_of
from exporter.base.readers.program import read_operators
from exporter.bundle.drill.fault import Fault, candidates
from exporter.bundle.drill.material import Material
from exporter.bundle.drill.programs.base import Node, Unplantable
from exporter.process.workers import PADDLE, SINGLE_THREAD, Limits, call
from exporter.prove.harness import Bench
from exporter.prove.root_cause.own.child import OwnRequest, measure
from exporter.prove.verdict.blame import OperatorError, darkest

FORMATS = ("pir", "pdmodel", "onnx")
_SEED = 47


@dataclass(frozen=True)
class Plant:
    """A fault that can be planted: what it is called, and the drill's fault or the tensor and the change of it."""

    what: str
    fault: Fault | None = None
    tensor: str = ""
    change: str = ""

    def put(self, material: Material) -> tuple[str, ...]:
        """Plant it; return the values that hold it: the tensor, or what the operator puts out."""
        material.clear()
        if self.fault is not None:
            site = self.fault.site
            named = [node for node in material.program.nodes() if site == node.site or site.startswith(f"{node.site} ")]
            self.fault.plant(material)
            return max(named, key=lambda node: len(node.site)).outputs
        generator = np.random.default_rng(_SEED)
        material.replace(self.tensor, CHANGES[self.change](material.array(self.tensor), generator))
        return (self.tensor,)


def plants(material: Material, variant: str) -> Iterator[Plant]:
    """Faults of graphs and of tensors in turn, each kind of both in a seeded order."""
    graph = (fault for fault in candidates(material, variant, _SEED) if fault.family == "graph")
    names = np.random.default_rng(_SEED).permutation(sorted(material.parameters))
    changes = list(CHANGES)
    tensors = (
        Plant(f"tensor {changes[at % len(changes)]}: {name}", None, str(name), changes[at % len(changes)])
        for at, name in enumerate(names)
    )
    for fault, tensor in zip_longest(graph, tensors):
        if fault is not None:
            yield Plant(str(fault), fault)
        if tensor is not None:
            yield tensor


def holders(material: Material, held: Sequence[str], shown: set[str]) -> set[str]:
    """The first values of the picture that are computed from those that hold the fault."""
    if material.artifact.format == "pir":
        block = read_operators(material.folder / material.artifact.main)
        numbers = {
            str(op.attributes["name"]): str(op.results[0].id) for op in block.operators if op.name == "parameter"
        }
        held = [numbers.get(name, name) for name in held]
    found, waiting, seen = set[str](), list(held), set[str]()
    nodes: Sequence[Node] = material.program.nodes()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        called = f"%{name}" if material.artifact.format == "pir" else name
        if called in shown:
            found.add(called)
        else:
            waiting += [output for node in nodes if name in node.inputs for output in node.outputs]
    return found


@dataclass(frozen=True)
class Trial:
    """One fault: whether a failure shows, and whether the operator that holds it is the darkest."""

    network: str
    format: str
    what: str
    failed: bool
    right: bool
    seen: str


def trial(network: str, bench: Bench, plant: Plant, folder: Path, material: Material) -> Trial | None:
    """Plant a fault in a copy of the file, and measure its operators; None where it cannot be planted."""
    try:
        held = plant.put(material)
    except Unplantable:
        return None
    material.write(folder)
    artifact = material.artifact
    case = min((one for one in bench.cases if ":" not in one.name), key=lambda one: sum(one.dims.values()))
    program = bench.folder / bench.artifacts["pir"].main if artifact.format == "onnx" else None
    request = OwnRequest(folder / artifact.main, artifact.format, bench.golden, case.recorded, bench.source, program)
    answer = call(measure, request, Limits(), environment=SINGLE_THREAD, imports=PADDLE)
    if not answer.operators:
        return Trial(network, artifact.format, plant.what, True, False, answer.why_not)
    read = {at for operator in answer.operators for at in operator.reads}
    ends = [operator.total for at, operator in enumerate(answer.operators) if at not in read]
    failed = any(total is not None and total > BUDGET for total in ends)
    shown = {value for operator in answer.operators for value in operator.values}
    dark, right = _judged(answer.operators, holders(material, held, shown))
    return Trial(network, artifact.format, plant.what, failed, right, dark)


def _judged(operators: Sequence[OperatorError], expected: set[str]) -> tuple[str, bool]:
    dark = darkest(operators)
    if dark is None or dark.own is None:
        return "nothing", False
    alone = sum(operator.own == dark.own for operator in operators) == 1
    named = f"{dark.kind} {', '.join(dark.values[:1])} ({dark.own:.3g}{', ' + dark.line if dark.line else ''})"
    return named if alone else f"{named} and others", alone and bool(expected & set(dark.values))


def run(format: str, count: int, nets: Sequence[str], place: Path) -> Iterator[Trial]:
    """Plant faults in turn in each network until `count` of them fail."""
    benches, queues = {}, {}
    for net in nets:
        folder = place / net
        if not folder.exists():
            folder.mkdir()
            released(net, folder)
        bundle = next(path.parent for path in folder.rglob("manifest.json"))
        benches[net] = subject_of(bundle, spec_of(net))
        artifact = benches[net].artifacts[format]
        material = Material(artifact, bundle, dict(artifact.origins))
        queues[net] = (material, plants(material, format))
    failed = turn = 0
    while failed < count and queues:
        net = list(queues)[turn % len(queues)]
        turn += 1
        material, queue = queues[net]
        plant = next(queue, None)
        if plant is None:
            del queues[net]
            continue
        with tempfile.TemporaryDirectory() as copy:
            done = trial(net, benches[net], plant, Path(copy), material)
        if done is not None:
            failed += done.failed
            yield done


def main() -> int:
    """Read the options, plant, and print what was the darkest."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("nets", nargs="*", default=list(NETS))
    parser.add_argument("--faults", type=int, default=40, help="faults that fail, for each format")
    parser.add_argument("--formats", nargs="*", default=list(FORMATS))
    parser.add_argument("--keep", type=Path, help="where the released networks are kept")
    options = parser.parse_args()
    done: list[Trial] = []
    with tempfile.TemporaryDirectory() as place:
        for form in options.formats:
            for planted in run(form, options.faults, options.nets, options.keep or Path(place)):
                done.append(planted)
                word = ("ok  " if planted.right else "NOT ") if planted.failed else "mild"
                print(word, planted.network, f"{form}: {planted.what}: darkest {planted.seen}", flush=True)
    for form in options.formats:
        own = [planted for planted in done if planted.format == form]
        failed = [planted for planted in own if planted.failed]
        right = sum(planted.right for planted in failed)
        mild = len(own) - len(failed)
        print(f"{form}: the planted operator is the darkest in {right} of {len(failed)}; {mild} did not fail")
    return int(any(planted.failed and not planted.right for planted in done))


if __name__ == "__main__":
    sys.exit(main())
