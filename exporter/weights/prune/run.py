"""Pruning, seen from the main process: the folder that holds a smaller model, and the children that make it.

runs/NAME.pruned/
  plan.json             what each tensor keeps, how it was chosen, and the proof
  pruned.safetensors    the weights that are left, with the plan in its header
  tuned/                the run that fine-tunes them, where there is a recipe
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from exporter.base.errors import UsageError
from exporter.base.files import (
    TEMPORARY,
    canonical_json,
    remove,
    replace_folder,
    sha256_bytes,
    sha256_file,
    sibling,
    translated,
)
from exporter.base.references import find_source, split
from exporter.base.registry import Registry
from exporter.process.workers import PADDLE, SINGLE_THREAD, Setting, call
from exporter.spec.model import Prune, Spec
from exporter.train import run as training
from exporter.weights.prune.about import About, Choice

PLAN, PRUNED, TUNED = "plan.json", "pruned.safetensors", "tuned"


@dataclass(frozen=True)
class Pruned:
    """A smaller model: its checkpoint, fine-tuned where there is a recipe, and what the plan says of itself."""

    checkpoint: Path
    about: About
    tuned: training.TrainResult | None


def default_folder(spec: Spec) -> Path:
    """Where a spec's smaller model lies unless the user says otherwise."""
    return Path("runs", f"{spec.name}.pruned")


def finished(spec: Spec, whole: Path | None) -> Pruned:
    """Return the smaller model that the spec asks for, which lies there.

    Raises:
        UsageError: it was not made yet, or of other weights, code or settings.
    """
    folder = default_folder(spec)
    about = _read(spec, whole, folder)
    request = _tuning(spec, folder)
    tuned = training.finished(request) if request else None
    if about is None or (request is not None and tuned is None):
        raise UsageError(
            "the model was not pruned yet", where=str(folder), hint="run: exporter prune SPEC, or release it"
        )
    return Pruned(tuned.checkpoint if tuned else folder / PRUNED, about, tuned)


def pending(spec: Spec, whole: Path | None, folder: Path) -> bool:
    """Whether the smaller model in `folder` is yet to be fine-tuned, so that a training is to come."""
    request = _tuning(spec, folder)
    if request is None:
        return False
    return _read(spec, whole, folder) is None or training.finished(request) is None


def rehearse(spec: Spec, weights: Path | None, into: Path, setting: Setting) -> None:
    """Cut the model as :func:`ensure` will, but from any weights and into `into`; raises as it does."""
    _cut(spec, weights, into, setting)


def ensure(spec: Spec, whole: Path | None, folder: Path, setting: Setting) -> Pruned:
    """Return the smaller model, made now unless just this one lies there.

    Raises:
        UsageError: as :func:`check`; the model or its inputs are wrong.
        ModelError: so many FLOPs cannot be removed, or the cut cannot be proven; or as fine-tuning.
        KeyboardInterrupt: fine-tuning was interrupted and is saved; the same call goes on.
    """
    check(spec, folder)
    about = _read(spec, whole, folder)
    if about is None:
        about = _cut(spec, whole, folder, setting)
    request = _tuning(spec, folder)
    if request is None:
        return Pruned(folder / PRUNED, about, None)
    tuned = training.ensure(request, setting)
    return Pruned(tuned.checkpoint, about, tuned)


def check(spec: Spec, folder: Path) -> None:
    """Find a mistake in what is asked before any work.

    Raises:
        UsageError: nothing says how much is to be left, the importance is unknown, epochs of fine-tuning are asked for
            without a recipe, or the folder holds something else.
    """
    known: Registry[Any] = Registry("exporter.weights.prune.importance", "importance")
    if (name := _asked(spec).importance) not in known.names():
        known[name]  # says which are known
    if _asked(spec).epochs and spec.recipe is None:
        what, hint = "epochs of fine-tuning are asked for, and no recipe says how", "name a recipe, or leave them out"
        raise UsageError(what, where="prune.epochs", hint=hint)
    _refuse_strangers(folder)


def refuse_pruning(spec: Spec) -> None:
    """Find a mistake in what a spec asks of pruning, if it asks for any; raises as :func:`check`."""
    if spec.prune is not None:
        check(spec, default_folder(spec))


def _asked(spec: Spec) -> Prune:
    if spec.prune is None:
        raise UsageError(
            "nothing says how much is to be left", where=spec.name, hint="give --flops, or `prune` in the spec"
        )
    return spec.prune


def _tuning(spec: Spec, folder: Path) -> training.TrainRequest | None:
    asked = _asked(spec)
    if spec.recipe is None or asked.epochs == 0:
        return None
    return training.TrainRequest(
        spec.recipe, folder / TUNED, spec.seed, asked.epochs, spec.device, start=folder / PRUNED, args=spec.args
    )


def _cut(spec: Spec, whole: Path | None, folder: Path, setting: Setting) -> About:
    from exporter.weights.prune.child import PruneRequest, prune

    asked = _asked(spec)
    setting.say(f"pruning {spec.model} to {asked.flops:.0%} of its FLOPs")
    with sibling(folder) as draft:
        with translated(folder):
            draft.mkdir(parents=True)
        choice = Choice(asked.flops, asked.importance, _request_digest(spec, whole))
        request = PruneRequest(spec, whole, choice, asked.multiple_of, draft)
        event = setting.on_event
        about = call(prune, request, setting.limits, environment=SINGLE_THREAD, imports=PADDLE, on_event=event)
        with translated(folder):
            replace_folder(draft, folder)
        remove(draft)  # the earlier one, now in exchange
    return about


def _request_digest(spec: Spec, whole: Path | None) -> str:
    """Over all that the plan depends on: the code's file, the weights, what was asked, the inputs and their sizes."""
    asked, source = _asked(spec), find_source(split(spec.model)[0])
    described = spec.model_dump(mode="json", include={"model", "args", "inputs", "dims", "budget"})
    chosen = asked.model_dump(exclude={"epochs"})
    code = sha256_file(source) if source else ""
    return sha256_bytes(canonical_json([described, chosen, code, sha256_file(whole) if whole else spec.seed]))


def _read(spec: Spec, whole: Path | None, folder: Path) -> About | None:
    """What the plan in a folder says of itself, if it is the one asked for and its checkpoint is whole."""
    path, checkpoint = folder / PLAN, folder / PRUNED
    if not path.is_file() or not checkpoint.is_file():
        return None
    try:
        content = json.loads(path.read_bytes())
        about, sha256 = dict(content["about"]), content["checkpoint"]["sha256"]
        if about.get("request") != _request_digest(spec, whole) or sha256 != sha256_file(checkpoint):
            return None
        return About.of_json(about)
    except (ValueError, LookupError, TypeError) as error:
        raise UsageError("not a pruning plan", where=str(path), hint="remove the folder and prune again") from error


def _refuse_strangers(folder: Path) -> None:
    """The folder is exchanged as a whole: what else lies there would be lost."""
    if folder.exists() and not folder.is_dir():
        raise UsageError("is a file", where=str(folder), hint="choose another --out")
    ours = (PLAN, PRUNED, TUNED, f"{TUNED}.partial")
    found = sorted(one.name for one in folder.iterdir()) if folder.is_dir() else []
    if strangers := [name for name in found if name not in ours and not name.startswith(TEMPORARY)]:
        what = f"the folder holds '{strangers[0]}', which is not of a pruned model"
        raise UsageError(what, where=str(folder), hint="choose another --out")
