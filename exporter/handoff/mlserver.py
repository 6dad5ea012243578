"""MLServer, and through it KServe and Seldon: the open inference protocol (V2) over ONNX Runtime.

Tried by hand with mlserver 1.7.1 and onnxruntime 1.31.1: it loaded, and answered as the goldens say.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from exporter.files import readable_json
from exporter.handoff.base import Chosen, Proof, Target
from exporter.workers import Limits

#: No pool of workers: mlserver 1.7.1 cannot start one under the uvloop of today (0.23), and onnxruntime needs none.
_SETTINGS = {"debug": False, "parallel_workers": 0}
_REQUIREMENTS = "mlserver>=1.6\nnumpy\nonnxruntime>=1.20\n"
_RUNTIME = '''"""The model, served by MLServer with ONNX Runtime; inputs and outputs have the names in the file."""

import onnxruntime
from mlserver import MLModel
from mlserver.codecs import NumpyCodec
from mlserver.types import InferenceResponse
from mlserver.utils import get_model_uri


class OnnxModel(MLModel):
    async def load(self):
        self._session = onnxruntime.InferenceSession(await get_model_uri(self._settings))
        return True

    async def predict(self, payload):
        inputs = {one.name: NumpyCodec.decode_input(one) for one in payload.inputs}
        names = [one.name for one in self._session.get_outputs()]
        values = self._session.run(names, inputs)
        outputs = [NumpyCodec.encode_output(name, values[place]) for place, name in enumerate(names)]
        return InferenceResponse(model_name=self.name, model_version=self.version, outputs=outputs)
'''


class MlServer(Target):
    """`models/NAME/1/` with `model-settings.json`, a runtime of a few lines, and the model."""

    formats = ("onnx",)
    versions = "models/{name}"
    start = """
    pip install -r requirements.txt
    mlserver start .
    curl -f localhost:8080/v2/models/{name}/versions/{number}/ready

For KServe, build an image of this folder (`mlserver build .`) and name it in an InferenceService with
`protocolVersion: v2`.
"""

    def layout(self, chosen: Chosen) -> Mapping[str, bytes | Path]:
        (model,) = chosen.files().values()
        settings = {
            "name": chosen.manifest.name,
            "implementation": "runtime.OnnxModel",
            "parameters": {"uri": "./model/model.onnx", "version": str(chosen.number)},
        }
        folder = self.version_folder(chosen)
        return {
            f"{folder}/model/model.onnx": model,
            f"{folder}/model-settings.json": readable_json(settings),
            f"{folder}/runtime.py": _RUNTIME.encode(),
            "settings.json": readable_json(_SETTINGS),
            "requirements.txt": _REQUIREMENTS.encode(),
        }

    def prove(self, folder: Path, chosen: Chosen, limits: Limits) -> Proof:
        del folder, chosen, limits
        return Proof(False, "MLServer wants an environment of its own, and is not started here")


plugin: Target = MlServer()
