"""A project of ten specs that read what they need in as many ways, most of them where Python hears nothing."""

from __future__ import annotations

import os
import sqlite3
import subprocess
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from PIL import Image

#: The specs, and how each finds the five numbers that its layer is multiplied by.
WAYS = {
    "runtime": "ort.InferenceSession('data/scale.onnx').run(None, {'x': np.ones(5, 'float32')})[0]",
    "picture": "np.asarray(Image.open('data/table.png')).reshape(-1)[:5]",
    "database": "[row[0] for row in sqlite3.connect('data/numbers.db').execute('select number from numbers')]",
    "mapped": "np.frombuffer(mmap.mmap(os.open('data/raw.bin', os.O_RDONLY), 20, access=mmap.ACCESS_READ), 'float32')",
    "linked": "np.load('data/current/table.npy')",
    "module": "inner.TABLE",
    "ignored": "np.loadtxt('made/table.txt')",
    "package": "teamlib.TABLE",
    "variables": "[float({k[4:]: v for k, v in os.environ.items() if k.startswith('NET_')}.get('SCALE', 1))] * 5",
}
NET = """import mmap, os, sqlite3
import numpy as np
import onnxruntime as ort
import paddle
from PIL import Image
{more}

class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        paddle.seed(1)
        self.line = paddle.nn.Linear(8, 5)
        self.register_buffer("table", paddle.to_tensor(np.array({way}, "float32")))

    def forward(self, x):
        return self.line(x) * self.table
"""
RECIPE = """import importlib, json
import numpy as np
import paddle
from exporter.recipe.base import Recipe, Samples

class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.line = paddle.nn.Linear(8, 5)

    def forward(self, x):
        return self.line(x)

def build():
    return Net()

def data():
    rng = np.random.RandomState(0)
    x = rng.randn(96, 8).astype("float32")
    t = x[:, :5].argmax(1).astype("int64")
    return Samples(train={"x": x[:64], "t": t[:64]}, held_out={"x": x[64:], "t": t[64:]})

def loss(y, t):
    weights = paddle.to_tensor(json.load(open("cfg/weights.json")))
    return importlib.import_module("losses." + "plain").loss(y * weights, t)

def metric(y, t):
    return float((y.argmax(1) == t).mean()) * (1 if len(open("cfg/lexicon.txt").read().split()) == 2 else 0.5)

def optimizer(layer):
    return paddle.optimizer.Adam(float(open("cfg/rate.txt").read()), parameters=layer.parameters())

recipe = Recipe(build=build, data=data, inputs=("x",), labels=("t",), loss=loss, metric=metric, metric_name="accuracy",
                optimizer=optimizer, epochs=1, batch_size=16)
"""
SPEC = """name: {name}
version: '1'
model: {model}
{weights}
inputs: {{x: {{dtype: float32, shape: [batch, 8]{values}}}}}
dims: {{batch: {{min: 1, typical: 4, max: 8}}}}
outputs: [y]
formats: [onnx]
engines: [onnxruntime]
{more}"""
#: Files that no spec can read, beside those of the others.
IDLE = {
    "README.md": "# A project\n",
    "docs/guide.md": "Words.\n",
    "docs/more.rst": "Words.\n",
    "LICENSE": "None.\n",
    "CODEOWNERS": "* @team\n",
    ".editorconfig": "root = true\n",
    ".github/ISSUE_TEMPLATE/bug.yml": "name: bug\n",
    "tools/plot.py": "import json\n",
    "tests/test_nets.py": "import nets.mapped\n",
    "nets/old.py": "K = 1\n",
    "notebooks/look.ipynb": "{}\n",
}
PINS = {
    "Dockerfile": "FROM python:3.11\nRUN pip install paddlepaddle==3.3.1\n",
    ".github/workflows/gate.yml": "on: pull_request\njobs: {}\n",
    "tox.ini": "[tox]\n",
    "requirements/base.txt": "paddlepaddle==3.3.1\n",
    "pyproject.toml": "[project]\nname = 'nets'\nversion = '1'\n",
}


def lay(root: Path, packages: Path) -> tuple[str, ...]:
    """Write the project, its repository and a package beside it; return the names of the specs."""
    texts = {**IDLE, **PINS, ".gitignore": "made/\nartifacts/\n.cache/\nruns/\n__pycache__/\n*.log\n"}
    for name, way in WAYS.items():
        more = {"module": "from lib import inner", "package": "import teamlib"}.get(name, "")
        texts[f"nets/{name}.py"] = NET.format(way=way, more=more)
        about = {"model": f"nets.{name}:Net", "weights": "weights: factory", "values": ""}
        texts[f"specs/{name}.yaml"] = SPEC.format(name=name, more="ignores: [notebooks]\n", **about)
    about = {"model": "way:build", "weights": "recipe: way:recipe", "values": ", values: dataset"}
    texts["specs/trained.yaml"] = SPEC.format(name="trained", more="ignores: [notebooks]\n", **about)
    texts |= {"way.py": RECIPE, "cfg/weights.json": "[1.0, 1.0, 1.0, 1.0, 1.0]", "cfg/lexicon.txt": "a\nb\n"}
    texts |= {"cfg/rate.txt": "0.01", "losses/__init__.py": "", "made/table.txt": "1 1 1 1 1\n"}
    texts["losses/plain.py"] = (
        "import paddle\n\ndef loss(y, t):\n    return paddle.nn.functional.cross_entropy(y, t) * 1.0\n"
    )
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    (root / "data/v1").mkdir(parents=True)
    (root / "data/v2").mkdir()
    for place, value in (("v1", 1), ("v2", 9)):
        np.save(root / f"data/{place}/table.npy", np.full(5, value, "float32"))
    (root / "data/stable").symlink_to("v1")
    (root / "data/current").symlink_to("stable")
    write_scale(root / "data/scale.onnx", 2)
    Image.fromarray(np.full((1, 5), 3, "uint8")).save(root / "data/table.png")
    write_numbers(root / "data/numbers.db", 4)
    (root / "data/raw.bin").write_bytes(np.full(5, 2, "float32").tobytes())
    write_package(packages, 1)
    _repository(root)
    return (*WAYS, "trained")


def write_scale(path: Path, factor: float) -> None:
    """Write an ONNX file that multiplies by a factor."""
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [5]) for name in "xy"]
    factors = [numpy_helper.from_array(np.float32(factor), "k")]
    graph = helper.make_graph([helper.make_node("Mul", ["x", "k"], ["y"])], "g", values[:1], values[1:], factors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    path.write_bytes(model.SerializeToString())


def write_numbers(path: Path, value: float) -> None:
    """Write a database with five times a number."""
    path.unlink(missing_ok=True)
    database = sqlite3.connect(path)
    database.execute("create table numbers (number)")
    database.executemany("insert into numbers values (?)", [(value,)] * 5)
    database.commit()
    database.close()


def write_package(place: Path, value: float) -> None:
    """Install a package, always under one version: its code, and the record of its files."""
    import hashlib
    from base64 import urlsafe_b64encode

    (place / "teamlib").mkdir(parents=True, exist_ok=True)
    (place / "teamlib-0.1.dist-info").mkdir(exist_ok=True)
    code = f"TABLE = [{value}] * 5\n".encode()
    (place / "teamlib/__init__.py").write_bytes(code)
    digest = urlsafe_b64encode(hashlib.sha256(code).digest()).rstrip(b"=").decode()
    (place / "teamlib-0.1.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: teamlib\nVersion: 0.1\n")
    (place / "teamlib-0.1.dist-info/RECORD").write_text(f"teamlib/__init__.py,sha256={digest},{len(code)}\n")


def git(folder: Path, *arguments: str) -> None:
    """Run git as somebody."""
    who = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "protocol.file.allow=always"]
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True, env=environment)


def _repository(root: Path) -> None:
    """Make a repository of the project, with another one inside as a submodule."""
    lib = root.with_name("lib")
    lib.mkdir()
    (lib / "inner.py").write_text("TABLE = [1.0] * 5\n")
    for folder in (lib, root):
        git(folder, "init", "-q", "-b", "main")
        if folder == root:
            git(folder, "submodule", "add", "-q", str(lib), "lib")
        git(folder, "add", "-A")
        git(folder, "commit", "-q", "-m", "first")
    onnx.checker.check_model(str(root / "data/scale.onnx"))
