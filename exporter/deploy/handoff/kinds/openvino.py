"""OpenVINO IR: `model.xml` and `model.bin`, made from the bundle's ONNX and run before they are handed over.

The same ONNX gives the same bytes in one version of OpenVINO (2026.4.1); the `.xml` names that version.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from exporter.base.errors import EnvironmentLacks, ModelError
from exporter.base.tensors import load, recorded_inputs, save_scratch
from exporter.bundle.layout import GOLDEN
from exporter.deploy.handoff.base import Chosen, Proof, Target
from exporter.deploy.handoff.evidence import judge, require_fp32
from exporter.engines.base import Runnable, SettingsUnmet
from exporter.engines.kinds.openvino import OpenVino
from exporter.process.scratch import scratch
from exporter.process.workers import SINGLE_THREAD, Json, Limits, call, doing

_CHILD = "exporter.deploy.handoff.kinds.openvino"
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
        (model,) = chosen.files().values()
        with scratch() as place:
            request = {"onnx": str(model.resolve()), "into": str(place)}
            _asked(call(f"{_CHILD}:convert", request, chosen.limits, environment=SINGLE_THREAD), "convert")
            return {f"model/{name}": (place / name).read_bytes() for name in (_XML, _BIN)}

    def prove(self, folder: Path, chosen: Chosen, limits: Limits) -> Proof:
        variant, names = chosen.variant, [output.name for output in chosen.manifest.outputs]
        goldens = chosen.bundle.goldens()
        with scratch() as place:
            request = {
                "folder": str((folder / "model").resolve()),
                "golden": str((chosen.bundle.folder / GOLDEN).resolve()),
                "cases": [case.recorded for case in goldens],
                "inputs": list(variant.inputs),
                "outputs": list(variant.outputs),
                "into": str(place),
            }
            answer = _asked(call(f"{_CHILD}:run", request, limits, environment=SINGLE_THREAD), "run")
            found = [load(place / f"{number}.safetensors") for number in range(len(goldens))]
        got = {
            case.name: {name: outputs[native] for name, native in zip(names, variant.outputs, strict=True)}
            for case, outputs in zip(goldens, found, strict=True)
        }
        ran = judge(chosen, "openvino", got, "the IR")
        return Proof(True, f"the IR gave what the bundle recorded in OpenVINO {answer['version']} on the CPU: {ran}")


def _asked(answer: Json, what: str) -> Json:
    """The child's answer; raises ModelError where OpenVINO refused."""
    if refused := answer.get("refused"):
        raise ModelError(f"OpenVINO does not {what} it: {refused}", where="openvino", hint="choose another target")
    return answer


def convert(request: dict[str, Any]) -> dict[str, Any]:
    """In a child: write the IR of an ONNX; the answer says why not, where OpenVINO refuses."""
    _require_openvino()
    import openvino

    doing("openvino: converting to IR")
    try:
        model = openvino.Core().read_model(request["onnx"])
        openvino.save_model(model, str(Path(request["into"], _XML)), compress_to_fp16=False)
    except RuntimeError as error:
        return {"refused": str(error)[:500]}
    return {}


def run(request: dict[str, Any]) -> dict[str, Any]:
    """In a child: run the IR on recorded cases; outputs of case N go to `into/N.safetensors`, by their native names."""
    from exporter.engines.base import EngineRefused

    version, engine = _require_openvino(), OpenVino()
    inputs, outputs = tuple(request["inputs"]), tuple(request["outputs"])
    doing("openvino: loading the IR")
    try:
        with engine.open(Runnable("onnx", Path(request["folder"]), _XML, inputs, outputs), "cpu") as session:
            if session.settings.unmet():
                raise SettingsUnmet(session.settings)
            for number, case in enumerate(request["cases"]):
                doing(f"openvino: running case {case}")
                values = session.run(recorded_inputs(Path(request["golden"]), case, inputs))
                save_scratch(Path(request["into"]) / f"{number}.safetensors", values)
    except EngineRefused as error:
        return {"refused": str(error)}
    return {"version": version}


def _require_openvino() -> str:
    """OpenVINO's version; raises EnvironmentLacks where it cannot be imported."""
    found = OpenVino().probe("cpu")
    if not found.available:
        raise EnvironmentLacks(found.why_not, where="openvino", hint=found.cure)
    return found.version


plugin: Target = OpenVinoIr()
