"""Run an artifact with every intermediate value put out, in the very engine that failed."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from exporter.errors import ModelError
from exporter.harness import Bench
from exporter.registry import Registry
from exporter.root_cause.taps.base import Tap
from exporter.tensors import TensorMap, load
from exporter.verdict.plan import ENGINES, Run
from exporter.workers import SINGLE_THREAD, Setting, call

TAPS: Registry[Tap] = Registry("exporter.root_cause.taps", "tap")


def program_values(bench: Bench, run: Run, case: str, setting: Setting) -> TensorMap:
    """Every intermediate value that the run's artifact computes in one case, by the program's own names for them.

    Raises:
        UsageError: nobody knows how to tap this format.
        BundleError: the artifact cannot be read.
        ModelError, EnvironmentLacks: it does not run like that.
    """
    artifact = bench.artifacts[run.variant]
    main = bench.folder / next(path for path in artifact.files if not path.endswith(".pdiparams"))
    asked = next(one for one in bench.cases if one.name == case)
    # A case that is run again shows what the artifact kept from the first time.
    cases = [[name, asked.recorded, asked.threads] for name in dict.fromkeys((asked.recorded, case))]
    with tempfile.TemporaryDirectory(prefix="exporter-") as folder:
        tapped, into = Path(folder) / "tapped", Path(folder) / "values"
        tapped.mkdir()
        into.mkdir()
        names = TAPS[run.format](main.parent, tapped)
        request: dict[str, Any] = {
            "engine": run.engine,
            "device": bench.device,
            "golden": str(bench.golden),
            "cases": cases,
            "inputs": list(bench.inputs),
            "outputs": list(names),
            "into": str(into),
            "format": run.format,
            "folder": str(tapped),
            "model": main.name,
            "source": None,
        }
        answer = call(
            "exporter.engines._child:run",
            request,
            setting.limits,
            environment={**SINGLE_THREAD, **ENGINES[run.engine].environment(run.format)},
            imports=ENGINES[run.engine].imports,
            on_event=setting.on_event,
        )
        if refused := answer["load"] or answer["refused"].get(case, ""):
            raise ModelError(refused)
        return load(into / f"{len(cases) - 1}.safetensors")
