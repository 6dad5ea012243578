"""Ask in children which engines can run on a device: whatever becomes of a child is an answer, never an error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from exporter.base.errors import ChildCrashed, ExporterError
from exporter.engines.base import Availability
from exporter.engines.child import ProbeAnswer, ProbeRequest, probe
from exporter.process.answers import LAST_WORDS
from exporter.process.job import Job
from exporter.process.workers import SINGLE_THREAD, Limits, call

#: Seconds that looking may take: CUDA needs some to start, on a machine with many GPUs more.
_LIMIT = 120.0


def availability(
    names: Sequence[str], device: str, limits: Limits, job: Job[ProbeRequest, ProbeAnswer] = probe
) -> dict[str, Availability]:
    """Ask one child about all engines; where it fails, a child for each, so that the one to blame is known."""
    request = ProbeRequest(tuple(names), device)
    limits = replace(limits, seconds=min(limits.seconds, _LIMIT), code=None)
    try:
        answers = dict(call(job, request, limits, environment=SINGLE_THREAD).engines)
        lacking = sorted(set(names) - set(answers))
        if lacking:
            raise ChildCrashed(f"nothing was said of {lacking[0]}", hint=LAST_WORDS)
    except ExporterError as error:
        if len(names) > 1:
            return {name: availability([name], device, limits, job)[name] for name in names}
        why = f"looking for it failed: {error.what} {error.where}".strip()
        return {names[0]: Availability(why_not=why, cure="install it anew with scripts/install")}
    return answers
