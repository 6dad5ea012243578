"""Paddle Serving as its README says to start it, in Python 3.8: it answers as the bundle recorded."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from exporter.base.tensors import load
from exporter.bundle.open import open_bundle
from exporter.deploy.handoff.base import Chosen
from exporter.deploy.handoff.evidence import judge
from tests.cli.test_handoff import for_target
from tests.command import exporter
from tests.deploy.handoff.old_python import old_python


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@pytest.fixture
def served(bundle: Path, tmp_path: Path) -> Iterator[tuple[Path, int]]:
    """A bundle, and the port where Paddle Serving serves it."""
    python = old_python(8)
    if python is None:
        pytest.skip("no Python 3.8 here, for which Paddle Serving has its last wheel")
    ready = for_target(bundle, tmp_path / "bundle", "paddle_serving")
    assert exporter("handoff", ready, "--to", "paddle_serving", "--out", "given", cwd=tmp_path).code == 0
    folder, ports = tmp_path / "given/models/small/1", (free_port(), free_port())
    config = (folder / "config.yml").read_text()
    (folder / "config.yml").write_text(config.replace("18080", str(ports[0])).replace("9998", str(ports[1])))
    inside = tmp_path / "env/bin/python"
    pip = [inside, "-m", "pip", "install", "--quiet"]
    for command in (
        [python, "-m", "venv", tmp_path / "env"],
        [*pip, "-r", folder / "requirements.txt"],
        [*pip, "--no-deps", "paddle-serving-app==0.9.0"],
    ):
        subprocess.run(command, check=True, capture_output=True)
    with (tmp_path / "log").open("wb") as log:
        server = subprocess.Popen(
            [inside, "web_service.py"], cwd=folder, stdout=log, stderr=log, env={}, start_new_session=True
        )
    try:
        yield ready, ports[0]
    finally:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()


def asked(port: int, values: dict[str, Any]) -> dict[str, str]:
    body = json.dumps({"key": list(values), "value": [json.dumps(value.tolist()) for value in values.values()]})
    request = urllib.request.Request(f"http://127.0.0.1:{port}/small/prediction", body.encode())
    for _ in range(120):  # until it listens
        try:
            with urllib.request.urlopen(request, timeout=60) as stream:
                answer = json.load(stream)
        except (urllib.error.URLError, ConnectionError):
            time.sleep(1)
        else:
            assert not answer["err_no"], answer
            return dict(zip(answer["key"], answer["value"], strict=True))
    raise AssertionError("it never listened")


@pytest.mark.slow
def test_it_answers_as_the_bundle_recorded(served: tuple[Path, int]) -> None:
    bundle, got = open_bundle(served[0]), {}
    golden = load(bundle.folder / "golden.safetensors")
    for case in bundle.goldens():
        answer = asked(served[1], {"image": golden[f"{case.recorded}/input/image"]})
        got[case.name] = {
            name: np.array(json.loads(answer[name]), output.dtype) for name, output in case.outputs.items()
        }
    ran = judge(Chosen(bundle, "pdmodel"), "paddle_inference", got, "Paddle Serving")
    print(f"\n{ran}")  # for docs/targets.md
    assert ran.cases == 4
