"""Observe the source: one case, every sublayer's tensors, in a child."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from exporter.base.errors import BundleError, EnvironmentLacks, ModelError, UsageError
from exporter.base.tensors import TensorMap, load
from exporter.process.scratch import scratch
from exporter.process.workers import PADDLE, SINGLE_THREAD, Setting, call
from exporter.prove.harness import Bench
from exporter.prove.root_cause.align import Observed, Shown, worst

#: A source that does not run here, or an artifact that does not run with its intermediate values put out.
NOT_HERE = (ModelError, UsageError, EnvironmentLacks, BundleError)


@dataclass(frozen=True)
class Witness:
    """One case as the source computes it, and what a program shows that was traced anew (None: there is none)."""

    observed: Observed
    fresh: TensorMap | None
    why_not_fresh: str

    def sound(self, budget: float) -> bool:
        """Whether the program traced anew computes the case right."""
        outputs = self.observed.calls[0].outputs
        return self.fresh is not None and worst(Shown(self.observed, self.fresh), outputs) <= budget


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

    assert bench.source is not None  # noqa: S101  # nobody asks where the source is not at hand
    answer = call(
        child.observe,
        child.ObserveRequest(bench.source, bench.golden, case, into),
        setting.limits,
        environment=SINGLE_THREAD,
        imports=PADDLE,
        on_event=setting.on_event,
    )
    observed = Observed(answer.trace, load(into / "values.safetensors"))
    fresh = None if answer.why_not_fresh else load(into / "fresh.safetensors")
    return Witness(observed, fresh, answer.why_not_fresh)
