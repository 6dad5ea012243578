"""Whether the runtimes that a spec names under `targets` load one of the formats that it writes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from packaging.version import Version

from exporter.base.errors import UsageError, did_you_mean
from exporter.base.registry import Registry
from exporter.deploy.handoff.base import TARGETS
from exporter.engines.consumers.base import names as consumers
from exporter.prove.verdict.plan import ENGINES
from exporter.spec.model import Spec

if TYPE_CHECKING:
    from packaging.requirements import Requirement

#: The Paddle that is the first to read a format; the others are as old as any that is supported (docs/targets.md).
_SINCE = {"pir": "3.0"}
#: What these names begin with has the versions of Paddle.
_PADDLE = ("paddle_inference", "jit_load")


def refuse_targets(spec: Spec) -> None:
    """Make sure that every target of a spec is known, and loads a format that is written; of consumers only the names.

    Raises:
        UsageError: one is unknown, so that it would have no effect; or loads none of the formats.
    """
    names = dict.fromkeys((*ENGINES.names(), *TARGETS.names()))
    for text in spec.targets:
        name = re.split(r"[^\w.-]", text.strip(), maxsplit=1)[0]
        if name in names:
            _refuse_target(spec, text)
        elif name.replace("_", "-").lower() not in consumers():
            known = names | dict.fromkeys(consumers())
            raise UsageError(f"unknown target '{name}'", where="targets", hint=did_you_mean(name, known))


def _refuse_target(spec: Spec, text: str) -> None:
    """Refuse a runtime that loads none of the formats which are written."""
    from packaging.requirements import Requirement  # few specs name one, and it takes 40 ms

    need = Requirement(text)
    runtimes: tuple[Registry[Any], ...] = (ENGINES, TARGETS)
    formats = next(registry[need.name].formats for registry in runtimes if need.name in registry.names())
    able = [name for name in formats if name not in _SINCE or not need.name.startswith(_PADDLE) or _loads(need, name)]
    if set(spec.formats) & set(able):
        return
    young = [f"{name} is read from Paddle {_SINCE[name]} on" for name in formats if name not in able]
    had = "; ".join((", ".join(spec.formats), *young))
    raise UsageError(
        f"'{text}' has to load the artifacts, and loads none of the formats that are written: {had}",
        where="targets",
        hint=f"add to formats: {' or '.join(able)}; or leave the target out",
    )


def _loads(need: Requirement, format: str) -> bool:
    """Whether every Paddle that is asked for reads a format that not all read."""
    bounds = [one.version.removesuffix(".*") for one in need.specifier if one.operator in (">=", ">", "==", "~=")]
    if bounds:
        return max(map(Version, bounds)) >= Version(_SINCE[format])
    return need.specifier.contains(_SINCE[format])
