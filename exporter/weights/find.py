"""The checkpoint that a spec exports, as far as it is there: named by a path, or left by a run."""

from __future__ import annotations

from pathlib import Path

from exporter.base.errors import UsageError
from exporter.spec.model import Spec
from exporter.spec.recipe.source import default_folder
from exporter.train import qat
from exporter.train.run import TrainRequest
from exporter.train.runs import Runs
from exporter.weights.prune import run as pruning


def find_checkpoint(spec: Spec) -> Path | None:
    """The checkpoint whose weights are exported: the whole one, what pruning has left of it, or fine-tuned for int8.

    Raises:
        UsageError: as :func:`find_whole`; or it was not pruned or fine-tuned yet.
    """
    whole = find_whole(spec)
    return qat.finished(spec, pruning.finished(spec, whole).checkpoint if spec.prune else whole)


def find_whole(spec: Spec) -> Path | None:
    """The checkpoint that the spec names, or that its recipe has left; None where the factory's own weights stay.

    Raises:
        UsageError: it is named and not there, or the recipe was not trained yet.
    """
    if spec.checkpoint is not None:
        path = Path(spec.checkpoint)
        if not path.is_file():
            raise UsageError("no such checkpoint", where=str(path), hint="check the path, or train it first")
        return path
    if spec.recipe is None:
        return None
    found = runs_of(spec, spec.recipe).chosen()
    if found is None:
        ranks = f" --ranks {spec.ranks}" if spec.ranks > 1 else ""
        raise UsageError(
            "the recipe has left no finished checkpoint",
            where=spec.recipe,
            hint=f"run: exporter train {spec.recipe} --seed {spec.seed}{ranks}",
        )
    return found.checkpoint


def runs_of(spec: Spec, recipe: str) -> Runs:
    """The runs of a spec's recipe; seed and ranks that the spec gives are kept to, else the best run's are taken."""
    request = TrainRequest(
        recipe, default_folder(recipe), spec.seed, device=spec.device, args=spec.args, ranks=spec.ranks
    )
    given = spec.model_fields_set
    return Runs(request, any_seed="seed" not in given, any_ranks="ranks" not in given)
