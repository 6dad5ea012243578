"""A server in a process of its own, in an environment that holds its requirements and nothing of the exporter."""

from __future__ import annotations

import hashlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from evals.serve.client import get
from exporter.base.files import user_cache

#: How a folder of each target is started, in an environment with its requirements.
START = {
    "http_service": ("{bin}/python", "-E", "-s", "serve.py", "--port", "{port}"),
    "mlserver": ("{bin}/mlserver", "start", "."),
}
#: Seconds until a server has to answer; mlserver imports for 5 s on an idle machine.
PATIENCE = 120.0


def environment(requirements: Path) -> Path:
    """The folder with the programs of an environment that holds these packages; built once, by pip."""
    text = requirements.read_bytes()
    version = f"py{sys.version_info.major}.{sys.version_info.minor}"
    home = user_cache("servers") / f"{hashlib.sha256(text).hexdigest()[:16]}-{version}"
    if not (home / "ready").is_file():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(home)], check=True)
        command = [str(home / "bin/python"), "-m", "pip", "install", "--quiet", "--only-binary", ":all:"]
        subprocess.run([*command, "-r", str(requirements)], check=True, capture_output=True)
        (home / "ready").touch()
    return home / "bin"


@dataclass(frozen=True)
class Service:
    """A server that is ready."""

    process: subprocess.Popen[bytes]
    port: int
    log: Path

    def rss(self) -> int:
        """Bytes in memory, with those of its children."""
        top = psutil.Process(self.process.pid)
        return sum(process.memory_info().rss for process in (top, *top.children(recursive=True)))

    def terminate(self, patience: float = 60.0) -> int:
        """Send SIGTERM, wait, and return the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(patience)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def started(folder: Path, command: Sequence[str], bin_folder: Path, log: Path) -> Iterator[Service]:
    """Start a server in its folder; it is killed at the end if it still runs."""
    port = free_port()
    words = [word.format(bin=bin_folder, port=port) for word in command]
    outside = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    other = {f"MLSERVER_{kind}_PORT": str(free_port()) for kind in ("GRPC", "METRICS")}
    outside |= {"MLSERVER_HTTP_PORT": str(port), "MLSERVER_HOST": "127.0.0.1", **other}
    with log.open("wb") as stream:
        process = subprocess.Popen(words, cwd=folder, env=outside, stdout=stream, stderr=subprocess.STDOUT)
    try:
        end = time.monotonic() + PATIENCE
        while get(port, "/v2/health/ready") != 200:
            if process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"the server did not become ready: {log.read_text()[-2000:]}")
            time.sleep(0.1)
        yield Service(process, port, log)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
