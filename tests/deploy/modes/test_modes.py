"""The modes on real recipes: same losses, same weights, served; and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from exporter.base.registry import Registry
from exporter.cli.kinds.compare_modes import converted
from exporter.deploy.modes.result import EAGER, Wish
from exporter.deploy.modes.run import compare
from exporter.process.workers import Setting
from tests.command import ROOT, exporter, refused
from tests.sampling import some

#: Long enough that the modes could drift apart, if they did not compute the same.
SHORT = {"steps": 12, "rounds": 2, "seconds": 0.01, "serve": 0.0, "batches": (1, 4)}


@pytest.mark.parametrize("recipe", some(["linear", "softmax"], 2))
def test_all_modes_learn_the_same(recipe: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    found = compare(Wish(recipe, **SHORT), Setting(), converted)  # type: ignore[arg-type]
    modes = set(Registry[object]("exporter.deploy.modes", "mode").names())
    assert set(found.rounds) | set(found.lacks) == modes and found.failed == {}
    assert {"eager", "ast", "sot", "program"} <= set(found.rounds)
    eager = found.rounds[EAGER][0]
    assert len(eager.losses) == 12 and eager.losses[-1] < eager.losses[0]
    assert all(found.repeats.values())
    for mode, rounds in found.rounds.items():
        assert rounds[0].losses == pytest.approx(eager.losses, rel=1e-4), mode
        assert rounds[0].metric == pytest.approx(eager.metric, rel=1e-3), mode
        assert found.apart[mode].relative < 1e-5, mode
        assert rounds[0].memory > 50 << 20 and set(rounds[0].forward) == {"1", "4"}
    assert found.apart[EAGER].relative == 0


def test_the_command_writes_a_page_with_its_curves(tmp_path: Path) -> None:
    (tmp_path / "recipes").symlink_to(ROOT / "recipes")
    options = ("--modes", "ast", "--steps", "8", "--rounds", "1", "--batches", "2", "--serve", "0.3", "--clients", "2")
    done = exporter("compare-modes", "linear", *options, "--page", "page/modes.md", "--json", "--quiet", cwd=tmp_path)
    assert done.code == 0, done.err
    told = done.json()
    assert set(told["rounds"]) == {"eager", "ast"} and len(told["rounds"]["ast"][0]["losses"]) == 8
    page = (tmp_path / "page/modes.md").read_text()
    assert "images/modes-losses.svg" in page and (tmp_path / "page/images/modes-losses.svg").is_file()
    rounds = told["served"]["rounds"]
    assert set(rounds) == {"eager", "onnx by onnxruntime", "pdmodel by paddle_inference", "pir by paddle_inference"}
    assert all(asked[0]["rate"] > 0 and asked[0]["p99"] >= asked[0]["median"] for asked in rounds.values())
    assert all(apart < 1e-2 for apart in told["served"]["apart"].values()), "a progression of 25 to 350"


@pytest.mark.parametrize(
    ("recipe", "options", "code", "said"),
    [
        ("linear", ("--modes", "eger"), 2, ("unknown mode 'eger'", "did you mean 'eager'?")),
        ("digits", ("--modes", "program"), 2, ("the recipe has no static_program", "recipes/linear.py")),
        ("policy", (), 2, ("`fit` of its own",)),
        ("linear", ("--batches", "1,x"), 2, ("no list of batch sizes",)),
        ("linear", ("--page", "page.pdf"), 2, ("neither an HTML nor a Markdown file", "ends in .html")),
        ("linear", ("--device", "gpu:99"), 3, ("no device 'gpu:99'",)),
    ],
)
def test_what_cannot_be_compared_is_refused(
    recipe: str, options: tuple[str, ...], code: int, said: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / "recipes").symlink_to(ROOT / "recipes")
    refused(exporter("compare-modes", recipe, *options, cwd=tmp_path), code, *said)


def test_cinn_is_named_where_paddle_has_it_not(tmp_path: Path) -> None:
    import paddle

    if paddle.is_compiled_with_cinn():
        pytest.skip("this Paddle has CINN")
    (tmp_path / "recipes").symlink_to(ROOT / "recipes")
    refused(exporter("compare-modes", "linear", "--modes", "cinn", cwd=tmp_path), 3, "not compiled with CINN")


WRONG = """
from dataclasses import replace
import paddle
from recipes.linear import recipe as right

def static_program(measured, *, training):
    weight = paddle.static.create_parameter([10, 1], "float32", name="another.name")
    return paddle.matmul(measured, weight)

recipe = replace(right, static_program=static_program)
"""


def test_a_program_without_the_layers_parameters_is_told_of(tmp_path: Path) -> None:
    (tmp_path / "recipes").symlink_to(ROOT / "recipes")
    (tmp_path / "wrong.py").write_text(WRONG)
    options = ("--modes", "program", "--steps", "2", "--rounds", "1", "--serve", "0", "--batches", "1")
    done = exporter("compare-modes", "wrong:recipe", *options, "--json", "--quiet", cwd=tmp_path)
    told = json.loads(done.out)
    assert done.code == 0 and set(told["rounds"]) == {"eager"}
    assert "makes no parameter" in told["failed"]["program"]
