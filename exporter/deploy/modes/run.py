"""Compare the modes: each in a process of its own, in rounds whose order is drawn, with the same data and seeds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from exporter.base import machine
from exporter.base.errors import EnvironmentLacks, ModelError, UsageError
from exporter.base.tensors import load
from exporter.deploy.modes import served
from exporter.deploy.modes.child import MODES, WEIGHTS, Looked, LookRequest, MeasureRequest, look, measure
from exporter.deploy.modes.result import EAGER, Apart, Comparison, Machine, Round, Served, Wish
from exporter.deploy.modes.turns import turns
from exporter.process.scratch import scratch
from exporter.process.workers import PADDLE, SINGLE_THREAD, Setting, call
from exporter.spec.recipe.source import recipe_reference

_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def compare(wish: Wish, setting: Setting, convert: served.Convert) -> Comparison:
    """Measure every mode, and serve eager and what the exporter makes of its weights.

    Raises:
        UsageError: there is no such recipe or mode; the recipe's own code fails; it does not go with a mode asked for.
        EnvironmentLacks: a mode that was asked for, or the device, is not here.
        ModelError: eager does not get through.
    """
    wish = replace(wish, recipe=recipe_reference(wish.recipe))
    for name in wish.modes:
        MODES[name]  # an unknown one is told before anything runs
    with scratch() as place:
        looked = _look(wish, place, setting)
        wish = replace(wish, device=looked.device, epochs=wish.epochs or (None if wish.steps else looked.epochs))
        modes = _possible(wish, looked)
        rounds, failed = _rounds(wish, modes, looked, place, setting)
        apart = {mode: _apart(place, mode) for mode in rounds}
        service = Served(why_not="it was not asked for")
        if wish.serve:
            service = served.serve(wish, looked.inputs, place, place / f"{EAGER}-0" / WEIGHTS, setting, convert)
    lacks = {name: lack.what for name, lack in looked.lacks.items() if lack is not None}
    return Comparison(
        wish=replace(wish, modes=tuple(rounds)),
        paddle=looked.paddle,
        machine=Machine(machine.cpu(), machine.memory()),
        metric=looked.metric,
        titles={mode: MODES[mode].title for mode in MODES.names()},
        rounds=rounds,
        apart=apart,
        lacks=lacks,
        failed=failed,
        served=service,
    )


def _look(wish: Wish, place: Path, setting: Setting) -> Looked:
    setting.say("looking at the recipe")
    modes = tuple(dict.fromkeys([EAGER, *(wish.modes or MODES.names())]))
    request, limits = LookRequest(wish.recipe, modes, wish.seed, wish.device, place / served.ROW), setting.limits
    return call(look, request, limits, environment=_environment(wish), imports=PADDLE, on_event=setting.on_event)


def _possible(wish: Wish, looked: Looked) -> list[str]:
    """The modes to compare; one that was asked for by name and cannot be is refused."""
    for name in wish.modes:
        if (lack := looked.lacks[name]) is not None:
            kind = EnvironmentLacks if lack.here else UsageError
            raise kind(lack.what, where=f"mode {name}", hint=lack.hint)
    return [name for name, lack in looked.lacks.items() if lack is None]


def _rounds(
    wish: Wish, modes: list[str], looked: Looked, place: Path, setting: Setting
) -> tuple[dict[str, list[Round]], dict[str, str]]:
    """All rounds of each mode that gets through them, and why of those that do not."""
    rounds: dict[str, list[Round]] = {mode: [] for mode in modes}
    failed: dict[str, str] = {}
    for number, mode in turns(modes, wish.rounds, wish.seed):
        if mode in failed:
            continue
        setting.say(f"round {number + 1} of {wish.rounds}: {mode}")
        into = place / f"{mode}-{number}"
        into.mkdir()
        try:
            rounds[mode].append(_measure(wish, mode, looked, into, setting))
        except (ModelError, UsageError) as error:
            if mode == EAGER:
                raise
            failed[mode] = f"{error.what} {error.where}".strip()
    return {mode: found for mode, found in rounds.items() if mode not in failed}, failed


def _measure(wish: Wish, mode: str, looked: Looked, into: Path, setting: Setting) -> Round:
    request = MeasureRequest(
        recipe=wish.recipe,
        mode=mode,
        seed=wish.seed,
        device=wish.device,
        threads=wish.threads,
        epochs=wish.epochs,
        steps=wish.steps,
        batches=tuple(wish.batches),
        seconds=wish.seconds,
        inputs=looked.inputs,
        into=into,
    )
    limits, follow = setting.limits, setting.on_event
    return call(measure, request, limits, environment=_environment(wish), imports=PADDLE, on_event=follow)


def _environment(wish: Wish) -> Mapping[str, str | None]:
    return {**SINGLE_THREAD, **dict.fromkeys(_THREADS, str(wish.threads))}


def _apart(place: Path, mode: str) -> Apart:
    """How far the weights of the first round lie from eager's."""
    import numpy as np

    eager, own = (load(place / f"{which}-0" / WEIGHTS) for which in (EAGER, mode))
    if {name: value.shape for name, value in eager.items()} != {name: value.shape for name, value in own.items()}:
        hint = "give each parameter the name and shape that it has in the layer's state_dict"
        raise UsageError("its weights are not those of the layer", where=f"mode {mode}", hint=hint)
    pairs: list[tuple[Any, Any]] = [
        (value.astype("float64"), own[name].astype("float64")) for name, value in eager.items()
    ]
    square = sum(float(((one - other) ** 2).sum()) for one, other in pairs)
    whole = sum(float((one**2).sum()) for one, _ in pairs)
    largest = max((float(np.abs(one - other).max()) for one, other in pairs if one.size), default=0.0)
    return Apart((square / whole) ** 0.5 if whole else 0.0, largest)
