"""The runs of a recipe: a folder for each seed and each state of the code, and `best`, which names the one to take.

runs/NAME/seed-0-3f2a9c1b/   a run (:mod:`exporter.train.run`); the digits stand for the recipe's code
runs/NAME/best               a file with the name of that with the best metric

A run that an earlier version left in runs/NAME/ itself is one of them, and stays there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from exporter.base.files import canonical_json, sha256_bytes, write_bytes
from exporter.process.workers import Setting
from exporter.spec.recipe.source import source_digest
from exporter.train import run as training
from exporter.train.document import read_run
from exporter.train.run import TrainRequest, TrainResult

BEST = "best"


@dataclass(frozen=True)
class Runs:
    """The runs of the recipe that `request` names, below the folder `request.into`.

    With `any_seed` the request's seed, and with `any_ranks` its number of processes, is only that of a run which has
    to be made.
    """

    request: TrainRequest
    any_seed: bool = False
    any_ranks: bool = False

    def chosen(self) -> TrainResult | None:
        """The finished run to take: what `best` names, or else the best by its metric; None where none will do.

        It is of the recipe's code as it is now, and has at least as many epochs as the recipe says.

        Raises:
            UsageError: the recipe has no source file, or a `run.json` is not ours.
        """
        named = self._named()
        if named is not None and (found := self._finished(named)):
            return found
        return next((found for folder in self._by_metric() if (found := self._finished(folder))), None)

    def placed(self) -> TrainRequest:
        """The request with the folder that its run gets, or lies in unfinished."""
        home = self.request.into
        run = read_run(home)
        alone = not (home / BEST).exists() and not any(home.glob("seed-*"))
        if run is not None and not run.finished and alone and training.resumable(self.request):
            return self.request
        return replace(self.request, into=home / self._name())

    def ensure(self, setting: Setting, chosen: TrainResult | None) -> TrainResult:
        """Return the run that was `chosen`; where none was, continue or make one, and let `best` name it.

        Raises:
            ExporterError, KeyboardInterrupt: as :func:`exporter.train.run.train`.
        """
        if chosen is not None:
            setting.say(f"{self.request.recipe} was trained before: {chosen.checkpoint}")
            return chosen
        result = training.ensure(self.placed(), setting)
        self.point(result)
        return result

    def point(self, made: TrainResult) -> Path | None:
        """Let `best` name a run that was just made, unless it names one of the same code that is as good.

        What it names then; None where there is no run to take, as after one of fewer epochs than the recipe says.
        """
        among, new = replace(self, any_seed=True, any_ranks=True), made.checkpoint.parent
        before = among._named()
        if before is None or not among._finished(before):
            chosen = among.chosen()
            best = chosen.checkpoint.parent if chosen else None
        else:
            best = new if among._finished(new) and _rank(new) > _rank(before) else before
        if best is not None and best != before:
            name = best.relative_to(self.request.into).as_posix()  # "." for a run in the folder itself
            write_bytes(self.request.into / BEST, f"{name}\n".encode())
        return best

    def _name(self) -> str:
        """Of the folder of a new run."""
        asked = self.request
        code = sha256_bytes(canonical_json([asked.recipe, source_digest(asked.recipe)]))[:8]
        epochs = f"-epochs-{asked.epochs}" if asked.epochs else ""
        ranks = f"-ranks-{asked.ranks}" if asked.ranks > 1 else ""
        return f"seed-{asked.seed}{epochs}{ranks}-{code}"

    def _named(self) -> Path | None:
        """The folder that `best` names."""
        name = named(self.request.into)
        return self.request.into / name if name else None

    def _finished(self, folder: Path) -> TrainResult | None:
        """The run in a folder, if it is one to take."""
        run = read_run(folder)
        if run is None or run.epochs < run.recipe_epochs:
            return None
        seed = run.seed if self.any_seed else self.request.seed
        ranks = run.ranks if self.any_ranks else self.request.ranks
        asked = replace(self.request, into=folder, seed=seed, epochs=run.epochs, ranks=ranks)
        return training.finished(asked)

    def _by_metric(self) -> list[Path]:
        """The folders of finished runs, the best first."""
        home = self.request.into
        folders = [home, *sorted(path for path in home.glob("seed-*") if not path.name.endswith(".partial"))]
        return sorted((folder for folder in folders if _is_finished(folder)), key=_rank, reverse=True)


def named(home: Path) -> str:
    """The name of the run that `best` names; empty where it names none."""
    try:
        name = (home / BEST).read_text().strip()
    except (OSError, ValueError):
        return ""
    return "" if "/" in name or "\0" in name else name


def _is_finished(folder: Path) -> bool:
    run = read_run(folder)
    return run is not None and run.finished


def _rank(folder: Path) -> float:
    """The metric, the larger the better."""
    run = read_run(folder)
    assert run is not None and run.metric is not None  # noqa: S101  # only finished runs are compared
    return run.metric.rank
