"""Requests that are wrong, each in one way: every one has to be 4xx with the reason, and the service goes on."""

from __future__ import annotations

import asyncio
import copy
import gzip
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from evals.serve.client import Answer, once, post
from evals.serve.goldens import Goldens
from evals.serve.service import Service

Edit = Callable[[dict[str, Any]], object]


@dataclass
class Malformed:
    """What became of the wrong requests: the statuses by name, and what should not have been."""

    answers: dict[str, int] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    noise: dict[int, int] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Whether each was refused with a reason."""
        return bool(self.answers) and not self.faults

    def told(self) -> dict[str, Any]:
        """The figures."""
        statuses = sorted(set(self.answers.values()))
        counts = {str(status): sum(status == one for one in self.answers.values()) for status in statuses}
        return {"sent": len(self.answers), "statuses": counts, "noise": self.noise, "faults": self.faults}


def edits(first: dict[str, Any]) -> dict[str, Edit]:
    """Changes of a valid request; `first` is its first input."""
    shape, data, kind = first["shape"], first["data"], first["datatype"]
    elsewhere = "FP32" if kind != "FP32" else "INT64"

    def set_(key: str, value: Any) -> Edit:
        return lambda request: request["inputs"][0].update({key: value})

    def value(new: Any) -> Edit:
        return set_("data", [new, *data[1:]])

    return {
        "no inputs": lambda request: request.pop("inputs"),
        "inputs are an object": lambda request: request.update(inputs={"a": 1}),
        "inputs of texts": lambda request: request.update(inputs=["a"]),
        "missing input": lambda request: request["inputs"].pop(),
        "unknown input": set_("name", "no such input"),
        "unknown input besides": lambda request: request["inputs"].append({**first, "name": "more"}),
        "input twice": lambda request: request["inputs"].append(copy.deepcopy(first)),
        "name is a list": set_("name", [1]),
        "no name": lambda request: request["inputs"][0].pop("name"),
        "wrong datatype": set_("datatype", elsewhere),
        "unknown datatype": set_("datatype", "FLOAT"),
        "datatype is a number": set_("datatype", 1),
        "no datatype": lambda request: request["inputs"][0].pop("datatype"),
        "one rank more": set_("shape", [*shape, 1]),
        "rank 64": set_("shape", [1] * 64),
        "no shape": lambda request: request["inputs"][0].pop("shape"),
        "shape is a text": set_("shape", "1,2"),
        "negative size": set_("shape", [-1, *shape[1:]]),
        "all sizes negative": set_("shape", [-size for size in shape]),
        "size is true": set_("shape", [True, *shape[1:]]),
        "size is a fraction": set_("shape", [float(shape[0]), *shape[1:]]),
        "size is text": set_("shape", [str(shape[0]), *shape[1:]]),
        "size 0": set_("shape", [0, *shape[1:]]),
        "huge size": set_("shape", [10**12, *shape[1:]]),
        "size beyond 64 bits": set_("shape", [10**30, *shape[1:]]),
        "all sizes huge": set_("shape", [2**31] * len(shape)),
        "product overflows to 0": set_("shape", [2**32] * len(shape)),
        "one value too few": set_("data", data[:-1]),
        "one value too many": set_("data", [*data, data[0]]),
        "no values": set_("data", []),
        "no data": lambda request: request["inputs"][0].pop("data"),
        "data is text": set_("data", "1 2 3"),
        "data is an object": set_("data", {"0": 1}),
        "a value is text": value("NaN"),
        "a value is null": value(None),
        "a value is true": value(True if kind != "BOOL" else 1),
        "a value is a list": value([1]),
        "a later value is a list": set_("data", [*data[:-1], [1]]),
        "a value is an object": value({}),
        "a value does not fit": value(10**400 if kind.startswith("FP") else 0.5),
        "nested ragged": set_("data", [data[:1], data[1:] or [1, 2]]),
        "nested too deep": set_("data", [[[[[[data]]]]]]),
        "parameters are a number": set_("parameters", 5),
        "binary extension of an input": set_("parameters", {"binary_data_size": 4}),
        "outputs are text": lambda request: request.update(outputs="all"),
        "unknown output": lambda request: request.update(outputs=[{"name": "no such output"}]),
        "id is a number": lambda request: request.update(id=7),
    }


def bodies(valid: bytes, path: str) -> Iterator[tuple[str, bytes]]:
    """Requests whose bytes are wrong, or that are sent in a way that is."""
    yield from (
        (f"body: {name}", post(path, raw))
        for name, raw in {
            "empty": b"",
            "cut off": valid[:-5],
            "two values": valid + valid,
            "a list": b"[" + valid + b"]",
            "null": b"null",
            "text": b'"inputs"',
            "not UTF-8": valid.replace(b"inputs", b"inp\xffts"),
            "UTF-16": valid.decode().encode("utf-16"),
            "NUL": valid + b"\0",
            "deep list": b"[" * 20_000,
            "deep object": b'{"a":' * 10_000,
            "deep data": b'{"inputs":' + b"[" * 20_000 + b"]" * 20_000 + b"}",
            "number of 10,000 digits": b'{"inputs":' + b"9" * 10_000 + b"}",
            "comment": b"/* */" + valid,
            "form": b"inputs=1",
        }.items()
    )
    name = json.loads(valid)["inputs"][0]["name"].encode()
    yield "key twice", post(path, valid.replace(b'"name": "' + name + b'"', b'"name": "x", "name": "' + name + b'"', 1))
    for word in (b"NaN", b"Infinity", b"-Infinity"):
        start = valid.index(b'"data": [') + len(b'"data": [')
        raw = valid[:start] + word + valid[valid.index(b",", start) if b"," in valid[start:] else -3 :]
        yield f"a value is {word.decode()}", post(path, raw)
    yield "too large", post(path, b" " * (80 << 20) + valid)
    chunk = b"100000\r\n" + b" " * (1 << 20) + b"\r\n"
    chunks = post(path, b"", Content_Length="", Transfer_Encoding="chunked") + chunk * 80 + b"0\r\n\r\n"
    yield "too large in chunks", chunks
    yield "length that never comes", post(path, valid[:10], Content_Length="99999999999")
    yield "binary extension", post(path, valid + b"\0" * 8, Inference_Header_Content_Length=str(len(valid)))
    yield "gzip", post(path, gzip.compress(valid), Content_Encoding="gzip")
    yield "unknown model", post(path.replace("/models/", "/models/no-such-"), valid)
    yield "unknown version", post(path.replace("/infer", "/versions/99/infer"), valid)
    yield "model leads elsewhere", post("/v2/models/..%2f..%2fetc/infer", valid)
    yield "unknown path", post("/v3/nothing", valid)
    yield "wrong method", post(path, b"").replace(b"POST", b"GET", 1)
    yield "unknown method", post(path, valid).replace(b"POST", b"BREW", 1)
    yield "no HTTP", b"\x16\x03\x01 hello\r\n\r\n"
    yield "length is no number", post(path, valid, Content_Length="many")
    yield "length is negative", post(path, valid, Content_Length="-1")
    yield "length and chunks", post(path, valid, Transfer_Encoding="chunked")
    yield "header of 100 KB", post(path, valid, X_Long="a" * 100_000)


def requests(goldens: Goldens) -> Iterator[tuple[str, bytes]]:
    """Every wrong request by its name."""
    valid = goldens.request(0)
    for name, edit in edits(valid["inputs"][0]).items():
        changed = copy.deepcopy(valid)
        edit(changed)
        yield name, post(goldens.path, json.dumps(changed).encode())
    yield from bodies(json.dumps(valid).encode(), goldens.path)


def run(service: Service, goldens: Goldens, noise: int = 300, seed: int = 0) -> Malformed:
    """Send them all, and `noise` requests with a few bytes changed at random, which are not answered with 5xx."""
    return asyncio.run(_run(service, goldens, noise, seed))


async def _run(service: Service, goldens: Goldens, noise: int, seed: int) -> Malformed:
    result = Malformed()
    for name, raw in requests(goldens):
        answer = await _answer(service.port, raw)
        result.answers[name] = answer.status
        if fault := _fault(answer):
            result.faults.append(f"{name}: {fault}")
    chance, valid = random.Random(seed), goldens.body(0, "noise")
    for _ in range(noise):
        raw = bytearray(valid)
        for _ in range(chance.randint(1, 4)):
            raw[chance.randrange(len(raw))] = chance.randrange(256)
        answer = await _answer(service.port, post(goldens.path, bytes(raw)))
        result.noise[answer.status] = result.noise.get(answer.status, 0) + 1
        if not 200 <= answer.status < 500:
            result.faults.append(f"noise {bytes(raw)!r}: {answer.status}")
    answer = await _answer(service.port, post(goldens.path, goldens.body(0, "after all")))
    if answer.status != 200 or goldens.wrong(0, "after all", answer.json()):
        result.faults.append(f"a valid request after all of them: {answer.status} {answer.body[:200]!r}")
    if "Traceback" in service.log.read_text(errors="replace"):
        result.faults.append("the server's log holds a traceback")
    return result


async def _answer(port: int, raw: bytes) -> Answer:
    try:
        return await once(port, raw)
    except (OSError, EOFError, asyncio.TimeoutError) as error:
        return Answer(0, {}, repr(error).encode())


def _fault(answer: Answer) -> str:
    """A refusal is 4xx, and says why: as JSON, where it got as far as the service; else as text.

    The protocol calls it `error`; FastAPI, which MLServer and KServe's SDK are made of, says `detail`.
    """
    content = answer.json()
    reason: Any = answer.body.decode(errors="replace")
    if isinstance(content, dict):
        reason = content.get("error") or json.dumps(content.get("detail") or "")
    if not 400 <= answer.status < 500:
        return f"status {answer.status}: {answer.body[:200]!r}"
    if reason in ("", '""') or not isinstance(reason, str):
        return f"{answer.status} without a reason: {answer.body[:200]!r}"
    return "a traceback" if "Traceback" in reason else ""
