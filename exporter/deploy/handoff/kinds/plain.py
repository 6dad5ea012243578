"""No server: the artifact, and a script that runs it with numpy and one engine; it is run before it is handed over."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from exporter.base.errors import EnvironmentLacks, ModelError
from exporter.base.numbers.golden import GoldenCase
from exporter.base.tensors import Array, load
from exporter.bundle.layout import GOLDEN
from exporter.deploy.handoff.base import Chosen, Proof, Target
from exporter.deploy.handoff.evidence import judge
from exporter.deploy.handoff.plain_run import write
from exporter.deploy.handoff.program import ProgramRequest, execute
from exporter.process.scratch import scratch
from exporter.process.workers import SINGLE_THREAD, Limits, call

#: Recorded cases that the script is run on; each is a process that loads the engine anew.
_MOST_CASES = 4
#: The exit code of run.py where its engine is not installed.
_NO_ENGINE = 3


class Plain(Target):
    """`run.py` and `model/`."""

    formats = ("onnx", "pdmodel", "pir")
    start = """
    python run.py inputs.npz outputs.npz

Both files hold one array for each name above (`numpy.savez`); `run.py` needs numpy, and onnxruntime for a `model.onnx`,
else Paddle. Its code shows how the model is loaded and run.
"""

    def layout(self, chosen: Chosen) -> Mapping[str, bytes | Path]:
        script = Path(__file__).parents[1].joinpath("plain_run.py").read_bytes()
        return {"run.py": script, **chosen.files("model/")}

    def prove(self, folder: Path, chosen: Chosen, limits: Limits) -> Proof:
        # Those that the spec promises, spread over the sizes; what probes has a colon in its name.
        plain = [case for case in chosen.bundle.goldens() if ":" not in case.name and "#" not in case.name]
        cases = plain[:_MOST_CASES]
        engine = "onnxruntime" if chosen.variant.format == "onnx" else "paddle_inference"
        got = {case.name: _run(folder, _inputs(chosen, case), limits, case.name) for case in cases}
        ran, names = judge(chosen, engine, got, "run.py"), ", ".join(case.name for case in cases)
        return Proof(True, f"run.py gave what the bundle recorded in {engine}, in the cases {names}: {ran}")


def _inputs(chosen: Chosen, case: GoldenCase) -> dict[str, Array]:
    tensors = load(chosen.bundle.folder / GOLDEN)
    return {one.name: tensors[f"{case.recorded}/input/{one.name}"] for one in chosen.manifest.inputs}


def _run(folder: Path, inputs: Mapping[str, Array], limits: Limits, case: str) -> dict[str, Array]:
    """Run the script as its user will: a process of its own, files in, files out.

    Raises:
        EnvironmentLacks: its engine is not here.
        ModelError: it ended in any other way than well, or in no time.
    """
    import numpy as np

    with scratch() as place:
        fed, got = place / "inputs.npz", place / "outputs.npz"
        write(fed, inputs)
        command = (sys.executable, str(folder.resolve() / "run.py"), str(fed), str(got))
        answer = call(execute, ProgramRequest(command, place), limits, environment=SINGLE_THREAD)
        said = (answer.errors.strip().splitlines() or ["no message"])[-1]
        if answer.status == _NO_ENGINE:
            hint = "install it, or choose another --variant; see exporter doctor"
            raise EnvironmentLacks(f"run.py cannot run here: {said}", where="plain", hint=hint)
        if answer.status or not got.is_file():
            raise ModelError(
                f"run.py ended with code {answer.status}: {said}", where=f"case {case}", hint="see exporter verify"
            )
        with np.load(got, allow_pickle=False) as archive:  # noqa: TID251  # pickles are off, and we wrote it
            return {name: archive[name] for name in archive.files}


plugin: Target = Plain()
