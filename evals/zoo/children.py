"""Children of the gate that begin with a family's packages imported, and what the children cost.

The gate forks each child that runs Paddle from a server that has imported Paddle; importing PaddleNLP or PaddleClas
would cost each child two seconds more. Within `preloaded` the servers import these packages too.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import psutil

from exporter.process import forks, workers

#: Importing pyarrow (which pandas does) starts a thread of its allocator without this; a server with threads cannot
#: fork.
ENVIRONMENT = {"JE_ARROW_MALLOC_CONF": "background_thread:false"}
_ROOT = str(Path(__file__).parents[2])


@contextlib.contextmanager
def preloaded(families: Iterable[str]) -> Iterator[None]:
    """Within it, the servers that import Paddle also import `evals.zoo.preload.FAMILY` of these families."""
    modules = tuple(f"evals.zoo.preload.{family}" for family in families if _has_preload(family))
    os.environ["PYTHONPATH"] = os.pathsep.join([_ROOT, *filter(None, [os.environ.get("PYTHONPATH")])])
    plain = workers.fork

    def fork(
        launch: forks.Launch,
        events: int,
        log: int,
        *,
        environment: Mapping[str, str | None],
        imports: Sequence[str] = (),
    ) -> forks.Forked:
        more = modules if "paddle" in imports else ()
        return plain(launch, events, log, environment=environment, imports=(*imports, *more))

    workers.fork = fork  # type: ignore[assignment]
    try:
        yield
    finally:
        workers.fork = plain
        forks.stop_servers()


def _has_preload(family: str) -> bool:
    return Path(__file__).with_name("preload").joinpath(f"{family}.py").is_file()


def processor_seconds() -> float:
    """What this process and the children that ended have used, those of its servers included."""
    own = os.times()
    total = own.user + own.system + own.children_user + own.children_system
    for server in psutil.Process().children():
        with contextlib.suppress(psutil.NoSuchProcess):
            used = server.cpu_times()
            total += used.children_user + used.children_system
    return total


class Laps:
    """Processor seconds of the parts of a network's work: `seconds` by the name of the part."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = processor_seconds()

    def end(self, part: str) -> None:
        """What was used since the last end belongs to this part."""
        now = processor_seconds()
        self.seconds[part] = round(now - self._last, 1)
        self._last = now
