"""Clients that ask without a pause: every answer has to be the golden's, none may be lost, and memory stays flat."""

from __future__ import annotations

import asyncio
import statistics
import time
from dataclasses import dataclass, field
from typing import Any

from evals.serve.client import Connection, post
from evals.serve.goldens import Goldens
from evals.serve.service import Service

#: What the memory of a server may grow by between the third and the last quarter of a run, in bytes.
GROWTH = 2 << 20
_EVERY = 0.25


@dataclass
class Load:
    """What a run has shown. `faults` are the first answers that are wrong or lost, in words."""

    sent: int = 0
    right: int = 0
    wrong: int = 0
    lost: int = 0
    seconds: float = 0.0
    times: list[float] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    @property
    def growth(self) -> int:
        """How much more memory the last quarter took than the third, by their medians."""
        quarter = len(self.memory) // 4
        last, third = self.memory[-quarter:], self.memory[-2 * quarter : -quarter]
        return int(statistics.median(last) - statistics.median(third)) if quarter else 0

    def told(self) -> dict[str, Any]:
        """The figures."""
        ordered = sorted(self.times) or [0.0]
        return {
            "sent": self.sent,
            "right": self.right,
            "wrong": self.wrong,
            "lost": self.lost,
            "answers_a_second": round(self.right / self.seconds),
            "ms_p50": round(1e3 * ordered[len(ordered) // 2], 1),
            "ms_p99": round(1e3 * ordered[int(len(ordered) * 0.99)], 1),
            "rss_mb_first": round(self.memory[0] / 1e6, 1),
            "rss_mb_half": round(self.memory[len(self.memory) // 2] / 1e6, 1),
            "rss_mb_last": round(self.memory[-1] / 1e6, 1),
            "rss_kb_growth": round(self.growth / 1e3),
            "faults": self.faults[:5],
        }

    @property
    def passed(self) -> bool:
        """Whether all that was sent came back right, and memory is flat."""
        return self.right == self.sent > 0 and self.growth <= GROWTH


def run(service: Service, goldens: Goldens, clients: int, seconds: float) -> Load:
    """Ask with so many clients for so long."""
    return asyncio.run(_run(service, goldens, clients, seconds))


async def _run(service: Service, goldens: Goldens, clients: int, seconds: float) -> Load:
    load, end = Load(), time.monotonic() + seconds
    asking = [asyncio.create_task(_client(number, service.port, goldens, end, load)) for number in range(clients)]
    began = time.monotonic()
    while any(not task.done() for task in asking):
        load.memory.append(service.rss())
        await asyncio.wait(asking, timeout=_EVERY)
    load.seconds = time.monotonic() - began
    for task in asking:
        task.result()
    return load


async def _client(client: int, port: int, goldens: Goldens, end: float, load: Load) -> None:
    connection, count = None, 0
    while time.monotonic() < end:
        number, identity = (client + count) % len(goldens.cases), f"{client}/{count}"
        count += 1
        load.sent += 1
        began = time.monotonic()
        try:
            connection = connection or await Connection.to(port)
            answer = await connection.ask(post(goldens.path, goldens.body(number, identity)))
        except (OSError, EOFError, asyncio.TimeoutError) as error:
            load.lost += 1
            load.faults.append(f"{identity}: {type(error).__name__}: {error}")
            connection = None
            continue
        load.times.append(time.monotonic() - began)
        fault = f"{answer.status}: {answer.body[:200]!r}" if answer.status != 200 else ""
        fault = fault or goldens.wrong(number, identity, answer.json())
        load.right, load.wrong = load.right + (not fault), load.wrong + bool(fault)
        if fault:
            load.faults.append(f"{identity}: {fault}")
        if answer.closes:
            connection.close()
            connection = None
    if connection:
        connection.close()
