"""A sample of `python -m evals.serve`, for a few seconds and with few clients; and what the files that it runs say."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from evals.serve import drain, load, malformed
from evals.serve.__main__ import handed_over
from evals.serve.client import get, once, post
from evals.serve.goldens import Goldens
from evals.serve.service import START, Service, environment, started
from exporter.bundle.open import open_bundle
from exporter.deploy.handoff.base import Chosen
from exporter.deploy.handoff.write import TARGETS
from tests.evals.serve.scorer import released

pytestmark = pytest.mark.slow  # pip builds the environments; each kind of server has its own


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return released(tmp_path_factory.mktemp("scorer"))


@pytest.fixture(scope="module")
def goldens(bundle: Path) -> Goldens:
    return Goldens(bundle)


@pytest.fixture(scope="module")
def folder(bundle: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return handed_over(bundle, "http_service", tmp_path_factory.mktemp("served") / "folder")


@pytest.fixture
def service(folder: Path, tmp_path: Path) -> Iterator[Service]:
    with started(folder, START["http_service"], environment(folder / "requirements.txt"), tmp_path / "log") as running:
        yield running


def test_every_answer_is_the_goldens_and_memory_is_flat(service: Service, goldens: Goldens) -> None:
    busy = load.run(service, goldens, clients=8, seconds=4)
    assert busy.passed, busy.told()
    assert goldens.distinct >= len(goldens.cases)


def test_what_is_wrong_is_refused_with_the_reason(service: Service, goldens: Goldens) -> None:
    result = malformed.run(service, goldens)
    assert result.passed, result.told()
    assert len(result.answers) > 80 and result.noise[400] > 200


def test_sigterm_drains(service: Service, goldens: Goldens) -> None:
    stopped = drain.run(service, goldens, clients=8)
    assert stopped.passed, stopped.told()
    assert stopped.asking > 8


async def _ask(port: int, path: str) -> object:
    return (await once(port, post(path, b"").replace(b"POST", b"GET", 1))).json()


def test_health_and_metadata(service: Service, goldens: Goldens) -> None:
    model = goldens.path.removesuffix("/infer")
    for path in ("/v2/health/live", "/v2/health/ready", "/v2", f"{model}/ready", f"{model}/versions/1.0.0/ready"):
        assert get(service.port, path) == 200, path
    assert asyncio.run(_ask(service.port, model)) == {
        "name": "scorer",
        "versions": ["1.0.0"],
        "platform": "onnxruntime_onnx",
        "inputs": [{"name": "ids", "datatype": "INT64", "shape": [-1, -1]}],
        "outputs": [{"name": "score", "datatype": "FP32", "shape": [-1, 1]}],
    }


JOINED = """
import asyncio, json, numpy as np, serve
about = json.loads((serve.HERE / "service.json").read_text())
session, runs = serve.loaded(about), []

class Counted:
    get_outputs = session.get_outputs
    def run(self, names, inputs):
        runs.append(inputs["ids"].shape)
        return session.run(names, inputs)

async def main(rows):
    runner = serve.Runner(Counted(), about)
    return await asyncio.gather(*(runner.compute({"ids": ids}) for ids in rows), return_exceptions=True)

chance = np.random.default_rng(0)
rows = [chance.integers(0, 30, shape) for shape in ((1, 4), (2, 4), (2, 4), (1, 4), (1, 5), (3, 5))]
joined = asyncio.run(main(rows))
print(sorted(runs))
for ids, outputs in zip(rows, joined):
    (alone,) = session.run(None, {"ids": ids})
    assert outputs["score"].shape == alone.shape and np.abs(outputs["score"] - alone).max() < 1e-6
rows[1] = rows[1] + 1000
told = asyncio.run(main(rows))
print([answer.status if isinstance(answer, serve.Refused) else "right" for answer in told])
for got, want in list(zip(told, joined))[3:]:
    assert (got["score"] == want["score"]).all()
"""


def test_requests_that_wait_are_joined_and_each_gets_its_own_rows(folder: Path) -> None:
    """Five rows are the most; a request that the model cannot compute spoils no other one."""
    python = environment(folder / "requirements.txt") / "python"
    done = subprocess.run([python, "-c", JOINED], cwd=folder, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    runs, told = done.stdout.splitlines()
    assert runs == "[(1, 4), (4, 5), (5, 4)]"
    assert told == "['right', 422, 'right', 'right', 'right', 'right']"


def test_a_judge_that_is_told_lies_says_so(goldens: Goldens) -> None:
    """Else the load would prove nothing: another case's answer, another's identity, and a value that moved."""
    tensors = goldens.request(0)["inputs"]
    assert tensors[0]["data"]
    answer = {"id": "1", "outputs": [{"name": "score", "datatype": "FP32", "shape": [3, 1], "data": [0.1, 0.2, 0.3]}]}
    assert "error ratio" in goldens.wrong(0, "1", answer)
    assert goldens.wrong(0, "2", answer).startswith("not the answer to 2")


def test_a_model_that_is_another_is_not_served(folder: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(folder, tmp_path / "copy")
    (copy / "model/model.onnx").write_bytes((copy / "model/model.onnx").read_bytes()[:-1] + b"\0")
    python = environment(folder / "requirements.txt") / "python"
    done = subprocess.run([python, "serve.py"], cwd=copy, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 5 and "not the file that was handed over" in done.stderr


def test_mlserver_answers_as_the_goldens_say_and_refuses_by_the_interface(
    bundle: Path, tmp_path: Path, goldens: Goldens
) -> None:
    """With the real MLServer. What it does not keep (bodies of any size, no draining) docs/targets.md says."""
    folder = handed_over(bundle, "mlserver", tmp_path / "folder")
    with started(folder, START["mlserver"], environment(folder / "requirements.txt"), tmp_path / "log") as service:
        busy = load.run(service, goldens, clients=4, seconds=3)
        assert busy.right == busy.sent > 0, busy.told()
        result = malformed.run(service, goldens, noise=100)
    refused = {name for name, status in result.answers.items() if 400 <= status < 500}
    for name in ("missing input", "unknown input", "wrong datatype", "negative size", "huge size", "one value too few"):
        assert name in refused, result.told()
    assert not [fault for fault in result.faults if "status 5" in fault], result.told()


def test_the_metadata_of_mlserver_is_the_interface(bundle: Path) -> None:
    files = TARGETS["mlserver"].layout(Chosen(open_bundle(bundle), "onnx"))
    settings = next(json.loads(bytes(text)) for name, text in files.items() if name.endswith("model-settings.json"))
    about = settings["parameters"]["extra"]
    assert settings["inputs"] == [{"name": "ids", "datatype": "INT64", "shape": [-1, -1]}]
    assert about["inputs"][0] == {"name": "ids", "datatype": "INT64", "shape": ["batch", "seq"], "range": [0, 30]}
