"""Clients of the service, as a program: each sends one request over one connection, again when the answer is there.

    python _client.py PORT CLIENTS SECONDS <request >what_was_seen.json

The first third of a second is not counted. `fault` is the first answer that is not 200.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time

_WARM = 0.3


class _Seen:
    """What all clients have seen."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self.fault = ""
        self.answer = ""


async def _client(port: int, request: bytes, begin: float, end: float, seen: _Seen) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while (sent := time.perf_counter()) < end and not seen.fault:
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        body = await reader.readexactly(length)
        if head[9:12] != b"200":
            seen.fault = body.decode(errors="replace")[:300]
        elif sent >= begin:
            seen.times.append(time.perf_counter() - sent)
        seen.answer = seen.answer or body.decode(errors="replace")
    writer.close()


async def _ask(port: int, clients: int, seconds: float, request: bytes) -> dict[str, object]:
    seen, begin = _Seen(), time.perf_counter() + _WARM
    await asyncio.gather(*(_client(port, request, begin, begin + seconds, seen) for _ in range(clients)))
    took = time.perf_counter() - begin
    return {"times": seen.times, "seconds": took, "fault": seen.fault, "answer": seen.answer}


if __name__ == "__main__":
    port, clients, seconds = sys.argv[1:]
    told = asyncio.run(_ask(int(port), int(clients), float(seconds), sys.stdin.buffer.read()))
    sys.stdout.write(json.dumps(told))
