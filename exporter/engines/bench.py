"""The child's side of a benchmark: one engine, one artifact; how long one call takes, from numpy to numpy."""

from __future__ import annotations

import gc
import resource
import time
from collections.abc import Callable

from exporter.base.errors import EnvironmentLacks
from exporter.base.registry import Registry
from exporter.base.tensors import TensorMap, recorded_inputs
from exporter.engines.base import Engine, EngineRefused, Session
from exporter.engines.cost import import_all
from exporter.engines.job import TimedCase, Timing, TimingAnswer, TimingRequest
from exporter.process.job import job
from exporter.process.workers import doing

_ENGINES: Registry[Engine] = Registry("exporter.engines", "engine")
#: Calls before the clock counts: allocators, kernel choice and thread pools settle in them.
_WARM_CALLS, _WARM_SECONDS = 3, 0.1
#: Calls that are timed at least, however slow they are, and at most, however fast.
_LEAST, _MOST = 3, 5000


@job
def measure(request: TimingRequest) -> TimingAnswer:
    """Time every case; answer with the seconds of each call, the outputs' shapes, load time and peak memory.

    Inputs and settings are not checked at each call, as they are where results are judged: that would be timed too.
    With `cpu_time` the seconds are those that this process computed, which a busy machine disturbs less; in one thread,
    on a quiet one, they are the same.
    """
    name, artifact = request.engine, request.artifact
    engine = _ENGINES[name]
    doing(f"{name}: starting")
    availability = engine.probe(request.device)
    if not availability.available:
        raise EnvironmentLacks(availability.why_not, where=f"engine {name}", hint=availability.cure)
    cases = {case: recorded_inputs(request.golden, case, artifact.inputs) for case in request.cases}
    import_all(engine.imports)
    doing(f"{name}: loading {artifact.format}", stage="load")
    begin = time.perf_counter()
    try:
        with engine.open(artifact, request.device) as session:
            load = time.perf_counter() - begin
            if unmet := session.settings.unmet():
                raise EngineRefused("; ".join(unmet))
            clock = time.process_time if request.cpu_time else time.perf_counter
            timed = {case: _time(session, inputs, request.seconds, clock) for case, inputs in cases.items()}
            provider = session.provider
    except EngineRefused as error:
        return TimingAnswer(None, str(error))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024  # Linux counts in KiB
    return TimingAnswer(Timing(provider, availability.version, load, peak, timed))


def _time(session: Session, inputs: TensorMap, seconds: float, clock: Callable[[], float]) -> TimedCase:
    outputs = session.run(inputs)
    begin, calls = clock(), 1
    while calls < _WARM_CALLS or clock() - begin < _WARM_SECONDS:
        session.run(inputs)
        calls += 1
    times: list[float] = []
    gc.disable()
    try:
        begin = clock()
        while len(times) < _LEAST or (len(times) < _MOST and clock() - begin < seconds):
            start = clock()
            session.run(inputs)
            times.append(clock() - start)
    finally:
        gc.enable()
    return TimedCase(tuple(times), {name: tuple(value.shape) for name, value in outputs.items()})
