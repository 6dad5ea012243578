"""MLServer, and through it KServe and Seldon: the open inference protocol (V2) over ONNX Runtime.

`tests/evals/serve/test_service.py` starts the real mlserver 1.7.1 on it. Its runtime checks requests as http_service
does; what MLServer itself does not keep stands in docs/targets.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from exporter.base.files import readable_json
from exporter.deploy.handoff.base import Chosen, Proof, Target
from exporter.deploy.handoff.protocol import OutputTensor, interface, interface_source, requirements, server_source
from exporter.process.workers import Limits

#: No pool of workers: mlserver 1.7.1 cannot start one under the uvloop of today (0.23), and onnxruntime needs none.
_SETTINGS = {"debug": False, "parallel_workers": 0}


class MlServer(Target):
    """`models/NAME/1/`: `model-settings.json`, a runtime that checks requests by the interface, and the model."""

    formats = ("onnx",)
    versions = "models/{name}"
    joins = "`max_batch_size` and `max_batch_time` in model-settings.json, which are not written"
    start = """
    pip install -r requirements.txt
    mlserver start .
    curl -f localhost:8080/v2/models/{name}/versions/{number}/ready

A request that the model does not take is 400 with the reason. MLServer 1.7.1 itself takes bodies of any size, waits for
one that does not come, and cuts off what is in flight when it is stopped: have a proxy before it that does not, or hand
over to http_service.

For KServe, build an image of this folder (`mlserver build .`) and name it in an InferenceService with
`protocolVersion: v2`.
"""

    def layout(self, chosen: Chosen) -> Mapping[str, bytes | Path]:
        about = interface(chosen, "mlserver")
        settings = {
            "name": chosen.manifest.name,
            "implementation": "runtime.OnnxModel",
            "inputs": [_metadata(tensor) for tensor in about.inputs],
            "outputs": [_metadata(tensor) for tensor in about.outputs],
            "parameters": {"uri": "./model/model.onnx", "version": str(chosen.number), "extra": asdict(about)},
        }
        folder = self.version_folder(chosen)
        return {
            **chosen.files(f"{folder}/model/"),
            f"{folder}/model-settings.json": readable_json(settings),
            "settings.json": readable_json(_SETTINGS),
            f"{folder}/interface.py": interface_source(),
            f"{folder}/runtime.py": server_source("mlserver_runtime.py"),
            "requirements.txt": requirements("mlserver_requirements.txt", chosen.manifest),
        }

    def prove(self, folder: Path, chosen: Chosen, limits: Limits) -> Proof:
        del folder, chosen, limits
        return Proof(False, "MLServer wants an environment of its own, and is not started here")


def _metadata(tensor: OutputTensor) -> dict[str, object]:
    shape = [size if isinstance(size, int) else -1 for size in tensor.shape]
    return {"name": tensor.name, "datatype": tensor.datatype, "shape": shape}


plugin: Target = MlServer()
