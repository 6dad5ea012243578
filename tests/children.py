"""What children do in the tests of workers: each function is the whole work of one child."""

from __future__ import annotations

import ctypes
import importlib
import os
import resource
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from exporter.base.errors import BundleError, ChildTimedOut, EnvironmentLacks, ModelError, UsageError
from exporter.process.job import job
from exporter.process.workers import doing

KINDS = {kind.__name__: kind for kind in (UsageError, EnvironmentLacks, ModelError, BundleError, ChildTimedOut)}
#: Takes 300 MB and holds it: what goes on is refused at twice a limit of 200, which a busy parent may not see in time.
EAT = """
import time
held = []
while True:
    if len(held) < 38:
        held.append(bytearray(b"x") * (8 << 20))
    time.sleep(0.01)
"""


@job
def echo(request: dict[str, Any]) -> dict[str, Any]:
    return request


@job
def surroundings(request: dict[str, Any]) -> dict[str, Any]:
    return {"env": dict(os.environ), "cwd": str(Path.cwd()), "path": sys.path, "pid": os.getpid()}


@job
def ours(request: dict[str, Any]) -> dict[str, Any]:
    raise KINDS[request["kind"]]("what it is", where="where it is", hint="what to do")


@job
def theirs(_: dict[str, Any]) -> dict[str, Any]:
    doing("thinking")
    raise ZeroDivisionError("a mistake in user code")


@job
def leaves(request: dict[str, Any]) -> dict[str, Any]:
    doing("leaving")
    if request["how"] == "sys.exit":
        sys.exit(request["code"])
    os._exit(request["code"])


@job
def segfaults(_: dict[str, Any]) -> dict[str, Any]:
    print("last words")
    doing("reading address 0", stage="run")
    ctypes.string_at(0)
    return {}


@job
def segfaults_beside_paddle(request: dict[str, Any]) -> dict[str, Any]:
    import paddle

    doing(f"using {paddle.__name__}")
    return segfaults(request)


@job
def feeds_a_length_beyond_the_sequence(_: dict[str, Any]) -> dict[str, Any]:
    import paddle

    doing("running an LSTM")
    network = paddle.nn.LSTM(8, 16, 2, direction="bidirect")
    for _ in range(50):
        network(paddle.randn([4, 5, 8]), sequence_length=paddle.to_tensor([5, 9, 500, 10**6]))
    return {}


@job
def dies(request: dict[str, Any]) -> dict[str, Any]:
    os.kill(os.getpid(), request["signal"])
    time.sleep(60)
    return {}


@job
def hangs(request: dict[str, Any]) -> dict[str, Any]:
    doing("waiting for ever")
    if request.get("deaf"):
        for one in (signal.SIGINT, signal.SIGTERM):
            signal.signal(one, signal.SIG_IGN)
    if request.get("pid"):
        Path(request["pid"]).write_text(str(os.getpid()))
    while True:
        time.sleep(0.05)


@job
def spins(request: dict[str, Any]) -> dict[str, Any]:
    """A loop without end, in as many threads or processes."""
    doing("spinning", case="batch=2")
    for _ in range(request.get("processes", 1) - 1):
        subprocess.Popen([sys.executable, "-c", "while True: pass"])
    while True:
        pass


@job
def waits_for_another(request: dict[str, Any]) -> dict[str, Any]:
    """Does nothing itself while a process below it computes so many seconds; short-lived ones if there are many."""
    for _ in range(request.get("times", 1)):
        code = f"import time\nwhile time.process_time() < {request['seconds']}: pass"
        subprocess.run([sys.executable, "-c", code], check=True)
    return {}


@job
def stops(_: dict[str, Any]) -> dict[str, Any]:
    doing("stopping itself")
    os.kill(os.getpid(), signal.SIGSTOP)
    return {}


@job
def locks(_: dict[str, Any]) -> dict[str, Any]:
    doing("waiting for a lock", case="batch=2")
    lock = threading.Lock()
    lock.acquire()
    threading.Thread(target=lock.acquire, daemon=True).start()
    lock.acquire()
    return {}


@job
def eats(_: dict[str, Any]) -> dict[str, Any]:
    doing("eating")
    exec(EAT)
    return {}


@job
def asks_for_too_much(_: dict[str, Any]) -> dict[str, Any]:
    doing("asking")
    return {"size": len(bytearray(1 << 40))}


@job
def eats_through_another(request: dict[str, Any]) -> dict[str, Any]:
    doing("letting another eat")
    process = subprocess.Popen([sys.executable, "-c", EAT])
    Path(request["pid"]).write_text(str(process.pid))
    process.wait()
    return {}


@job
def tells(request: dict[str, Any]) -> dict[str, Any]:
    for number in range(request["count"]):
        doing("x" * request["length"], number=number)
    return {"told": request["count"]}


@job
def talks(request: dict[str, Any]) -> dict[str, Any]:
    print("line\n" * request["lines"])
    os.write(1, b"\xff\xfe not text")
    raise ValueError("after much talk")


@job
def gives_nan(_: dict[str, Any]) -> dict[str, Any]:
    return {"value": float("nan")}


@job
def gives_no_json(_: dict[str, Any]) -> dict[str, Any]:
    return {"value": object()}


@job
def leaves_a_daemon(request: dict[str, Any]) -> dict[str, Any]:
    """It forks twice and begins a session of its own, so that nothing ties it to this process any more."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            Path(request["pid"]).write_text(str(os.getpid()))
            time.sleep(600)
        os._exit(0)
    os.wait()
    while not (pid := Path(request["pid"])).exists() or not pid.read_text():
        time.sleep(0.01)
    return {"after": request["how"]} if request["how"] == "answers" else segfaults(request)


@job
def imported(request: dict[str, Any]) -> dict[str, Any]:
    return {"imported": request["name"] in sys.modules, "server": _parent(_parent(os.getpid())), "here": os.getpid()}


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


@job
def burns(request: dict[str, Any]) -> dict[str, Any]:
    """So many seconds of processor time, on however busy a machine."""
    while time.process_time() < request["seconds"]:
        pass
    return {}


@job
def floods(request: dict[str, Any]) -> dict[str, Any]:
    """Progress, then megabytes without a newline, then progress again."""
    doing("before")
    events = int(os.environ["EXPORTER_EVENTS_FD"])
    for _ in range(request["megabytes"]):
        rest = memoryview(b"x" * (1 << 20))
        while rest:
            rest = rest[os.write(events, rest) :]
    os.write(events, b"\n")
    doing("after")
    return {"done": True}


@job
def forges(_: dict[str, Any]) -> dict[str, Any]:
    """Leave before the answer is written, and another one in its place."""
    Path(os.environ["TMPDIR"], "answer.json").write_text("null")
    os._exit(0)


@job
def forges_a_pipe(_: dict[str, Any]) -> dict[str, Any]:
    """As above; whoever reads it would wait for ever."""
    os.mkfifo(Path(os.environ["TMPDIR"], "answer.json"))
    os._exit(0)


@job
def talks_more_than_fits(_: dict[str, Any]) -> dict[str, Any]:
    """The answer finds no room on the disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
    return {"much": "x" * 1000}


@job
def loads_what_a_stranger_wrote(request: dict[str, Any]) -> dict[str, Any]:
    """Imports, then loads; each for so many seconds of processor time, and the load with so many megabytes."""
    doing("importing")
    _compute(request["imports"])
    held = [bytearray(os.urandom(1) * (16 << 20)) for _ in range(request.get("before", 0) >> 4)]
    doing("loading", stage="load")
    _compute(0.5)
    for _ in range(request.get("megabytes", 0) >> 4):
        held.append(bytearray(os.urandom(1) * (16 << 20)))
        time.sleep(0.02)
    _compute(request.get("loads", 0.0))
    return {"held": len(held)}


def _compute(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


@job
def run_onnx(request: dict[str, Any]) -> dict[str, Any]:
    """Opens and runs a model in ONNX Runtime, and waits for what it does behind that."""
    import numpy as np
    import onnxruntime
    from onnx import TensorProto, helper

    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy")
    graph = helper.make_graph([helper.make_node("Neg", ["x"], ["y"])], "g", [x], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    (given,) = session.run(None, {"x": np.ones(2, "float32")})
    time.sleep(1)
    return {"ran": given.tolist() == [-1, -1]}


@job
def loads_a_program(request: dict[str, Any]) -> dict[str, Any]:
    """By Paddle, whose compiled code opens the files."""
    import paddle

    paddle.jit.load(request["program"])
    return {}


def _appends(_: object) -> None:
    Path("table.bin").open("a").close()
    Path("table.bin").read_bytes()


#: What :func:`transforms` does besides, by the key that asks for it. A request that named the file would be told from
#: another by the file's content.
BESIDES: dict[str, Callable[[Any], object]] = {
    "imports": importlib.import_module,
    "databases": lambda name: importlib.import_module(name).open("table.dbm", "c").close(),
    "starts": lambda command: subprocess.run(command, check=True),
    "connects": lambda port: socket.create_connection(("127.0.0.1", port)).close(),
    "changes": lambda _: Path("table.bin").open("r+").close(),
    "appends": _appends,
    "empties": lambda _: Path("table.bin").open("w").close(),
    "queries": lambda _: sqlite3.connect("table.bin").close(),
    "queries_only": lambda _: sqlite3.connect("file:table.bin?mode=ro", uri=True).close(),
}


@job(reuse="transforming {source}")
def transforms(request: dict[str, Any]) -> dict[str, Any]:
    """Reads what the request names and a file that it does not, writes where it says, and names both."""
    said = Path(request["source"]).read_text()
    besides = Path(request.get("folder", "."), "besides.txt")
    said += besides.read_text() if besides.exists() else "nothing besides"
    said += os.environ.get("TRANSFORMS", "")
    into = Path(request["into"])
    (into / "deep").mkdir()
    (into / "deep/out.txt").write_text(said)
    if "removes" in request:
        Path(request["removes"]).unlink()
    if "asks" in request:
        said += "there" if Path(request["asks"]).is_file() else "not there"
    for name in BESIDES.keys() & request.keys():
        BESIDES[name](request[name])
    if "forks" in request and os.fork() == 0:
        os._exit(0)
    if "fails" in request:
        raise UsageError("it fails")
    answer: dict[str, Any] = {"wrote": f"{into}/deep/out.txt", "by": {str(into): os.getpid()}}
    if "parts" in request:
        answer["whole"] = False
    if "names" in request:
        answer["place"] = os.environ["TMPDIR"]
    return {**answer, "at": str(besides.absolute())}
