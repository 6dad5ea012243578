"""Each example of the fixes, traced with the fixes and without its own, in forks: a defect may end the process.

`python -m tests.contract.fixes_child [FIX …]` says it of the Paddle of this interpreter, one line an example: what is
wrong without the fix, or that nothing is. With `--json`, all of it as one object.
"""

from __future__ import annotations

import inspect
import json
import os
import resource
import select
import signal
import sys
import tempfile
import time
from collections.abc import Collection
from pathlib import Path
from typing import Any

from exporter.base.registry import Registry
from exporter.engines.base import Runnable
from exporter.engines.kinds.paddle_inference import plugin as predictor
from exporter.export.lower.base import Format, Wish
from exporter.export.trace.fixes import FIXES, fixes_in_force
from exporter.export.trace.fixes.base import BOTH, Example
from exporter.export.trace.traced import trace
from exporter.paddle import private
from exporter.paddle.refusal import CannotLower

FORMATS: Registry[Format] = Registry("exporter.export.lower", "format")

#: What :func:`wrong` is given: the example, the format, and the fixes that are left out.
Asked = tuple[Example, str, Collection[str]]
#: Seconds of processor time: a program that never ends is a defect, too.
LIMIT = 3
#: Seconds of the clock after which a process is damaged whose threads all slept, and computed nothing.
ASLEEP = 5
#: Of what a process says that ends, the last lines: Paddle names its C++ functions there.
LINES = 30
#: The rows of the runs, and the sizes of the other dims that vary.
ROWS, SIZES = (2, 3, 2), {"h": 8, "w": 4}


def _sound(self: Any, x: Any) -> Any:
    return x + 1


def tried(names: Collection[str]) -> dict[str, dict[str, str]]:
    """By fix, number of the example and format: what is wrong `with` the fixes, and `without` its own; "" is nothing.

    The first is a layer that needs none, and gets none.
    """
    sound = Example(_sound, (("n", 4),))
    cured: dict[str, Asked] = {f"none 0 {format}": (sound, format, FIXES.names()) for format in BOTH}
    stock = dict(cured)
    for name, fix in FIXES.all():
        for number, example in enumerate(fix.examples if not names or name in names else ()):
            for format in example.formats or fix.formats:
                cured[f"{name} {number} {format}"] = (example, format, ())
                stock[f"{name} {number} {format}"] = (example, format, (name,))
    # Each in a fork of its own, as a command's each layer is: Paddle may write where it should not, of which the next
    # would hang or die.
    return {place: {"with": _outcome(cured[place]), "without": _outcome(stock[place])} for place in cured}


def untaken() -> dict[str, list[str]]:
    """By API: the arguments that the installed Paddle has and the fix neither takes nor passes on to stock."""
    lacking = {}
    for _, fix in FIXES.all():
        ours = inspect.signature(fix.instead).parameters
        passes_on = any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in ours.values())
        for api in () if passes_on else fix.apis:
            function = private.found(api)
            theirs = inspect.signature(inspect.unwrap(function)).parameters if function is not None else {}
            lacking[api] = [name for name in theirs if name not in ours]
    return {api: names for api, names in lacking.items() if names}


def _outcome(asked: Asked) -> str:
    """What :func:`wrong` says, in a fork; or how that ended, with the last of what Paddle said of it."""
    read, write = os.pipe()
    with tempfile.TemporaryFile() as log:
        pid = os.fork()
        if pid == 0:
            for stream in (1, 2):
                os.dup2(log.fileno(), stream)
            limit = int(time.process_time()) + LIMIT
            resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
            os.write(write, json.dumps(wrong(*asked)).encode())
            os._exit(0)
        os.close(write)
        said = _written(read, pid)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if said:
            return str(json.loads(said))
        log.seek(0)
        last = " | ".join(log.read().decode(errors="replace").split("\n")[-LINES:])
        return f"ended by {signal.Signals(-code).name}: {last}" if code < 0 else f"exit {code}: {last}"


def _written(read: int, pid: int) -> bytes:
    """What a fork writes until it ends; one that sleeps is damaged, and would for ever."""
    written, before = b"", -1
    with open(read, "rb", buffering=0) as answers:
        while True:
            if select.select([answers], [], [], ASLEEP)[0]:
                if not (more := answers.read(1 << 16)):
                    return written
                written += more
                continue
            if (ticks := _ticks(pid)) == before and _sleeps(pid):
                os.kill(pid, signal.SIGKILL)
            before = ticks


def _sleeps(pid: int) -> bool:
    """Whether no thread of a process computes, or waits for a processor or a disk (proc(5): state)."""
    threads = Path(f"/proc/{pid}/task").glob("*/stat")
    return all(thread.read_text().rpartition(")")[2].split()[0] == "S" for thread in threads)


def _ticks(pid: int) -> int:
    """The processor time of a process, in hundredths of a second (proc(5): utime and stime)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def wrong(example: Example, format: str, without: Collection[str]) -> str:
    """Write the example and run it with several sizes; the first difference from eager mode, "" if there is none.

    A refusal that the example asks for is none.
    """
    import numpy as np
    import paddle

    random = np.random.default_rng(3)
    with tempfile.TemporaryDirectory() as place:
        try:
            artifact = _write(example, format, without, Path(place))
            session = predictor.open(artifact, "cpu").__enter__()  # the process ends before it
            for rows in ROWS:
                sizes = {"n": rows, **{name: size * rows for name, size in SIZES.items()}}
                shapes = [[sizes.get(str(size), size) for size in shape] for shape in example.shapes]
                values = [random.standard_normal(shape).astype("float32") for shape in shapes]
                expected = _layer(example)(*map(paddle.to_tensor, values))
                found = session.run(dict(zip(artifact.inputs, values, strict=True)))
                for want, name in zip(paddle.utils.flatten([expected]), artifact.outputs, strict=True):
                    _compare(want.numpy(), found[name])
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a defect raises
            if isinstance(error, CannotLower) and example.refused and example.refused in error.what:
                return ""
            lines = [line.strip() for line in str(error).splitlines() if line.strip()]
            return f"{type(error).__name__}: {lines[-1] if lines else ''}"
    return ""


def _layer(example: Example) -> Any:
    import paddle

    paddle.seed(3)
    return example.layer()


def _write(example: Example, format: str, without: Collection[str], folder: Path) -> Runnable:
    """The files, and the program's own names of what `forward` returns."""
    plugin = FORMATS[format]
    specs = example.inputs()
    with fixes_in_force(format, without), plugin.session(None):
        traced = trace(_layer(example), specs, None, {}, example.dims)
        plugin.write(traced, None, folder, Wish())
    names = tuple(spec.name for spec in specs)
    outputs = tuple(spec.name for spec in traced.outputs)
    return Runnable(format, folder, plugin.model, names, outputs, None, 1)


def _compare(want: Any, got: Any) -> None:
    import numpy as np

    assert got.dtype == want.dtype, f"{got.dtype} is not {want.dtype}"
    assert got.shape == want.shape, f"{got.shape} is not {want.shape}"
    if want.dtype.kind in "iub":
        np.testing.assert_array_equal(got, want)
    elif want.dtype == np.float64:
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-13)
    else:
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


if __name__ == "__main__":
    os.environ["OMP_NUM_THREADS"] = "1"
    import paddle

    chosen = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    if "--json" in sys.argv:
        sys.stdout.write(json.dumps({"examples": tried(chosen), "untaken": untaken()}))
    else:
        sys.stdout.write(f"Paddle {paddle.__version__}\n")
        for place, said in tried(chosen).items():
            broken = f" BUT WITH IT: {said['with']}" if said["with"] else ""
            sys.stdout.write(f"{place}: {said['without'] or 'nothing is wrong without it'}{broken}\n")
