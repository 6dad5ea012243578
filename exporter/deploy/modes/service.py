"""In a child: the HTTP service of `handoff --to http_service` over any engine, asked by clients in another process."""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from exporter.base.registry import Registry
from exporter.deploy.bench.run import percentile
from exporter.deploy.handoff.kinds.http_service import ServiceSettings
from exporter.deploy.modes.result import Asked
from exporter.engines.base import Engine, Session
from exporter.engines.cost import import_all
from exporter.engines.job import EngineRequest
from exporter.process.job import job, to_json
from exporter.process.workers import doing

_ENGINES: Registry[Engine] = Registry("exporter.engines", "engine")
_CLIENT = Path(__file__).with_name("client.py")


@dataclass(frozen=True)
class ServiceRequest(EngineRequest):
    """What the service is and what it is asked.

    `about` is the content of its service.json, `body` what each of the `clients` posts again and again for `seconds`.
    """

    about: ServiceSettings
    body: Mapping[str, Any]
    clients: int
    seconds: float


@dataclass(frozen=True)
class ServiceAnswer:
    """What the clients saw, and the numbers of an answer; or None, and what went wrong (`fault`)."""

    asked: Asked | None
    values: tuple[float, ...] = ()
    fault: str = ""


@dataclass(frozen=True)
class _Output:
    name: str


class _AsOnnxRuntime:
    """An engine's session as the service calls one of ONNX Runtime."""

    def __init__(self, session: Session, outputs: Sequence[str]) -> None:
        self._session, self._outputs = session, outputs

    def get_outputs(self) -> list[_Output]:
        return [_Output(name) for name in self._outputs]

    def run(self, names: Sequence[str], inputs: dict[str, Any]) -> list[Any]:
        values = self._session.run(inputs)
        return [values[name] for name in names]


@job
def ask(request: ServiceRequest) -> ServiceAnswer:
    """Serve, let clients ask for some seconds, and say what they saw; `fault` has an answer that is none."""
    engine, artifact = _ENGINES[request.engine], request.artifact
    import_all(engine.imports)
    doing(f"{request.engine}: loading {artifact.format}", stage="load")
    with engine.open(artifact, request.device) as session:
        doing(f"{request.engine}: serving")
        return asyncio.run(_serve(_AsOnnxRuntime(session, artifact.outputs), request))


async def _serve(session: _AsOnnxRuntime, request: ServiceRequest) -> ServiceAnswer:
    from aiohttp import web

    from exporter.deploy.handoff.http_server import Service, a_logger

    application = Service(to_json(ServiceSettings, request.about), session).application()
    runner = web.AppRunner(application, access_log=None, logger=a_logger(), keepalive_timeout=75)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        return await _asked(runner.addresses[0][1], request)
    finally:
        await runner.cleanup()


async def _asked(port: int, request: ServiceRequest) -> ServiceAnswer:
    """What the clients saw, in a process that has a processor of its own where there are two."""
    body = json.dumps(request.body).encode()
    head = f"POST /v2/models/{request.about.name}/infer HTTP/1.1\r\nHost: compared\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    words = [sys.executable, "-I", str(_CLIENT), str(port), str(request.clients), str(request.seconds)]
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*words, stdin=pipe, stdout=pipe)
    out, _ = await process.communicate(head.encode() + body)
    seen = json.loads(out or b'{"fault": "the clients died", "times": []}')
    if seen["fault"] or not seen["times"]:
        return ServiceAnswer(None, fault=seen["fault"] or "no answer came in time")
    times = seen["times"]
    asked = Asked(len(times) / seen["seconds"], statistics.median(times), percentile(times, 0.99))
    values = tuple(value for output in json.loads(seen["answer"])["outputs"] for value in output["data"])
    return ServiceAnswer(asked, values)
