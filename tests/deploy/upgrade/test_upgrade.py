"""One bundle in two versions of an engine: real ones, and ones in which a kernel was changed on purpose.

A changed version is the ONNX Runtime that is installed here, in an environment whose Python alters each model as it is
loaded, as a kernel does that computes something else than before. The real old one is `slow`: it is downloaded.
"""

from __future__ import annotations

import json
import math
import sys
import venv
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

from exporter.base.errors import ExitCode
from exporter.deploy.upgrade.inside import origin
from exporter.deploy.upgrade.result import CHANGED, NOT_RUN, SAME, WITHIN, Moved, Step, Upgrade
from exporter.prove.root_cause.makers import Maker, makers
from tests.command import STORED, Done, environment, exporter

ONNX, PADDLE = f"onnxruntime=={version('onnxruntime')}", f"paddle=={version('paddlepaddle')}"
#: Versions that nobody released; the environments of these names hold the one that is installed, with other kernels.
WRONG_RELU, ROUGH_CONV, BROKEN = "0.0.1", "0.0.2", "0.0.3"
_LOADED = """\
import onnx, onnxruntime
from onnx import numpy_helper

class Changed(onnxruntime.InferenceSession):
    def __init__(self, path, *arguments, **named):
        model = onnx.load(path)
        change(model.graph)
        super().__init__(model.SerializeToString(), *arguments, **named)

def change(graph):
{change}

onnxruntime.InferenceSession = Changed
"""
_CHANGES = {
    WRONG_RELU: """\
    for node in graph.node:
        if node.op_type == "Relu":
            node.op_type = "Abs"
""",
    ROUGH_CONV: """\
    reads = next(node.input[1] for node in graph.node if node.op_type == "Conv")
    (stored,) = [one for one in graph.initializer if one.name == reads]
    weights = numpy_helper.to_array(stored).copy()
    weights.ravel()[::2] *= 1 + 2.0**-23
    weights.ravel()[1::2] *= 1 - 2.0**-23
    stored.CopyFrom(numpy_helper.from_array(weights, reads))
""",
    BROKEN: "    raise SystemExit('no such kernel')\n",
}


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Environments that see this Python's packages, some with a kernel changed: nothing is downloaded."""
    place = tmp_path_factory.mktemp("cache")
    tag = f"py{sys.version_info.major}.{sys.version_info.minor}"
    for name in (ONNX, PADDLE, *(f"onnxruntime=={change}" for change in _CHANGES)):
        home = place / "cache/exporter/runtimes" / f"{name.replace('==', '-')}-{tag}"
        venv.create(home, symlinks=True, with_pip=False)
        packages = next(path for path in map(Path, sys.path) if path.name == "site-packages")
        inside = home / f"lib/python{tag[2:]}/site-packages"
        (inside / "here.pth").write_text(f"{packages}\n")
        if change := _CHANGES.get(name.partition("==")[2]):
            (inside / "changed_kernel.py").write_text(_LOADED.format(change=change))
            (inside / "kernel.pth").write_text("import changed_kernel\n")
        (home / "runtime.json").write_text("{}")
    return place


def diff(runtimes: str, cache: Path, *options: str) -> Done:
    known = environment(XDG_CACHE_HOME=str(cache / "cache"))
    return exporter("diff", STORED, "--runtime", runtimes, *options, cwd=cache, env=known)


def test_a_version_that_computes_the_same_moves_no_bit(cache: Path) -> None:
    before = sorted(STORED.rglob("*"))
    done = diff(f"{ONNX},{PADDLE}", cache)
    assert done.code == 0 and done.out.splitlines()[-1] == SAME, done.out + done.err
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in done.out.splitlines()[2:-1]]
    assert [row[:4] for row in rows] == [
        [ONNX, ONNX, "onnx", SAME],
        [PADDLE, PADDLE, "pdmodel", SAME],
        [PADDLE, PADDLE, "pir", SAME],
    ], "one version alone is held against the one that is installed"
    assert sorted(STORED.rglob("*")) == before


def test_a_kernel_that_computes_something_else_is_named(cache: Path) -> None:
    done = diff(f"{ONNX},{WRONG_RELU}", cache, "--json")
    told = done.json()
    assert (done.code, told["word"], told["upgrades"][0]["exit"]) == (1, CHANGED, 1), done.out + done.err
    (moved,) = told["upgrades"][0]["variants"]
    assert (moved["variant"], moved["against"], moved["word"]) == ("onnx", ONNX, CHANGED)
    assert moved["where"].startswith("first in Relu "), "the values before it are the same bits"
    assert moved["ratio"] > 4 >= moved["before"] and moved["relative"] > 1e-3 and "onnx/onnxruntime" in moved["reason"]
    assert told["digest"] == json.loads((STORED / "manifest.json").read_bytes())["digest"]


def test_rounding_is_within_the_rule_and_its_operator_is_named(cache: Path) -> None:
    done = diff(f"{ONNX},{ROUGH_CONV}", cache)
    assert done.code == 0 and done.out.splitlines()[-1] == WITHIN, done.out + done.err
    row = done.out.splitlines()[2]
    assert "| first in Conv " in row and "more than rounding" not in row and "error ratio" in row


def test_a_version_that_cannot_run_it_is_named_and_the_others_are_compared(cache: Path) -> None:
    done = diff(f"onnxruntime=={BROKEN},{ONNX},{WRONG_RELU},99.0.1", cache, "--json", "--timeout", "60")
    told = done.json()
    assert done.code == 3, done.out + done.err
    ours, changed = (step for step in told["upgrades"] if step["variants"])
    assert ours["variants"][0]["word"] == NOT_RUN and BROKEN in ours["variants"][0]["reason"]
    assert (changed["variants"][0]["against"], changed["variants"][0]["word"]) == (ONNX, CHANGED)
    assert [step["runtime"] for step in told["upgrades"] if step["why_not"]] == ["onnxruntime==99.0.1"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "nothing says what OLD is held against"),
        (["NEW", "--runtime", ONNX], "leave out NEW and --bench"),
        (["--runtime", ONNX, "--bench"], "leave out NEW and --bench"),
        (["--runtime", "torch==2"], "'torch' is no runtime"),
    ],
)
def test_what_makes_no_sense_is_a_usage_error(arguments: list[str], said: str) -> None:
    done = exporter("diff", STORED, *arguments, cwd=STORED.parent)
    assert (done.code, said in done.err) == (2, True), done.err


@pytest.mark.slow
def test_an_older_onnx_runtime(tmp_path: Path) -> None:
    """Whether or not a bit moves between them, both have to keep the rule."""
    done = exporter("diff", STORED, "--runtime", f"onnxruntime==1.20.1,{ONNX}", cwd=tmp_path)
    assert done.code == 0 and done.out.splitlines()[-1] in (SAME, WITHIN), done.out + done.err


def step(*words: str) -> Step:
    return Step("r==2", tuple(Moved(f"v{place}", "r==1", word) for place, word in enumerate(words)))


@pytest.mark.parametrize(
    ("steps", "code", "word"),
    [
        ([step(SAME)], 0, SAME),
        ([step(SAME, WITHIN)], 0, WITHIN),
        ([step(SAME, CHANGED)], 1, CHANGED),
        ([step(CHANGED, NOT_RUN)], 3, CHANGED),
        ([step(NOT_RUN)], 3, NOT_RUN),
        ([step()], 3, NOT_RUN),
        ([step(SAME), Step("r==3", why_not="no wheel")], 3, SAME),
        ([], 3, NOT_RUN),
    ],
)
def test_the_word_and_the_exit_code(steps: list[Step], code: int, word: str) -> None:
    upgrade = Upgrade("net 1", "d", tuple(steps))
    assert (upgrade.exit, upgrade.word) == (ExitCode(code), word)


def test_the_table_says_how_much_and_below_it_why() -> None:
    moved = Moved("onnx", "r==1", CHANGED, "batch=1", "y", 0.25, 0.5, 9.0, "first in Relu a|b", "it is wrong")
    unlike = Moved("pir", "r==1", CHANGED, "batch=1", "y", math.inf)
    found = Upgrade("net 1", "d", (Step("r==2", (moved, unlike)), Step("r==3", why_not="no wheel")))
    assert found.markdown().splitlines()[2:] == [
        "| r==1 | r==2 | onnx | changed | 0.25 of y in batch=1; error ratio 0.5 -> 9 | first in Relu a\\|b |",
        "| r==1 | r==2 | pir | changed | inf of y in batch=1 |  |",
        "",
        "- r==2, onnx: it is wrong",
        "- r==3: no wheel",
    ]
    assert unlike.to_json()["relative"] is None and json.dumps(found.to_json(), allow_nan=False)


@pytest.mark.parametrize("variant", ["onnx/model.onnx", "pir/model.json", "pdmodel/model.pdmodel"])
def test_every_output_has_a_maker(variant: str) -> None:
    from exporter.base.readers import read

    path = STORED / variant
    made = makers(path)
    outputs = [output.name for output in read(path).outputs]
    assert outputs and all(name in made for name in outputs)
    assert len({maker.place for maker in made.values()}) > 3


def test_the_first_value_that_moves_is_told_from_the_first_beyond_rounding() -> None:
    made = {"c": Maker(2, "Exp"), "b": Maker(1, "Mul", "Net/Block"), "a": Maker(0, "Add")}
    old = {name: np.ones(4, "float32") for name in "abcd"}
    new = {**old, "b": old["b"] + np.float32(2.0**-23), "c": old["c"] * 2, "d": old["d"] * 3}
    found = origin(old, new, made, "fp32")
    assert found.first and found.beyond and (found.first.value, found.beyond.value, found.shown) == ("b", "c", 3)
    assert str(found) == (
        "first in Mul b of Net/Block, operator 1, by 1.2e-07 of its size; by more than rounding first in Exp c, "
        "operator 2, by 1 of its size"
    )
    assert str(origin(old, old, made, "fp32")).startswith("with all 3 values inside put out nothing moves")
