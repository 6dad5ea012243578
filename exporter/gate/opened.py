"""What a spec's code reads while it runs: a child builds and runs the model, and calls what else the spec names."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from exporter.process.workers import PADDLE, SINGLE_THREAD, Setting, call
from exporter.spec.model import Spec


@dataclass(frozen=True)
class Opened:
    """Absolute paths: files that were read or asked about, code included, and folders whose files were asked for.

    `hidden` names what may have read files that nobody saw (:class:`exporter.base.watch.Seen`).
    """

    read: frozenset[Path]
    listed: frozenset[Path]
    hidden: frozenset[str]


def opened(spec: Spec, within: Path, setting: Setting) -> Opened:
    """What lies below the folder `within` and was opened.

    Raises:
        UsageError, EnvironmentLacks, ModelError: the model cannot be built or run, its data not be loaded, or a
            function of its pipeline fails.
        ChildFailed: the child crashed, or reached a limit.
    """
    from exporter.gate.child import WatchRequest, watch  # with what builds and runs a model

    request, follow = WatchRequest(spec, within), setting.on_event
    answer = call(watch, request, setting.limits, environment=SINGLE_THREAD, imports=PADDLE, on_event=follow)
    return Opened(frozenset(answer.read), frozenset(answer.listed), frozenset(answer.hidden))
