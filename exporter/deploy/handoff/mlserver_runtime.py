"""The model, served by MLServer with ONNX Runtime; inputs and outputs have the names in the file."""

from __future__ import annotations

import asyncio
import os
from typing import Any

# The wheels of ONNX Runtime from 1.29 on tell their maker, over the network, which models are loaded.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

import onnxruntime  # noqa: TID253 - a program of its own, in the folder that is handed over
from mlserver import MLModel
from mlserver.codecs import NumpyCodec
from mlserver.errors import InferenceError
from mlserver.types import Datatype, InferenceRequest, InferenceResponse
from mlserver.utils import get_model_uri
from onnxruntime.capi import onnxruntime_pybind11_state as ort  # noqa: TID253 - as above

from exporter.deploy.handoff.interface import Interface, Refused


class OnnxModel(MLModel):  # type: ignore[misc] # mlserver is not installed where mypy runs
    """The model; a request that it does not take is 400, with the reason."""

    async def load(self) -> bool:
        """Load the file that model-settings.json names, with the interface that stands in its `extra`."""
        self._interface = Interface(self._settings.parameters.extra)
        uri = await get_model_uri(self._settings)
        self._session = onnxruntime.InferenceSession(uri, providers=["CPUExecutionProvider"])
        return True

    async def predict(self, payload: InferenceRequest) -> InferenceResponse:
        """Compute all outputs."""
        given = [
            {
                "name": one.name,
                "datatype": Datatype(one.datatype).value,
                "shape": list(one.shape),
                "data": one.data.root,
            }
            for one in payload.inputs
        ]
        names = [one.name for one in self._session.get_outputs()]
        try:
            arrays = self._interface.arrays(given)
            values = await asyncio.get_running_loop().run_in_executor(None, self._session.run, names, arrays)
        except (Refused, ort.Fail, ort.InvalidArgument, ort.RuntimeException) as error:
            raise InferenceError(str(error)) from error
        outputs: list[Any] = [NumpyCodec.encode_output(*pair) for pair in zip(names, values, strict=True)]
        return InferenceResponse(model_name=self.name, model_version=self.version, outputs=outputs)
