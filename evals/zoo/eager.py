"""Whether a network runs in eager mode at all: what does not is no export's to keep."""

from __future__ import annotations

from typing import Any

import numpy as np

from evals.zoo.calibrated import drawn
from evals.zoo.exported import source_of
from evals.zoo.models import found
from evals.zoo.network import Network
from exporter.base.errors import ExporterError
from exporter.export.trace.layer import load_layer
from exporter.process.job import job
from exporter.process.workers import PADDLE, SINGLE_THREAD, Setting, call
from exporter.spec.model import Spec


def eager_failure(network: Network, spec: Spec, setting: Setting) -> dict[str, str]:
    """`{"eager": why}` for a row of a network that eager mode cannot run; empty where it runs."""
    request = {**source_of(spec), "network": network.key}
    try:
        call(run, request, setting.limits, environment=SINGLE_THREAD, imports=PADDLE)
    except ExporterError as error:
        return {"eager": " ".join(error.what.split())[:300]}
    return {}


@job
def run(request: dict[str, Any]) -> dict[str, Any]:
    """In a child: run the layer once at the typical sizes."""
    import paddle

    layer = load_layer(request["model"], request["checkpoint"], request["seed"])
    network = found(request["network"])
    draw = np.random.default_rng(7)
    sizes = {name: dim["typical"] for name, dim in network.dims.items()}
    with paddle.no_grad():
        layer(*(paddle.to_tensor(drawn(network, index, draw, sizes)) for index in range(len(network.inputs))))
    return {}
