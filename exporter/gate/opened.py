"""What a spec's model and recipe read while they run: a child builds the one and loads the data of the other."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from exporter.answers import told
from exporter.spec.model import Spec
from exporter.workers import PADDLE, SINGLE_THREAD, Setting, call


@dataclass(frozen=True)
class Opened:
    """Absolute paths: files that were read, code included, and folders whose files were asked for."""

    read: frozenset[Path]
    listed: frozenset[Path]


def opened(spec: Spec, within: Path, setting: Setting) -> Opened:
    """What lies below the folder `within` and was opened.

    Raises:
        UsageError, EnvironmentLacks, ModelError: the model cannot be built, or its data not be loaded.
        ChildFailed: the child crashed, or reached a limit.
    """
    request = {"model": spec.factory, "recipe": spec.recipe, "seed": spec.seed, "within": str(within)}
    target, follow = "exporter.gate._child:watch", setting.on_event
    answer = call(target, request, setting.limits, environment=SINGLE_THREAD, imports=PADDLE, on_event=follow)
    return told(Opened, answer)
