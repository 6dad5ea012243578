"""The probe's third child: the model is traced again and again while one thing around it is another.

A program depends on its model and on the input specs alone. What else changes it was read while it was traced, and is
a constant of it now: the state of a random generator, the clock, an environment variable, what earlier calls left
behind, a training mode that was on and off again. Each trace runs in a fork, so that none sees what another did. Runs
in children only.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from exporter.check.probe.child import Subject, build, called, cases, seed, static
from exporter.process.job import from_json, job, to_json
from exporter.process.workers import doing

_CLOCKS = ("time", "perf_counter", "monotonic", "process_time", "time_ns", "perf_counter_ns", "monotonic_ns")
_MOST_VARIABLES = 4
#: What every process is told of its machine. To change it would write caches into the user's folder, and prove nothing.
_OF_THE_MACHINE = frozenset({"HOME", "PATH", "PWD", "TMPDIR", "TEMP", "TMP", "USER", "LD_LIBRARY_PATH", "PYTHONPATH"})
_AN_HOUR = 3600


@dataclass(frozen=True)
class Varied:
    """What else than the model and its input specs changes the program."""

    depends: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Traced:
    """The digest of a program, and the environment variables that the model asked for while it was traced."""

    program: str
    variables: tuple[str, ...]


#: Changes one thing around the model, before it is traced.
_Change: TypeAlias = Callable[[Any, Subject], None]


@job(reuse="probing {path}: what else changes its program")
def varied(subject: Subject) -> Varied:
    """Trace the model under each change, and name those that change the program."""
    layer = build(subject)
    plain, again = (_traced(layer, subject, _nothing) for _ in range(2))
    if plain is None or again is None or plain.program != again.program:
        return Varied()
    changes: dict[str, _Change] = {
        "randomness": _other_seeds,
        "the clock": _later,
        "earlier calls": _after_use,
        "the training mode that it was in before": _after_training,
    }
    for name in plain.variables[:_MOST_VARIABLES]:
        changes[f"the environment variable {name}"] = _flipped(name)
    depends = []
    for name, change in changes.items():
        doing(f"tracing the model, {name} changed")
        traced = _traced(layer, subject, change)
        if traced is not None and traced.program != plain.program:
            depends.append(name)
    return Varied(tuple(depends))


def _traced(layer: Any, subject: Subject, change: _Change) -> _Traced | None:
    """Trace the model after a change; None where that fails."""
    with tempfile.NamedTemporaryFile() as report:
        process = os.fork()
        if process == 0:
            try:
                change(layer, subject)
                Path(report.name).write_text(json.dumps(to_json(_Traced, _program(layer, subject))))
            finally:
                os._exit(0)  # whatever was raised: there is no report
        os.waitpid(process, 0)
        text = report.read()
    return from_json(_Traced, json.loads(text)) if text else None


def _program(layer: Any, subject: Subject) -> _Traced:
    read = _record_environment()
    text = str(static(layer, subject).forward.concrete_program.main_program)
    return _Traced(hashlib.sha256(text.encode()).hexdigest(), tuple(sorted(read)))


def _record_environment() -> set[str]:
    """From now on, the environment variables that the model asks for; Paddle's own and the library's are left out."""
    import paddle

    read: set[str] = set()
    kind, library = type(os.environ), str(Path(os.__file__).parent)
    plain, foreign = kind.__getitem__, str(Path(paddle.__file__).parent)

    def recorded(self: Any, key: str) -> str:
        frame = sys._getframe(1)
        while frame.f_back is not None and frame.f_code.co_filename.startswith("<frozen "):
            frame = frame.f_back  # os.getenv, Mapping.get
        asker = frame.f_code.co_filename
        if (
            key not in _OF_THE_MACHINE
            and not asker.startswith(foreign)
            and ("site-packages" in asker or not asker.startswith(library))
        ):
            read.add(key)
        return plain(self, key)

    kind.__getitem__ = recorded  # type: ignore[method-assign]
    return read


def _nothing(layer: Any, subject: Subject) -> None:
    """The control: two such traces must be alike."""


def _other_seeds(layer: Any, subject: Subject) -> None:
    import paddle

    random.seed(20)
    np.random.seed(20)
    paddle.seed(20)


def _later(layer: Any, subject: Subject) -> None:
    for name in _CLOCKS:
        plain = getattr(time, name)
        step = _AN_HOUR * 10**9 if name.endswith("_ns") else _AN_HOUR
        setattr(time, name, lambda plain=plain, step=step: plain() + step)


def _after_use(layer: Any, subject: Subject) -> None:
    for case in cases(subject):
        called(layer, case)
    seed()  # what was drawn is no difference


def _after_training(layer: Any, subject: Subject) -> None:
    layer.train()
    layer.eval()


def _flipped(name: str) -> _Change:
    def change(layer: Any, subject: Subject) -> None:
        os.environ[name] = "0" if os.environ.get(name) == "1" else "1"

    return change
