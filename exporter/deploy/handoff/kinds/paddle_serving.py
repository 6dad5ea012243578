"""Paddle Serving 0.9.0: its Python pipeline with the predictor in the process (`local_predictor`).

The configurations are written here, since Serving's own `convert` imports `paddle.fluid`, which Paddle lost in 2.5.
What the fields mean is in paddle_serving_app 0.9.0, `local_predict.py`: inputs are looked up by the file's own names,
outputs too, and by their place only if no name is right; so both names are the file's.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from packaging.version import Version

from exporter.base.errors import UsageError
from exporter.bundle.manifest import Tensor
from exporter.deploy.handoff.base import Chosen, Proof, Target
from exporter.export.lower.convert import oldest_paddle
from exporter.process.workers import Limits

#: `feed_type` and `fetch_type`, as local_predict.py numbers them.
_TYPES = {
    "int64": 0,
    "float32": 1,
    "int32": 2,
    "float64": 3,
    "int16": 4,
    "float16": 5,
    "uint8": 7,
    "int8": 8,
    "bool": 9,
}
#: The newest Paddle that Serving 0.9.0 was seen to run with.
_PADDLE = "2.6"
_REQUIREMENTS = """# Python 3.8. After these: pip install --no-deps paddle-serving-app==0.9.0
paddle-serving-server==0.9.0
paddle-serving-client==0.9.0
paddlepaddle==2.6.2
protobuf==3.20.3
numpy<1.24
"""
_SERVICE = '''"""The pipeline: one operator, which runs the model. Values are JSON text, in requests and in answers."""

import json

import numpy as np
from paddle_serving_server.web_service import Op, WebService

INPUTS = {inputs}
OUTPUTS = {outputs}


class ModelOp(Op):
    def preprocess(self, input_dicts, data_id, log_id):
        (_, given), = input_dicts.items()
        missing = sorted(set(INPUTS) - set(given))
        if missing:
            return {{}}, True, 5000, "inputs are missing: " + ", ".join(missing)
        return {{name: np.array(json.loads(given[name]), dtype) for name, dtype in INPUTS.items()}}, False, None, ""

    def postprocess(self, input_dicts, fetch_dict, data_id, log_id):
        return {{name: json.dumps(fetch_dict[native].tolist()) for name, native in OUTPUTS.items()}}, None, ""


class ModelService(WebService):
    def get_pipeline_response(self, read_op):
        return ModelOp(name="model", input_ops=[read_op])


service = ModelService(name={name})
service.prepare_pipeline_config("config.yml")
service.run_service()
'''


class PaddleServing(Target):
    """`models/NAME/1/`: `serving_server/` with the model, its configuration, and the service that they configure.

    Serving knows no versions. Each is a whole service in a folder of its own, and the one that is started serves.
    """

    formats = ("pdmodel",)
    versions = "models/{name}"
    joins = "`batch_size` of the operator in config.yml, which is not written"
    start = """
In Python 3.8:

    cd models/{name}/{number}
    pip install -r requirements.txt && pip install --no-deps paddle-serving-app==0.9.0
    python web_service.py

and ask it at `http://localhost:18080/{name}/prediction`, with a body of names and of values as JSON text:
`{{"key": ["NAME"], "value": ["[[0.5, 1.0]]"]}}`.
"""

    def layout(self, chosen: Chosen) -> Mapping[str, bytes | Path]:
        files = chosen.files()
        _require_old_format(chosen)
        if not any(name.endswith(".pdiparams") for name in files):
            raise UsageError(
                "the model has no parameters, and Serving wants a file of them", where="paddle_serving", hint=_OTHER
            )
        server, folder = configuration(chosen).encode(), self.version_folder(chosen)
        return {
            **{f"{folder}/serving_server/{name}": path for name, path in files.items()},
            f"{folder}/serving_server/serving_server_conf.prototxt": server,
            f"{folder}/serving_client/serving_client_conf.prototxt": server,
            f"{folder}/config.yml": _pipeline(chosen).encode(),
            f"{folder}/web_service.py": _service(chosen).encode(),
            f"{folder}/requirements.txt": _REQUIREMENTS.encode(),
        }

    def prove(self, folder: Path, chosen: Chosen, limits: Limits) -> Proof:
        del folder, chosen, limits
        return Proof(False, "Paddle Serving 0.9.0 wants Python 3.8 and Paddle 2.6, and is not started here")


_OTHER = "choose another target"


def _require_old_format(chosen: Chosen) -> None:
    """A `.pdmodel` written by Paddle 3 loads in 2.6 only where the spec has asked for that.

    Raises:
        UsageError: it has not.
    """
    oldest = oldest_paddle(chosen.manifest.spec.get("targets", ()))
    if oldest is None or Version(oldest).release[:2] > Version(_PADDLE).release:
        raise UsageError(
            f"Paddle Serving 0.9.0 runs Paddle {_PADDLE}, and this .pdmodel was not written to load there",
            where=str(chosen.bundle.folder),
            hint=f"add `targets: [paddle_inference>={_PADDLE}]` to the spec and release again",
        )


def configuration(chosen: Chosen) -> str:
    """The text of `serving_server_conf.prototxt`: inputs in the order of the spec, outputs in that of the file.

    Raises:
        UsageError: an input or output has a type that Serving does not know.
    """
    variant = chosen.variant
    inputs = list(zip(chosen.manifest.inputs, variant.inputs, strict=True))
    outputs = dict(zip(variant.outputs, chosen.manifest.outputs, strict=True))
    ordered = [(outputs[native], native) for native in variant.native_outputs]
    return "".join([*_variables("feed", inputs), *_variables("fetch", ordered)])


def _variables(side: str, pairs: Sequence[tuple[Tensor, str]]) -> list[str]:
    found = []
    for one, native in pairs:
        if one.dtype not in _TYPES:
            raise UsageError(f"Serving has no type for {one.name} ({one.dtype})", where="paddle_serving", hint=_OTHER)
        # Sizes that vary are left out, as Serving's own converter does.
        sizes = "".join(f"  shape: {size}\n" for size in one.shape if isinstance(size, int) and size >= 0)
        names = f"  name: {json.dumps(native)}\n  alias_name: {json.dumps(native)}\n"
        about = f"  is_lod_tensor: false\n  {side}_type: {_TYPES[one.dtype]}\n"
        found.append(f"{side}_var {{\n{names}{about}{sizes}}}\n")
    return found


def _pipeline(chosen: Chosen) -> str:
    """Serving's config.yml. No graph passes and no oneDNN: so the bundle was proven."""
    fetched = json.dumps(list(chosen.variant.native_outputs))
    return "\n".join(
        [
            "worker_num: 1",
            "rpc_port: 9998",
            "http_port: 18080",
            "dag:",
            "  is_thread_op: false",
            "op:",
            "  model:",
            "    concurrency: 1",
            "    local_service_conf:",
            "      client_type: local_predictor",
            "      model_config: serving_server",
            "      device_type: 0   # the CPU",
            '      devices: ""',
            f"      fetch_list: {fetched}",
            "      ir_optim: false",
            "      use_mkldnn: false",
            "",
        ]
    )


def _service(chosen: Chosen) -> str:
    variant, manifest = chosen.variant, chosen.manifest
    inputs = {native: one.dtype for one, native in zip(manifest.inputs, variant.inputs, strict=True)}
    outputs = {one.name: native for one, native in zip(manifest.outputs, variant.outputs, strict=True)}
    return _SERVICE.format(inputs=json.dumps(inputs), outputs=json.dumps(outputs), name=json.dumps(manifest.name))


plugin: Target = PaddleServing()
