"""A generated network: its inputs, the steps of its `forward`, and the module that a user would have written."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evals.small.catalogue import BUILD, FORMATS, HEAD, Input, SmallLayer, module

FAMILY = "generated"


@dataclass(frozen=True)
class Step:
    """One statement in place: lines of the constructor and of `forward`, what they read, change and define."""

    statement: str
    init: tuple[str, ...]
    lines: tuple[str, ...]
    reads: tuple[str, ...]
    changes: tuple[str, ...]
    defines: tuple[str, ...]


@dataclass(frozen=True)
class Network:
    """A network that runs eagerly at every size of its dims; `form` is how it returns its outputs."""

    seed: int
    inputs: tuple[Input, ...]
    dims: dict[str, tuple[int, int]]
    steps: tuple[Step, ...]
    outputs: tuple[str, ...]
    form: str

    @property
    def returned(self) -> str:
        """The last line of `forward`."""
        names = ", ".join(self.outputs)
        if self.form == "dict":
            return "return {" + ", ".join(f'"{name}": {name}' for name in self.outputs) + "}"
        if self.form == "list":
            return f"return [{names}]"
        return f"return {names}"

    def layer(self) -> SmallLayer:
        """The module and what its spec says."""
        init = [line for step in self.steps for line in step.init]
        body = [line for step in self.steps for line in step.lines]
        source = module([*init, "--", *body, self.returned] if init else [*body, self.returned], self.inputs)
        return SmallLayer(FAMILY, f"g{self.seed}", self.inputs, _used(self.dims, self.inputs), FORMATS, source)

    def with_outputs(self, outputs: Sequence[str]) -> Network:
        """The same with these outputs alone, without the steps and the inputs that they do not need."""
        wanted, steps = set(outputs), list[Step]()
        for step in reversed(self.steps):
            if wanted & {*step.defines, *step.changes}:
                steps.append(step)
                wanted |= {*step.reads}
        inputs = tuple(tensor for tensor in self.inputs if tensor.name in wanted)
        return replace(self, steps=tuple(reversed(steps)), outputs=tuple(outputs), inputs=inputs)

    def without(self, place: int) -> Network | None:
        """The same without a step and what reads its results; None where no output is left."""
        gone = {*self.steps[place].defines}
        steps = [*self.steps[:place]]
        for step in self.steps[place + 1 :]:
            if gone & {*step.reads}:
                gone |= {*step.defines}
            else:
                steps.append(step)
        outputs = [name for name in self.outputs if name not in gone]
        return replace(self, steps=tuple(steps)).with_outputs(outputs) if outputs else None

    def bypassing(self, place: int, name: str) -> Network | None:
        """The same without a step, whose one result is what it read under `name`; None where it has several."""
        if len(self.steps[place].defines) != 1:
            return None
        rename = {self.steps[place].defines[0]: name}
        kept = [*self.steps[:place], *(_renamed(step, rename) for step in self.steps[place + 1 :])]
        outputs = [*dict.fromkeys(rename.get(output, output) for output in self.outputs)]
        inputs = {tensor.name for tensor in self.inputs}
        if any(output in inputs for output in outputs):
            return None
        return replace(self, steps=tuple(kept)).with_outputs(outputs)


def _used(dims: Mapping[str, tuple[int, int]], inputs: Sequence[Input]) -> dict[str, tuple[int, int]]:
    """Those dims that an input has: a spec that names another is refused."""
    sizes = {size for tensor in inputs for size in tensor.shape}
    return {name: ends for name, ends in dims.items() if name in sizes}


def _renamed(step: Step, names: Mapping[str, str]) -> Step:
    def line(text: str) -> str:
        return re.sub(r"\b[vx]\d+\b", lambda match: names.get(match[0], match[0]), text)

    reads, changes = (tuple(names.get(name, name) for name in old) for old in (step.reads, step.changes))
    return replace(step, lines=tuple(map(line, step.lines)), reads=reads, changes=changes)


def read(stored: Mapping[str, Any]) -> Network:
    """Read a network of what `dataclasses.asdict` made of it, by way of JSON."""
    inputs = tuple(Input(**{**tensor, "shape": tuple(tensor["shape"])}) for tensor in stored["inputs"])
    dims = {name: (low, high) for name, (low, high) in stored["dims"].items()}
    steps = tuple(
        Step(step["statement"], *(tuple(step[key]) for key in ("init", "lines", "reads", "changes", "defines")))
        for step in stored["steps"]
    )
    outputs = tuple(stored["outputs"])
    return Network(stored["seed"], inputs, dims, steps, outputs, stored["form"])


def whose(place: str, networks: Sequence[Network], source: str) -> Network | None:
    """The network of those in one layer whose line, or whose output, a message names: `file.py:12`, `output_3`."""
    name, _, line = place.partition(":")
    if line:
        classes = re.findall(r"^class Net(\d*)\(", "\n".join(source.splitlines()[: int(line)]), re.M)
        return networks[int(classes[-1])] if classes and classes[-1] else None
    number = int(name.removeprefix("output_"))
    outputs = [network for network in networks for _ in network.outputs]
    return outputs[number] if number < len(outputs) else None


def together(networks: Sequence[Network]) -> SmallLayer:
    """One layer of several networks beside each other, each with its own inputs; their dims are the same."""
    parts, inputs, calls = list[str](), list[Input](), list[str]()
    for number, network in enumerate(networks):
        source = network.layer().source.removeprefix(HEAD).removesuffix(BUILD)
        parts.append(source.replace("class Net(", f"class Net{number}("))
        renamed = [replace(tensor, name=f"n{number}_{tensor.name}") for tensor in network.inputs]
        inputs += renamed
        calls.append(f"self.n{number}({', '.join(tensor.name for tensor in renamed)})")
    init = [f"self.n{number} = Net{number}()" for number in range(len(networks))]
    whole = module([*init, "--", f"return [{', '.join(calls)}]"], inputs).removeprefix(HEAD)
    name = f"g{networks[0].seed}to{networks[-1].seed}"
    dims = _used(networks[0].dims, inputs)
    return SmallLayer(FAMILY, name, tuple(inputs), dims, FORMATS, HEAD + "\n\n".join([*parts, whole]))
