"""OpenVINO IR: `model.xml` and `model.bin`, made from the bundle's ONNX and run before they are handed over.

The same ONNX gives the same bytes in one version of OpenVINO (2026.4.1); the `.xml` names that version.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from exporter.base.errors import EnvironmentLacks, ModelError
from exporter.base.tensors import load, recorded_inputs, save_scratch
from exporter.bundle.layout import GOLDEN
from exporter.deploy.handoff.base import Chosen, Proof, Target
from exporter.deploy.handoff.evidence import judge, require_fp32
from exporter.engines.base import Runnable, SettingsUnmet
from exporter.engines.kinds.openvino import OpenVino
from exporter.process.job import job
from exporter.process.scratch import scratch
from exporter.process.workers import SINGLE_THREAD, Limits, call, doing

_XML, _BIN = "model.xml", "model.bin"


class OpenVinoIr(Target):
    """`model/model.xml` and `model/model.bin`, in float32."""

    formats = ("onnx",)
    start = """
    import openvino

    core = openvino.Core()
    model = core.compile_model(core.read_model("model/model.xml"), "CPU", {{"INFERENCE_PRECISION_HINT": "f32"}})
    outputs = model(inputs)   # inputs: a dict of numpy arrays by the names above

The IR holds float32 (`compress_to_fp16=False`). Without the hint OpenVINO computes in bfloat16 on a CPU that has it:
three digits. Prove that first, with `openvino_default` among the engines of the spec.
"""

    def layout(self, chosen: Chosen) -> Mapping[str, bytes | Path]:
        require_fp32(chosen, "openvino")
        with scratch() as place:
            request = ConvertRequest(chosen.program.resolve(), place)
            _refuse(call(convert, request, chosen.limits, environment=SINGLE_THREAD).refused, "convert")
            return {f"model/{name}": (place / name).read_bytes() for name in (_XML, _BIN)}

    def prove(self, folder: Path, chosen: Chosen, limits: Limits) -> Proof:
        variant, names = chosen.variant, [output.name for output in chosen.manifest.outputs]
        goldens = chosen.bundle.goldens()
        with scratch() as place:
            request = RunRequest(
                folder=(folder / "model").resolve(),
                golden=(chosen.bundle.folder / GOLDEN).resolve(),
                cases=tuple(case.recorded for case in goldens),
                inputs=variant.inputs,
                outputs=variant.outputs,
                into=place,
            )
            answer = call(run, request, limits, environment=SINGLE_THREAD)
            _refuse(answer.refused, "run")
            found = [load(place / f"{number}.safetensors") for number in range(len(goldens))]
        got = {
            case.name: {name: outputs[native] for name, native in zip(names, variant.outputs, strict=True)}
            for case, outputs in zip(goldens, found, strict=True)
        }
        ran = judge(chosen, "openvino", got, "the IR")
        return Proof(True, f"the IR gave what the bundle recorded in OpenVINO {answer.version} on the CPU: {ran}")


def _refuse(refused: str, what: str) -> None:
    """Raise ModelError where OpenVINO refused."""
    if refused:
        raise ModelError(f"OpenVINO does not {what} it: {refused}", where="openvino", hint="choose another target")


@dataclass(frozen=True)
class ConvertRequest:
    """The IR of an ONNX is to be written into a folder."""

    onnx: Path
    into: Path


@dataclass(frozen=True)
class ConvertAnswer:
    """Why OpenVINO refused it; empty where it did not."""

    refused: str = ""


@dataclass(frozen=True)
class RunRequest:
    """The IR in a folder is to be run on the cases of the file `golden`, by its own names of inputs and outputs."""

    folder: Path
    golden: Path
    cases: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    into: Path


@dataclass(frozen=True)
class RunAnswer:
    """OpenVINO's version, or why it refused."""

    version: str = ""
    refused: str = ""


@job
def convert(request: ConvertRequest) -> ConvertAnswer:
    """Write the IR of an ONNX, and return why not, where OpenVINO refuses.

    Raises:
        EnvironmentLacks: OpenVINO cannot be imported.
    """
    _require_openvino()
    import openvino

    doing("openvino: converting to IR")
    try:
        model = openvino.Core().read_model(str(request.onnx))
        openvino.save_model(model, str(request.into / _XML), compress_to_fp16=False)
    except RuntimeError as error:
        return ConvertAnswer(str(error)[:500])
    return ConvertAnswer()


@job
def run(request: RunRequest) -> RunAnswer:
    """Run the IR on recorded cases, and write the outputs of case N to `into/N.safetensors`, by their native names.

    Raises:
        EnvironmentLacks: OpenVINO cannot be imported.
    """
    from exporter.engines.base import EngineRefused

    version, engine = _require_openvino(), OpenVino()
    doing("openvino: loading the IR")
    try:
        with engine.open(Runnable("onnx", request.folder, _XML, request.inputs, request.outputs), "cpu") as session:
            if session.settings.unmet():
                raise SettingsUnmet(session.settings)
            for number, case in enumerate(request.cases):
                doing(f"openvino: running case {case}")
                values = session.run(recorded_inputs(request.golden, case, request.inputs))
                save_scratch(request.into / f"{number}.safetensors", values)
    except EngineRefused as error:
        return RunAnswer(refused=str(error))
    return RunAnswer(version)


def _require_openvino() -> str:
    """OpenVINO's version; raises EnvironmentLacks where it cannot be imported."""
    found = OpenVino().probe("cpu")
    if not found.available:
        raise EnvironmentLacks(found.why_not, where="openvino", hint=found.cure)
    return found.version


plugin: Target = OpenVinoIr()
