#!/usr/bin/env python3
"""Serve this model by HTTP: the open inference protocol (KServe v2) over ONNX Runtime, on the CPU.

    python serve.py [--host 127.0.0.1] [--port 8080]        port 0: any free one; the line on stderr says which

service.json holds the model's interface and the limits. What it refuses is 4xx with the reason as `{"error": …}`.
It needs Python 3.10 and requirements.txt. SIGTERM: connections are no longer accepted, every request on those that are
open is answered, then it exits 0. Exit codes: 0 stopped by a signal, 2 the address cannot be had, 3 a package is not
installed, 5 the model is not the file that was handed over.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import logging
import os
import signal
import sys
from collections import deque
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# The wheels of ONNX Runtime from 1.29 on tell their maker, over the network, which models are loaded.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
try:
    import numpy as np
    import onnxruntime
    from aiohttp import web
    from aiohttp.http_exceptions import HttpProcessingError
    from onnxruntime.capi import onnxruntime_pybind11_state as ort

    from exporter.deploy.handoff.interface import Asked, Interface, Refused, quoted
except ImportError as error:
    sys.stderr.write(f"{error}; pip install -r requirements.txt\n")
    sys.exit(3)

HERE = Path(__file__).resolve().parent
#: Requests up to so many bytes, and answers up to so many values, are converted on the event loop; others beside it.
SMALL, FEW = 32 << 10, 4096
#: What a session raises where it cannot compute with values of the right names, types and shapes.
RAISED = (ort.EPFail, ort.Fail, ort.InvalidArgument, ort.NotImplemented, ort.RuntimeException)


# ---- computing ----
@dataclass(frozen=True)
class Job:
    """A request that waits: its arrays, its rows along the batch (0: not to be joined), and its answer."""

    inputs: dict[str, Any]
    rows: int
    answer: asyncio.Future[dict[str, Any]]

    def joins(self, other: Job) -> bool:
        """Whether the two differ in their number of rows alone."""
        return all(array.shape[1:] == other.inputs[name].shape[1:] for name, array in self.inputs.items())


class Runner:
    """Computes one run after the other; requests that wait meanwhile are joined into one where the model allows it."""

    def __init__(self, session: Any, about: dict[str, Any]) -> None:
        self.session = session
        self.most_rows: int = about["join"]["most"] if about["join"] else 0
        self.most_waiting: int = about["limits"]["waiting"]
        self.waiting: deque[Job] = deque()
        self.names = [output.name for output in session.get_outputs()]
        self.thread = ThreadPoolExecutor(1)
        self.running: asyncio.Task[None] | None = None

    async def compute(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """All outputs by name."""
        if len(self.waiting) >= self.most_waiting:
            raise Refused(503, "too many requests wait")
        rows = next(iter(inputs.values())).shape[0] if self.most_rows else 0
        job = Job(inputs, rows, asyncio.get_running_loop().create_future())
        self.waiting.append(job)
        if self.running is None or self.running.done():
            self.running = asyncio.create_task(self._work())
        return await job.answer

    async def _work(self) -> None:
        while self.waiting:
            jobs = [self.waiting.popleft()]
            rows = jobs[0].rows
            while rows and self.waiting and rows + self.waiting[0].rows <= self.most_rows:
                if not jobs[0].joins(self.waiting[0]):
                    break
                rows += self.waiting[0].rows
                jobs.append(self.waiting.popleft())
            answers = await asyncio.get_running_loop().run_in_executor(self.thread, self._run, jobs)
            for job, answer in zip(jobs, answers, strict=True):
                if job.answer.done():
                    continue
                if isinstance(answer, Exception):
                    job.answer.set_exception(answer)
                else:
                    job.answer.set_result(answer)

    def _run(self, jobs: list[Job]) -> list[dict[str, Any] | Exception]:
        """In the thread: the answer of each job; where a joined run fails, each is computed alone."""
        if len(jobs) > 1:
            try:
                inputs = {name: np.concatenate([job.inputs[name] for job in jobs]) for name in jobs[0].inputs}
                values = self.session.run(self.names, inputs)
            except RAISED:
                values = []
            stops = np.cumsum([job.rows for job in jobs])
            if values and all(value.ndim and value.shape[0] == stops[-1] for value in values):
                parts = [np.split(value, stops[:-1]) for value in values]
                return [{name: part[i] for name, part in zip(self.names, parts, strict=True)} for i in range(len(jobs))]
        return [self._alone(job) for job in jobs]

    def _alone(self, job: Job) -> dict[str, Any] | Exception:
        try:
            return dict(zip(self.names, self.session.run(self.names, job.inputs), strict=True))
        except RAISED as error:
            return Refused(
                422, f"the model cannot compute with these values: {str(error).strip().splitlines()[0][:300]}"
            )


# ---- HTTP ----
Handler = Callable[["web.Request"], Awaitable["web.StreamResponse"]]


class Service:
    """The routes of the protocol, and what is counted while they work."""

    def __init__(self, about: dict[str, Any], session: Any) -> None:
        self.about, self.limits = about, about["limits"]
        self.interface, self.runner = Interface(about), Runner(session, about)
        self.beside = ThreadPoolExecutor(1)  # one at a time: what a body becomes in memory is several times its bytes
        self.types = {tensor["name"]: tensor["datatype"] for tensor in about["outputs"]}
        self.active, self.held, self.draining = 0, 0, False

    def application(self) -> web.Application:
        """The routes; whatever is refused, and what nobody serves, is JSON with the reason."""

        async def answer(request: web.Request, handler: Handler) -> web.StreamResponse:
            return await self._answer(request, handler)

        app = web.Application(middlewares=[web.middleware(answer)])
        model = "/v2/models/{model}"
        for place in (model, model + "/versions/{version}"):
            app.router.add_get(place, self.model)
            app.router.add_get(place + "/ready", self.ready)
            app.router.add_post(place + "/infer", self.infer)
        app.router.add_get("/v2", self.server)
        app.router.add_get("/v2/health/live", self.live)
        app.router.add_get("/v2/health/ready", self.ready)
        return app

    async def _answer(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        self.active += 1
        try:
            self._known(request)
            response = await handler(request)
        except Refused as refused:
            response = web.json_response({"error": str(refused)}, status=refused.status)
        except web.HTTPException as missing:
            response = web.json_response({"error": f"{request.method} {request.path[:200]}: {missing.reason}"})
            response.set_status(missing.status)
            response.headers.update({k: v for k, v in missing.headers.items() if k == "Allow"})
        finally:
            self.active -= 1
        if response.status == 503:
            response.headers["Retry-After"] = "1"
        if self.draining:
            response.force_close()
        return response

    def _known(self, request: web.Request) -> None:
        name, version = request.match_info.get("model"), request.match_info.get("version")
        if name not in (None, self.about["name"]):
            raise Refused(404, f"no model {quoted(name)}; this is {self.about['name']}")
        if version not in (None, self.about["version"]):
            raise Refused(404, f"no version {quoted(version)}; this is {self.about['version']}")

    async def live(self, request: web.Request) -> web.StreamResponse:
        """The process answers."""
        del request
        return web.json_response({"live": True})

    async def ready(self, request: web.Request) -> web.StreamResponse:
        """The model is loaded, and no signal has come."""
        del request
        return web.json_response({"ready": not self.draining}, status=503 if self.draining else 200)

    async def server(self, request: web.Request) -> web.StreamResponse:
        """Metadata of the server."""
        del request
        return web.json_response({"name": "exporter", "version": self.about["exporter"], "extensions": []})

    async def model(self, request: web.Request) -> web.StreamResponse:
        """Metadata of the model: -1 is a size that varies."""
        del request
        tensors = {side: [_metadata(tensor) for tensor in self.about[side]] for side in ("inputs", "outputs")}
        facts = {"name": self.about["name"], "versions": [self.about["version"]], "platform": "onnxruntime_onnx"}
        return web.json_response({**facts, **tensors})

    async def infer(self, request: web.Request) -> web.StreamResponse:
        """One inference."""
        if "Inference-Header-Content-Length" in request.headers:
            raise Refused(415, "the binary tensor extension is not served; send JSON")
        if request.headers.get("Content-Encoding", "identity").lower() != "identity":
            raise Refused(415, "the body is encoded; send it as it is")
        loop, body = asyncio.get_running_loop(), bytearray()
        try:
            await asyncio.wait_for(self._receive(request, body), self.limits["body_s"])
            if len(body) > SMALL:
                asked = await loop.run_in_executor(self.beside, self.interface.read, bytes(body))
            else:
                asked = self.interface.read(bytes(body))
            values = await self.runner.compute(asked.arrays)
        except asyncio.TimeoutError:
            raise Refused(408, f"the body did not come within {self.limits['body_s']} s") from None
        finally:
            self.held -= len(body)
        if sum(values[name].size for name in asked.outputs) > FEW:
            text = await loop.run_in_executor(self.beside, self._text, asked, values)
        else:
            text = self._text(asked, values)
        return web.Response(body=text, content_type="application/json")

    async def _receive(self, request: web.Request, body: bytearray) -> None:
        """Read the body piece by piece: never more than the limit, nor more than all requests together may hold."""
        most, length = self.limits["body_bytes"], request.content_length or 0
        while True:
            if max(length, len(body)) > most:
                raise Refused(413, f"the body is larger than {most} bytes, which no valid request is")
            if self.held + max(length - len(body), 0) > self.limits["held_bytes"]:
                raise Refused(503, "too many requests are being received")
            piece = await request.content.readany()
            if not piece:
                return
            body += piece
            self.held += len(piece)

    def _text(self, asked: Asked, values: dict[str, Any]) -> bytes:
        outputs = [
            {
                "name": name,
                "datatype": self.types[name],
                "shape": list(values[name].shape),
                "data": values[name].ravel().tolist(),
            }
            for name in asked.outputs
        ]
        head = {"model_name": self.about["name"], "model_version": self.about["version"]}
        number = {} if asked.id is None else {"id": asked.id}
        try:
            return json.dumps({**head, **number, "outputs": outputs}, allow_nan=False).encode()
        except ValueError:
            raise Refused(422, "the model gave NaN or infinity, which JSON cannot carry") from None


def _metadata(tensor: dict[str, Any]) -> dict[str, Any]:
    shape = [size if isinstance(size, int) else -1 for size in tensor["shape"]]
    return {"name": tensor["name"], "datatype": tensor["datatype"], "shape": shape}


def loaded(about: dict[str, Any]) -> Any:
    """The session; memory is not planned for each shape anew, which would grow with every shape that comes."""
    path = HERE / "model" / "model.onnx"
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while piece := stream.read(1 << 20):
            digest.update(piece)
    if digest.hexdigest() != about["sha256"]:
        sys.stderr.write(f"{path} is not the file that was handed over\n")
        sys.exit(5)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = about["threads"] or len(os.sched_getaffinity(0))
    options.enable_mem_pattern = not about["dims"]
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def a_logger() -> logging.Logger:
    """Where faults of ours are written; what is no HTTP is told to whoever sent it, and not here."""
    logger = logging.getLogger("serve")
    logger.addFilter(lambda record: not (record.exc_info and isinstance(record.exc_info[1], HttpProcessingError)))
    return logger


async def serve(about: dict[str, Any], host: str, port: int) -> int:
    """Serve until a signal comes, then drain."""
    service, loop, stop = Service(about, loaded(about)), asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    # Times in seconds. A proxy before us keeps its connections for 60 as a rule; ours have to be kept longer.
    options = {"access_log": None, "logger": a_logger(), "keepalive_timeout": 75, "auto_decompress": False}
    runner = web.AppRunner(service.application(), **options)
    await runner.setup()
    site = web.TCPSite(runner, host, port, backlog=1024)
    try:
        await site.start()
    except OSError as error:
        sys.stderr.write(f"cannot listen on {host}:{port}: {error.strerror}\n")
        return 2
    sys.stderr.write(f"{about['name']} {about['version']} on http://{host}:{runner.addresses[0][1]}\n")
    await stop.wait()
    service.draining = True
    await asyncio.sleep(0.05)  # what the system has accepted already is ours to answer
    await site.stop()
    end, quiet = loop.time() + about["limits"]["drain_s"], 0
    while loop.time() < end and quiet < 10:  # ten times nothing: what was on its way has come
        quiet = 0 if service.active else quiet + 1
        await asyncio.sleep(0.02)
    await runner.cleanup()
    sys.stderr.write(f"stopped; {service.active} requests were cut off\n")
    return 0


def main() -> int:
    """Read the command line and service.json, then serve."""
    parser = argparse.ArgumentParser(description="Serve this model by HTTP (open inference protocol).")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", default=8080, type=int)
    asked = parser.parse_args()
    about = json.loads((HERE / "service.json").read_text(encoding="utf-8"))
    return asyncio.run(serve(about, asked.host, asked.port))


if __name__ == "__main__":
    sys.exit(main())
