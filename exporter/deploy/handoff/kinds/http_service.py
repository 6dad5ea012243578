"""A plain HTTP service: the open inference protocol (KServe v2) over ONNX Runtime, in Python, without the exporter.

Why it is neither MLServer's server nor the KServe SDK's: docs/targets.md has what was measured. Both read a body of any
size, and answer 5xx to requests that are wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from exporter import __version__
from exporter.base.files import readable_json, sha256_file
from exporter.deploy.handoff.base import Chosen, Proof, Rows, Target
from exporter.deploy.handoff.protocol import (
    Interface,
    interface,
    interface_source,
    largest,
    requirements,
    server_source,
)
from exporter.process.workers import Limits

#: What one value takes in a body: 25 characters at most, and some room for how it is laid out.
_VALUE, _AROUND = 32, 64 << 10
_MOST_BODY, _LEAST_HELD = 256 << 20, 64 << 20
#: Requests that wait to be computed, and the limits of the body's coming and of draining, in seconds.
_WAITING, _BODY, _DRAIN = 512, 20, 30
NOT_LOOKED = Rows(False, "nobody looked whether a row follows from others")


class HttpService(Target):
    """`serve.py` with its settings, its requirements, a Dockerfile, and the model."""

    formats = ("onnx",)
    joins = "`join` in service.json"
    start = """
    python3.11 -m venv .venv && .venv/bin/pip install -r requirements.txt
    .venv/bin/python serve.py --host 0.0.0.0 --port 8080
    curl -f localhost:8080/v2/models/{name}/ready

Or as an image, which runs without root and without writing:

    docker build -t {name} .
    docker run --rm --read-only --cap-drop ALL --security-opt no-new-privileges -p 8080:8080 {name}

`POST /v2/models/{name}/infer` takes what the table says, as in
`{{"inputs": [{{"name": …, "datatype": "FP32", "shape": […], "data": […]}}]}}`; what the model does not take is 4xx with
the reason. On SIGTERM it stops accepting, answers what is open, and exits with 0.

service.json holds the limits, which may be changed there:

- `body_bytes` of a request, `held_bytes` of all that are being received (beyond it: 503), `body_s` seconds for a body;
- `waiting`: how many requests wait at most (more are 503); `join`: how many of their rows are computed in one run,
  where each row was shown to be independent of the others (`null`: each request is computed alone; `rows` says why, or
  what was run); `threads`: 0 is one for each processor; `drain_s` seconds for draining;
- `range` of an input of whole numbers: those that the bundle was proven for, the last one not among them.
"""

    def layout(self, chosen: Chosen) -> Mapping[str, bytes | Path]:
        return {
            **chosen.files("model/"),
            "service.json": readable_json(asdict(settings(chosen, chosen.program))),
            "serve.py": server_source("http_server.py"),
            "interface.py": interface_source(),
            "requirements.txt": requirements("http_requirements.txt", chosen.manifest),
            "Dockerfile": Path(__file__).parents[1].joinpath("http.Dockerfile").read_bytes(),
        }

    def prove(self, folder: Path, chosen: Chosen, limits: Limits) -> Proof:
        del folder, chosen, limits
        return Proof(False, "the service wants an environment of its own, and is not started here")


@dataclass(frozen=True)
class ServiceLimits:
    """Bytes of one body and of all that come in at once, requests that wait, seconds for a body and for draining."""

    body_bytes: int
    held_bytes: int
    waiting: int
    body_s: int
    drain_s: int


@dataclass(frozen=True)
class Join:
    """Requests are joined along a dim, to so many rows at most."""

    dim: str
    most: int


@dataclass(frozen=True)
class ServiceSettings(Interface):
    """The content of service.json: the interface, which model it is of, and how it is served."""

    name: str
    version: str
    exporter: str
    sha256: str
    join: Join | None
    rows: Rows
    limits: ServiceLimits
    threads: int


def settings(chosen: Chosen, model: Path) -> ServiceSettings:
    """Return the settings for a variant of a bundle, whose file is `model`."""
    manifest, about = chosen.manifest, interface(chosen, "http_service")
    rows = chosen.rows or NOT_LOOKED
    body = min(_AROUND + _VALUE * sum(largest(tensor.shape, manifest) for tensor in manifest.inputs), _MOST_BODY)
    return ServiceSettings(
        **vars(about),
        name=manifest.name,
        version=manifest.version,
        exporter=__version__,
        sha256=sha256_file(model),
        join=Join(rows.dim, rows.most) if rows.independent else None,
        rows=rows,
        limits=ServiceLimits(body, max(2 * body, _LEAST_HELD), _WAITING, _BODY, _DRAIN),
        threads=0,
    )


plugin: Target = HttpService()
