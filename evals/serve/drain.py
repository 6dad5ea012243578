"""SIGTERM while requests are in flight: all of them are answered, new connections are refused, it exits with 0."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from evals.serve.client import Answer, Connection, post
from evals.serve.goldens import Goldens
from evals.serve.service import Service

#: Seconds after which a server that drains may no longer accept.
_REFUSES = 2.0


@dataclass
class Drain:
    """What became of the requests: `half` had sent half of their body, `whole` all of it, `asking` went on asking."""

    half: int = 0
    whole: int = 0
    asking: int = 0
    wrong: int = 0
    lost: int = 0
    refused: bool = False
    code: int | None = None
    seconds: float = 0.0
    faults: list[str] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Whether it drained."""
        return not self.wrong and not self.lost and self.refused and self.code == 0 and self.half * self.whole > 0

    def told(self) -> dict[str, Any]:
        """The figures."""
        return {**vars(self), "faults": self.faults[:5], "seconds": round(self.seconds, 2)}


def run(service: Service, goldens: Goldens, clients: int, terminate: Callable[[], object] | None = None) -> Drain:
    """Stop the service amid so many clients of each kind; `terminate` signals, where another process serves."""
    return asyncio.run(_run(service, goldens, clients, terminate or service.process.terminate))


async def _run(service: Service, goldens: Goldens, clients: int, terminate: Callable[[], object]) -> Drain:
    drain, stopped = Drain(), asyncio.Event()
    tasks = [asyncio.create_task(_asks(number, service.port, goldens, stopped, drain)) for number in range(clients)]
    halves = [await Connection.to(service.port) for _ in range(clients)]
    wholes = [await Connection.to(service.port) for _ in range(clients)]
    raw = [post(goldens.path, goldens.body(n % len(goldens.cases), f"in flight {n}")) for n in range(clients)]
    for connection, text in zip(halves, raw, strict=True):
        await connection.send(text[: -len(text) // 3])
    await asyncio.sleep(0.5)
    await asyncio.gather(*(connection.send(text) for connection, text in zip(wholes, raw, strict=True)))
    began = time.monotonic()
    terminate()
    await asyncio.gather(*(_expect(n, one, goldens, drain) for n, one in enumerate(wholes)))
    drain.whole = clients
    while time.monotonic() < began + _REFUSES and not drain.refused:
        drain.refused = not await _accepts(service.port)
    for connection, text in zip(halves, raw, strict=True):
        await connection.send(text[-len(text) // 3 :])
    await asyncio.gather(*(_expect(n, one, goldens, drain) for n, one in enumerate(halves)))
    drain.half = clients
    stopped.set()
    await asyncio.gather(*tasks)
    drain.code = await asyncio.to_thread(service.process.wait, 60)
    drain.seconds = time.monotonic() - began
    return drain


async def _accepts(port: int) -> bool:
    try:
        (await Connection.to(port)).close()
    except OSError:
        return False
    await asyncio.sleep(0.05)
    return True


async def _expect(number: int, connection: Connection, goldens: Goldens, drain: Drain) -> None:
    try:
        answer = await connection.answer()
    except (OSError, EOFError, asyncio.TimeoutError) as error:
        drain.lost += 1
        drain.faults.append(f"in flight {number}: {type(error).__name__}")
        return
    finally:
        connection.close()
    _count(number, f"in flight {number}", answer, goldens, drain)


def _count(number: int, identity: str, answer: Answer, goldens: Goldens, drain: Drain) -> None:
    fault = f"{answer.status}: {answer.body[:200]!r}" if answer.status != 200 else ""
    fault = fault or goldens.wrong(number % len(goldens.cases), identity, answer.json())
    drain.wrong += bool(fault)
    drain.faults += [f"{identity}: {fault}"] if fault else []


async def _asks(number: int, port: int, goldens: Goldens, stopped: asyncio.Event, drain: Drain) -> None:
    """Ask until the server says that it closes the connection; what was sent before that is in flight."""
    connection, count = await Connection.to(port), 0
    while not stopped.is_set():
        identity, count = f"asking {number}/{count}", count + 1
        try:
            answer = await connection.ask(post(goldens.path, goldens.body(number % len(goldens.cases), identity)))
        except (OSError, EOFError, asyncio.TimeoutError) as error:
            drain.lost += 1
            drain.faults.append(f"{identity}: {type(error).__name__}")
            break
        drain.asking += 1
        _count(number, identity, answer, goldens, drain)
        if answer.closes:
            break
    connection.close()
