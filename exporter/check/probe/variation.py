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
from pathlib import Path
from typing import Any

import numpy as np

from exporter.check.probe.child import build, called, cases, seed, static
from exporter.process.workers import Json, doing

_CLOCKS = ("time", "perf_counter", "monotonic", "process_time", "time_ns", "perf_counter_ns", "monotonic_ns")
_MOST_VARIABLES = 4
#: What every process is told of its machine. To change it would write caches into the user's folder, and prove nothing.
_OF_THE_MACHINE = frozenset({"HOME", "PATH", "PWD", "TMPDIR", "TEMP", "TMP", "USER", "LD_LIBRARY_PATH", "PYTHONPATH"})
_AN_HOUR = 3600


def varied(request: Json) -> Json:
    """Trace the model under each change; `depends` names those that change the program."""
    layer = build(request)
    plain, again = (_traced(layer, request, _nothing) for _ in range(2))
    if not plain or plain["program"] != again.get("program"):
        return {"depends": []}
    changes: dict[str, Callable[[Any, Json], None]] = {
        "randomness": _other_seeds,
        "the clock": _later,
        "earlier calls": _after_use,
        "the training mode that it was in before": _after_training,
    }
    for name in plain["variables"][:_MOST_VARIABLES]:
        changes[f"the environment variable {name}"] = _flipped(name)
    depends = []
    for name, change in changes.items():
        doing(f"tracing the model, {name} changed")
        found = _traced(layer, request, change)
        if found and found["program"] != plain["program"]:
            depends.append(name)
    return {"depends": depends}


def _traced(layer: Any, request: Json, change: Callable[[Any, Json], None]) -> Json:
    """The digest of the program after a change, and the variables that the model asked for; empty on a failure."""
    with tempfile.NamedTemporaryFile() as report:
        process = os.fork()
        if process == 0:
            try:
                change(layer, request)
                Path(report.name).write_text(json.dumps(_program(layer, request)))
            finally:
                os._exit(0)  # whatever was raised: there is no report
        os.waitpid(process, 0)
        text = report.read()
    return dict(json.loads(text)) if text else {}


def _program(layer: Any, request: Json) -> Json:
    read = _record_environment()
    text = str(static(layer, request).forward.concrete_program.main_program)
    return {"program": hashlib.sha256(text.encode()).hexdigest(), "variables": sorted(read)}


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


def _nothing(layer: Any, request: Json) -> None:
    """The control: two such traces must be alike."""


def _other_seeds(layer: Any, request: Json) -> None:
    import paddle

    random.seed(20)
    np.random.seed(20)
    paddle.seed(20)


def _later(layer: Any, request: Json) -> None:
    for name in _CLOCKS:
        plain = getattr(time, name)
        step = _AN_HOUR * 10**9 if name.endswith("_ns") else _AN_HOUR
        setattr(time, name, lambda plain=plain, step=step: plain() + step)


def _after_use(layer: Any, request: Json) -> None:
    for case in cases(request):
        called(layer, case)
    seed()  # what was drawn is no difference


def _after_training(layer: Any, request: Json) -> None:
    layer.train()
    layer.eval()


def _flipped(name: str) -> Callable[[Any, Json], None]:
    def change(layer: Any, request: Json) -> None:
        os.environ[name] = "0" if os.environ.get(name) == "1" else "1"

    return change
