"""Observe the source: one case, every sublayer's tensors, in a child."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from exporter.base.errors import BundleError, EnvironmentLacks, ModelError, UsageError
from exporter.base.tensors import load, save_scratch
from exporter.process.job import A, Job, Q
from exporter.process.scratch import scratch
from exporter.process.workers import PADDLE, SINGLE_THREAD, Setting, call
from exporter.prove.harness import Bench
from exporter.prove.root_cause.align import FreshProgram, Observed, Shown, Trace, worst

if TYPE_CHECKING:
    from exporter.prove.root_cause import child

#: A source that does not run here, or an artifact that does not run with its intermediate values put out.
NOT_HERE = (ModelError, UsageError, EnvironmentLacks, BundleError)


@dataclass(frozen=True)
class Witness:
    """One case as the source computes it, and how to trace a program anew that computes it."""

    observed: Observed
    trace_anew: Callable[[], FreshProgram]

    @cached_property
    def program(self) -> FreshProgram:
        """What a program shows that is traced when it is first asked for: that takes as long as an engine's run."""
        return self.trace_anew()

    def sound(self, budget: float) -> bool:
        """Return whether the program traced anew computes the case right."""
        values, outputs = self.program.values, self.observed.calls[0].outputs
        return values is not None and worst(Shown(self.observed, values), outputs) <= budget


@dataclass
class Witnesses:
    """What was observed of the source so far, by the recorded case; each case is observed once for all who ask."""

    bench: Bench
    setting: Setting
    _known: dict[str, Witness | str] = field(default_factory=dict)

    def of(self, case: str) -> Witness | str:
        """The source's own computation of a case; or why it cannot be had."""
        recorded = next(golden.recorded for golden in self.bench.cases if golden.name == case)
        if recorded not in self._known:
            with scratch() as folder:
                try:
                    self._known[recorded] = observe(self.bench, recorded, folder, self.setting)
                except NOT_HERE as error:
                    self._known[recorded] = f"the source could not be observed: {error}"
        return self._known[recorded]


def observe(bench: Bench, case: str, into: Path, setting: Setting) -> Witness:
    """Watch the source compute the recorded case; `into` is an empty folder to work in.

    Raises:
        ModelError, UsageError, EnvironmentLacks: the source does not run here, or not twice in the same way.
    """
    from exporter.prove.root_cause import child

    if bench.source is None:
        raise ModelError("the source is not at hand", hint="give it with --source")
    request = child.ObserveRequest(bench.source, bench.golden, case, into)
    trace = _called(child.observe, request, setting)
    observed = Observed(trace, load(into / "values.safetensors"))
    return Witness(observed, partial(_trace_anew, request, observed, setting))


def _trace_anew(request: child.ObserveRequest, observed: Observed, setting: Setting) -> FreshProgram:
    """Trace a program of the source, and run the case with every value put out."""
    from exporter.prove.root_cause import child

    root = observed.calls[0]
    keys = [key for key in (*root.inputs, *root.outputs) if key in observed.facts]
    facts = {key: observed.facts[key] for key in keys}
    with scratch() as folder:
        ends = {name: value for name, value in observed.values.items() if int(name.partition("/")[0]) in facts}
        save_scratch(folder / "values.safetensors", ends)
        anew = child.TraceRequest(replace(request, into=folder), Trace((root,), facts))
        try:
            answer = _called(child.trace_anew, anew, setting)
        except NOT_HERE as error:
            return FreshProgram(why_not=str(error))
        values = None if answer.why_not else load(folder / "fresh.safetensors")
        return FreshProgram(values, answer.why_not, answer.derived, answer.first_off)


def _called(work: Job[Q, A], request: Q, setting: Setting) -> A:
    return call(work, request, setting.limits, environment=SINGLE_THREAD, imports=PADDLE, on_event=setting.on_event)
