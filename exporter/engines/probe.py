"""Ask in children which engines can run on a device: whatever becomes of a child is an answer, never an error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from exporter.base.errors import ChildCrashed, ExporterError
from exporter.engines.base import Availability
from exporter.process.answers import LAST_WORDS, told
from exporter.process.workers import SINGLE_THREAD, Limits, call

#: Seconds that looking may take: CUDA needs some to start, on a machine with many GPUs more.
_LIMIT = 120.0
PROBE = "exporter.engines.child:probe"


def availability(names: Sequence[str], device: str, limits: Limits, function: str = PROBE) -> dict[str, Availability]:
    """Ask one child about all engines; where it fails, a child for each, so that the one to blame is known.

    `function` takes `engines` and `device` and answers with the fields of :class:`Availability` by name.
    """
    request = {"engines": list(names), "device": device}
    limits = replace(limits, seconds=min(limits.seconds, _LIMIT), code=None)
    try:
        answers = told(dict[str, Availability], call(function, request, limits, environment=SINGLE_THREAD))
        lacking = sorted(set(names) - set(answers))
        if lacking:
            raise ChildCrashed(f"nothing was said of {lacking[0]}", hint=LAST_WORDS)
    except ExporterError as error:
        if len(names) > 1:
            return {name: availability([name], device, limits, function)[name] for name in names}
        why = f"looking for it failed: {error.what} {error.where}".strip()
        return {names[0]: Availability(why_not=why, cure="install it anew with scripts/install")}
    return answers
