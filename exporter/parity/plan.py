"""The plan: which claims a verdict must answer, fixed before anything runs.

What happens to be installed never shapes it. An engine that the spec names and the machine lacks leaves its claims
MISSING; an engine that cannot run any of the formats asked for is a mistake in the spec.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from exporter.engines.base import Engine
from exporter.errors import UsageError
from exporter.parity.verdict import Claim
from exporter.registry import Registry
from exporter.spec.model import Spec

ENGINES: Registry[Engine] = Registry("exporter.engines", "engine")
#: The engines that run the source; they are planned wherever the source is at hand.
SOURCE_ENGINES = ("eager", "static")


@dataclass(frozen=True)
class Run:
    """One child: an engine on a variant, for all cases."""

    format: str
    precision: str
    engine: str

    @property
    def variant(self) -> str:
        """The variant's name: `onnx`, or `onnx-fp16`."""
        return self.format if self.precision == "fp32" else f"{self.format}-{self.precision}"


def with_engines(spec: Spec) -> Spec:
    """The spec with its engines settled: unless it names them, those of the usual ones that run one of its formats."""
    if "engines" in spec.model_fields_set:
        return spec
    able = tuple(name for name in spec.engines if set(ENGINES[name].formats) & set(spec.formats))
    return spec.model_copy(update={"engines": able})


def plan_runs(engines: Sequence[str], variants: Sequence[tuple[str, str]], with_source: bool) -> tuple[Run, ...]:
    """Pair each engine with each variant that it runs; variants are (format, precision).

    Raises:
        UsageError: an engine is unknown, or runs none of the variants; or a variant is run by no engine, so that it
            would be released unproven.
    """
    runs = [Run("source", "fp32", name) for name in SOURCE_ENGINES] if with_source else []
    for name in engines:
        able = [Run(*variant, name) for variant in variants if ENGINES[name].runs(*variant)]
        if not able and name not in SOURCE_ENGINES:
            formats = ", ".join(ENGINES[name].formats)
            kinds = f"{formats} in {', '.join(ENGINES[name].precisions)}"
            raise UsageError(f"engine '{name}' runs none of the formats", where="engines", hint=f"it runs: {kinds}")
        runs.extend(able)
    proven = {(run.format, run.precision) for run in runs}
    for variant in variants:
        if variant not in proven:
            able_names = [name for name, engine in ENGINES.all() if engine.runs(*variant)]
            low = "" if variant[1] == "fp32" else f" in {variant[1]}"
            raise UsageError(
                f"no engine runs the format '{variant[0]}'{low}, so nothing would prove it",
                where="engines",
                hint=f"add one of: {', '.join(able_names)}",
            )
    return tuple(runs)


def plan_some(engines: Sequence[str], variants: Sequence[tuple[str, str]], with_source: bool) -> tuple[Run, ...]:
    """Only what somebody asked for: each of the engines on every variant that it runs, the source among them.

    Raises:
        UsageError: an engine is unknown, or has nothing here to run.
    """
    here = [("source", "fp32")] * with_source + list(variants)
    runs = []
    for name in dict.fromkeys(engines):
        able = [Run(*variant, name) for variant in here if ENGINES[name].runs(*variant)]
        if not able:
            formats = ", ".join(ENGINES[name].formats)
            raise UsageError(f"engine '{name}' has nothing to run here", where="--engines", hint=f"it runs: {formats}")
        runs.extend(able)
    return tuple(runs)


def claims(runs: Sequence[Run], cases: Sequence[str], outputs: Sequence[str]) -> frozenset[Claim]:
    """Every output of every case of every run."""
    return frozenset(
        Claim(run.format, run.precision, run.engine, case, output)
        for run in runs
        for case in cases
        for output in outputs
    )
