"""The child's side of pruning: trace, choose, cut, prove, write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from exporter.base.errors import ExporterError, ModelError
from exporter.base.files import canonical_json, sha256_file, write_json
from exporter.base.registry import Registry
from exporter.base.tensors import Array, TensorMap, save
from exporter.engines.base import EngineRefused
from exporter.export.trace.layer import load_layer, parameters
from exporter.export.trace.pruned import KEY, Plan
from exporter.export.trace.shrink import mask, shrink
from exporter.export.trace.traced import bind_inputs
from exporter.process.job import job
from exporter.process.workers import doing
from exporter.prove.goldens.cases import plan_cases
from exporter.prove.goldens.values import draw, real_rows
from exporter.spec.model import Spec
from exporter.weights.prune.about import About, Amount, Choice, Cut, CutGroup, CutProof
from exporter.weights.prune.choose import choose, ladder
from exporter.weights.prune.cost import Cost
from exporter.weights.prune.groups import Group, find_groups, scores
from exporter.weights.prune.importance.base import Importance
from exporter.weights.prune.program import read_program
from exporter.weights.prune.prove import Proof, prove, same_shapes
from exporter.weights.prune.rules import track
from exporter.weights.prune.tracker import Tracker

if TYPE_CHECKING:
    import paddle


@dataclass(frozen=True)
class PruneRequest:
    """Cut a spec's model, with the weights of a checkpoint or of the factory, into the folder `into`.

    Channels go or stay in blocks of `block`.
    """

    spec: Spec
    checkpoint: Path | None
    choice: Choice
    block: int
    into: Path


@job
def prune(request: PruneRequest) -> About:
    """Write `plan.json` and `pruned.safetensors`, and return what the plan says of itself.

    Raises:
        UsageError: the factory, the checkpoint or the inputs are wrong.
        ModelError: the share of FLOPs cannot be reached, or the cut cannot be proven.
    """
    doing("importing paddle")
    import paddle  # noqa: F401  # here, so that a failure of the import is told as one

    measures: Registry[Importance] = Registry("exporter.weights.prune.importance", "importance")
    checkpoint = str(request.checkpoint) if request.checkpoint else None
    search = Search(request.spec, checkpoint, measures[request.choice.importance], request.block)
    found = search.find(request.choice.asked)
    doing("writing the smaller checkpoint")
    about = About(found.cut, request.choice)
    plan = replace(found.plan, about=about.to_json())
    pruned = request.into / "pruned.safetensors"
    save(pruned, found.weights, {KEY: canonical_json(plan.to_json()).decode()})
    held = {"file": pruned.name, "sha256": sha256_file(pruned)}
    write_json(request.into / "plan.json", {**plan.to_json(), "checkpoint": held})
    return about


@dataclass(frozen=True)
class Found:
    """A plan that was proven, what it cuts, and the state dict of the layer that it leaves."""

    plan: Plan
    cut: Cut
    weights: TensorMap


@dataclass
class Search:
    """The search for a plan: a choice is tried out; groups that cannot be cut are left whole, and it is made anew."""

    spec: Spec
    checkpoint: str | None
    measure: Importance
    block: int = 16
    refused: dict[int, str] = field(default_factory=dict)

    def find(self, share: float) -> Found:
        """The plan that leaves at most `share` of the FLOPs, with its proof; raises as :func:`prune`."""
        while True:
            open_to = [number for number in range(len(self._groups[0])) if number not in self.refused]
            doing(f"choosing among {len(open_to)} groups of channels")
            kept = self._chosen(open_to, share)
            doing("cutting, and proving the cut")
            proof, problem = self._try(kept)
            if proof is not None:
                return self._found(kept, proof)
            self._refuse(open_to, kept, problem)

    @cached_property
    def tracker(self) -> Tracker:
        """Where channels go in the traced program of the whole layer."""
        doing("tracing the layer")
        dims = {name: dim.typical for name, dim in self.spec.dims.items()}
        tracker = Tracker(read_program(self._layer(), self.spec.input_specs(), dims))
        doing("following the channels")
        track(tracker)
        return tracker

    @cached_property
    def _groups(self) -> tuple[list[Group], Array]:
        return find_groups(self.tracker)

    @cached_property
    def _tensors(self) -> dict[str, Array]:
        return parameters(self._layer())

    @cached_property
    def _scores(self) -> list[Array]:
        """For each class of each group how much it matters, each tensor taken relative to its own mean."""
        groups, root = self._groups
        measured = {}
        for value, axis in {place for group in groups for place in group.places}:
            weight = self._tensors[self.tracker.program.parameters[value][0]]
            if weight.ndim > 1 and self._makes(value, axis):
                filters = np.moveaxis(weight, axis, 0).reshape(weight.shape[axis], -1).astype("float64")
                result = self.measure(filters)
                measured[value, axis] = result / max(float(result.mean()), 1e-300)
        return [scores(group, self.tracker, root, measured) for group in groups]

    def _makes(self, value: int, axis: int) -> bool:
        labels = self.tracker.of(value)[axis]
        return labels is not None and any(one[0] == labels[0] for one in self.tracker.made)

    def _layer(self) -> paddle.nn.Layer:
        return load_layer(self.spec.factory, self.checkpoint, self.spec.seed)

    def _chosen(self, open_to: Sequence[int], share: float) -> dict[int, Array]:
        """For each group that is cut the classes that stay, by their roots."""
        groups, _ = self._groups
        some = [groups[number] for number in open_to]
        counts = choose(some, [self._scores[number] for number in open_to], self._cost(some), share, self.block)
        return {
            number: self._best(number, count)
            for number, count in zip(open_to, counts, strict=True)
            if count < len(groups[number].roots)
        }

    def _cost(self, groups: list[Group]) -> Cost:
        return Cost(self.tracker, groups, self._groups[1])

    def _best(self, number: int, count: int) -> Array:
        order = np.argsort(-self._scores[number], kind="stable")  # of equals the earlier stays
        return np.sort(self._groups[0][number].roots[order[:count]])

    def _alive(self, kept: dict[int, Array]) -> Array:
        groups, root = self._groups
        dead = [np.setdiff1d(groups[number].roots, roots) for number, roots in kept.items()]
        return ~np.isin(root, np.concatenate(dead)) if dead else np.ones(len(root), dtype=bool)

    def _plan(self, alive: Array) -> Plan:
        program, kept = self.tracker.program, {}
        for value, names in program.parameters.items():
            cut = {
                axis: tuple(np.flatnonzero(alive[labels]).tolist())
                for axis, labels in enumerate(self.tracker.of(value))
                if labels is not None and not alive[labels].all()
            }
            if cut:
                kept[names[0]] = cut
        attributes: dict[str, dict[str, int]] = {}
        for value, name, labels, size in self.tracker.counts:
            if not alive[labels].all():
                path = program.parameters[value][0].rpartition(".")[0]
                attributes.setdefault(path, {})[name] = int(alive[labels].sum()) // size
        return Plan(kept, attributes)

    def _try(self, kept: dict[int, Array]) -> tuple[Proof | None, str]:
        """Cut a fresh layer, trace it again, and run it against the masked one; the proof, or what is wrong."""
        alive = self._alive(kept)
        plan = self._plan(alive)
        dims = {name: dim.typical for name, dim in self.spec.dims.items()}
        try:
            again, small, masked = self._layer(), self._layer(), self._layer()
            shrink(again, plan, self.spec.model)
            shrink(small, plan, self.spec.model)
            mask(masked, plan)
            program = read_program(again, self.spec.input_specs(), dims)
            if problem := same_shapes(self.tracker, alive, program):
                return None, problem
            case = plan_cases(self.spec)[0]
            inputs = draw(self.spec, case, real_rows(self.spec))
            order = tuple(one.name for one in bind_inputs(small, self.spec.input_specs()))
            proof, doubt = prove(small, masked, order, self.tracker.program.names, inputs)
        except (ExporterError, EngineRefused) as error:
            return None, str(error)[:300]
        if doubt:
            raise ModelError(f"the cut cannot be proven: {doubt}", where=self.spec.model, hint="give other inputs")
        if not proof.error_ratio <= self.spec.budget:
            return None, f"the smaller layer's outputs are not the masked one's: error ratio {proof.error_ratio:.3g}"
        return proof, ""

    def _refuse(self, open_to: Sequence[int], kept: dict[int, Array], problem: str) -> None:
        """Find the groups that are to blame, each cut by itself: first those that pass code which may name sizes.

        Raises:
            ModelError: none of them is, so that it is not known what is safe to cut.
        """
        groups = self._groups[0]
        for literal in (True, False):
            for number in [one for one in kept if groups[one].literal is literal]:
                doing(f"cutting group {number} alone")
                proof, own = self._try({number: self._best(number, ladder(groups[number], self.block)[1])})
                if proof is None:
                    self.refused[number] = own
            if self.refused.keys() & kept.keys():
                return
        raise ModelError(
            f"the smaller layer does not compute what it should: {problem}",
            where=self.spec.model,
            hint="take the number of channels in forward from its tensors, never from a number in the code",
        )

    def _found(self, kept: dict[int, Array], proof: Proof) -> Found:
        groups, _ = self._groups
        alive = self._alive(kept)
        plan = self._plan(alive)
        small = self._layer()
        whole_size = sum(tensor.size for tensor in self._tensors.values())
        shrink(small, plan, self.spec.model)
        weights = {name: tensor.numpy() for name, tensor in small.state_dict().items()}
        everything = [np.array([len(group.roots) for group in groups])]
        now = [len(kept.get(number, group.roots)) for number, group in enumerate(groups)]
        before, after = self._cost(groups).flops(np.array([*everything, now])).tolist()
        cut = Cut(
            model=self.spec.model,
            flops=Amount(round(before), round(after)),
            elements=Amount(whole_size, sum(tensor.size for tensor in parameters(small).values())),
            groups=tuple(self._group(number, kept) for number in range(len(groups))),
            not_understood=tuple(sorted(self.tracker.unknown)),
            proof=CutProof(proof.error_ratio, self.spec.budget, proof.method),
        )
        return Found(plan, cut, weights)

    def _group(self, number: int, kept: dict[int, Array]) -> CutGroup:
        group = self._groups[0][number]
        names = [self.tracker.program.parameters[value][0] for value, axis in group.places if self._makes(value, axis)]
        count = len(kept.get(number, group.roots)) * group.repeat
        return CutGroup(tuple(sorted(names)), group.width, count, self.refused.get(number))
