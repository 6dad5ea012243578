"""HTTP as a client of few lines, so that a test says every byte that it sends."""

from __future__ import annotations

import asyncio
import http.client
import json
from dataclasses import dataclass
from typing import Any

#: Seconds until an answer has to be there; without one a request is lost.
PATIENCE = 30.0


@dataclass(frozen=True)
class Answer:
    """What came: the status, the headers by their names in small letters, the body."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def closes(self) -> bool:
        """Whether the server sends nothing more on this connection."""
        return self.headers.get("connection", "").lower() == "close"

    def json(self) -> Any:
        """The body as JSON; None if it is none."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None


def get(port: int, path: str) -> int:
    """The status of a GET; 0 where nothing answers."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    except OSError:
        return 0
    finally:
        connection.close()


def post(path: str, body: bytes, **headers: str) -> bytes:
    """The bytes of a request; a header that is given replaces ours, an empty one leaves it out."""
    named = {"Host": "test", "Content-Type": "application/json", "Content-Length": str(len(body))}
    named.update({name.replace("_", "-"): value for name, value in headers.items()})
    lines = [f"{name}: {value}\r\n" for name, value in named.items() if value]
    return f"POST {path} HTTP/1.1\r\n{''.join(lines)}\r\n".encode() + body


class Connection:
    """One connection, on which requests follow each other."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    @classmethod
    async def to(cls, port: int) -> Connection:
        """Connect; raises OSError where nobody listens."""
        return cls(*await asyncio.open_connection("127.0.0.1", port))

    async def send(self, raw: bytes) -> None:
        """Write; a server that refuses early may have closed already, and its answer is read all the same."""
        try:
            self._writer.write(raw)
            await self._writer.drain()
        except ConnectionError:
            pass

    async def answer(self) -> Answer:
        """Read one answer; raises OSError, EOFError or TimeoutError where none comes."""
        return await asyncio.wait_for(self._read(), PATIENCE)

    async def ask(self, raw: bytes) -> Answer:
        """Send, and read the answer."""
        await self.send(raw)
        return await self.answer()

    async def _read(self) -> Answer:
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        body = await self._reader.readexactly(int(headers.get("content-length", "0")))
        return Answer(int(head[0].split()[1]), headers, body)

    def close(self) -> None:
        """Close."""
        self._writer.close()


async def once(port: int, raw: bytes) -> Answer:
    """One request on a connection of its own."""
    connection = await Connection.to(port)
    try:
        return await connection.ask(raw)
    finally:
        connection.close()
