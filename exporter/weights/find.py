"""The checkpoint that a spec exports, looked up once: named by a path, left by a run, or yet to be made."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from exporter.base.errors import UsageError
from exporter.spec.model import Spec
from exporter.spec.recipe.source import default_folder
from exporter.train import qat
from exporter.train.run import TrainRequest, TrainResult
from exporter.train.runs import Runs
from exporter.weights.no_checkpoint import refuse_other_files
from exporter.weights.prune import run as pruning


@dataclass(frozen=True)
class Weights:
    """Where the weights of a spec come from, as found before any work.

    `whole` is the checkpoint before pruning and fine-tuning; None where the factory's own weights stay, or where the
    recipe was not trained yet (`untrained`). `runs` are those of the spec's recipe, None without one. `trained` is the
    finished run that left `whole`, None where a path names it.
    """

    spec: Spec
    whole: Path | None
    runs: Runs | None = None
    trained: TrainResult | None = None

    @property
    def untrained(self) -> bool:
        """Whether a training has to come first."""
        return self.runs is not None and self.whole is None

    def require(self) -> Path | None:
        """Return the checkpoint to export: the whole one, what pruning has left of it, or fine-tuned for int8.

        Raises:
            UsageError: the recipe was not trained yet, or the checkpoint not pruned or fine-tuned.
        """
        self.require_whole()
        spec, whole = self.spec, self.whole
        return qat.finished(spec, pruning.finished(spec, whole).checkpoint if spec.prune else whole)

    def require_whole(self) -> Path | None:
        """Return the checkpoint before pruning and fine-tuning, None for the factory's own weights.

        Raises:
            UsageError: the recipe was not trained yet.
        """
        spec = self.spec
        if self.untrained:
            ranks = f" --ranks {spec.ranks}" if spec.ranks > 1 else ""
            raise UsageError(
                "the recipe has left no finished checkpoint",
                where=str(spec.recipe),
                hint=f"run: exporter train {spec.recipe} --seed {spec.seed}{ranks}",
            )
        return self.whole


def look_up(spec: Spec) -> Weights:
    """Look up where the weights of a spec come from.

    Raises:
        UsageError: the spec names a checkpoint that is not there, or another kind of file; or as
            :meth:`exporter.train.runs.Runs.chosen`.
    """
    runs = _runs(spec, spec.recipe) if spec.recipe else None
    if spec.checkpoint is not None:
        path = Path(spec.checkpoint)
        refuse_other_files(path)
        return Weights(spec, path, runs)
    trained = runs.chosen() if runs else None
    return Weights(spec, trained.checkpoint if trained else None, runs, trained)


def _runs(spec: Spec, recipe: str) -> Runs:
    """Return the runs of a recipe; seed and ranks that the spec gives are kept to, else the best run's are taken."""
    request = TrainRequest(
        recipe, default_folder(recipe), spec.seed, device=spec.device, args=spec.args, ranks=spec.ranks
    )
    fixed = spec.model_fields_set
    return Runs(request, any_seed="seed" not in fixed, any_ranks="ranks" not in fixed)
