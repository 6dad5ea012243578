"""`train --doctor`: a recipe's first batch is examined, what is found is told, and what is a fault refuses."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from exporter.base.errors import ExitCode, Refusal, UsageError
from exporter.cli.gradients import show
from exporter.process.job import to_json
from exporter.train import examination
from exporter.train.child import RecipeModel
from exporter.train.examination import RecipeExamination, examine_recipe
from tests.command import ROOT, exporter
from tests.train.test_train_child import spoil

Examine = Callable[..., RecipeExamination]
#: What SOUND builds, deep enough that recomputation saves something, and many rows of it.
DEEP = """block = lambda: nn.Sequential(*[nn.Tanh() for _ in range(10)], nn.Linear(64, 64))
X, Y = np.ones([800, 2], "float32"), np.zeros([800, 1], "float32")
build = lambda: nn.Sequential(nn.Linear(2, 64), block(), block(), block(), nn.Linear(64, 1))"""


@pytest.fixture
def examined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Examine:
    """Examine the recipe in the text given."""

    def go(text: str) -> RecipeExamination:
        (tmp_path / "spoilt.py").write_text(text)
        monkeypatch.chdir(tmp_path)
        monkeypatch.syspath_prepend(str(tmp_path))
        monkeypatch.delitem(sys.modules, "spoilt", raising=False)
        return examine_recipe(RecipeModel("spoilt:recipe", 0, "cpu"))

    return go


def test_a_sound_recipe_is_told_its_gradients_and_its_memory(
    examined: Examine, capsys: pytest.CaptureFixture[str]
) -> None:
    found = examined(spoil(DEEP, "build").replace("batch_size=4", "batch_size=800"))
    assert found.findings == ()
    names = [f"{at}.{kind}" for at in ("0", "1.10", "2.10", "3.10", "4") for kind in ("weight", "bias")]
    assert [row.name for row in found.gradients] == names
    activation, memory = 800 * 64 * 4, found.memory  # bytes of what each of the thirty keeps
    assert memory is not None
    assert memory.step > 30 * activation
    kept = memory.kept
    tanhs = {f"{block}.{at}" for block in (1, 2, 3) for at in range(10)}
    assert {name for name, size in kept.items() if size == activation} >= tanhs, "each keeps what it gave"
    assert 30 * activation <= sum(kept.values()) < 1.1 * memory.step, "counted once"
    assert list(kept.values()) == sorted(kept.values(), reverse=True)
    assert memory.recompute_saves["0 1 2 3 4"] > 15 * activation > memory.recompute_saves["0"]
    assert show(found, as_json=False) is ExitCode.PASSED
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "no fault in the gradients of the first batch"
    bars = {line.split()[0]: line.count("#") for line in lines[2:12]}
    assert max(bars.values()) == 24 and min(bars.values()) == 1
    at = lines.index("of it kept for the backward pass, by layer")
    assert len(lines[at + 1 : at + 14]) == 13 and re.fullmatch(r"  \d+ more  [\d.]+ MiB", lines[at + 13])
    assert any(line.startswith("  0 1 2 3 4: ") and line.endswith("MiB less") for line in lines)


@pytest.mark.parametrize(
    ("spoiled", "said"),
    [
        ("x = self.sub(x); y = paddle.exp(x); z = y * y; y.zero_(); return z", "a tensor is written to in place"),
        ("self.sub.weight.scale_(0.5); return self.sub(x)", "writes to a parameter in place"),
        ("return self.sub(x) * paddle.log(x * 0)", "NaN or infinity"),
    ],
)
def test_a_fault_of_a_pass_is_a_finding_and_no_crash(spoiled: str, said: str, examined: Examine) -> None:
    """In a batch of so many rows that the memory of a step is foreseen first."""
    net = f"""class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.sub = nn.Linear(2, 1)
    def forward(self, x):
        {spoiled}
X, Y = np.ones([64, 2], "float32"), np.zeros([64, 1], "float32")
build = Net"""
    found = examined(spoil(net, "build").replace("batch_size=4", "batch_size=64"))
    (finding,) = found.findings
    assert said in finding.what and "(spoilt.py:" in finding.what
    assert found.memory is None and found.gradients == ()
    assert isinstance(show(found, as_json=False), Refusal)


def test_a_step_that_would_not_fit_is_foreseen_and_not_taken(
    examined: Examine, capsys: pytest.CaptureFixture[str]
) -> None:
    wide = """build = lambda: nn.Sequential(nn.Linear(2, 8000), *[nn.Tanh() for _ in range(9)], nn.Linear(8000, 1))
X, Y = np.ones([2_000_000, 2], "float32"), np.zeros([2_000_000, 1], "float32")"""  # 64 GB an activation
    found = examined(spoil(wide, "build").replace("batch_size=4", "batch_size=2_000_000"))
    (finding,) = found.findings
    assert finding.place == "a batch of 2000000 rows" and found.memory is None
    need = float(re.search(r"would take about ([\d.]+) GiB", finding.what)[1])  # type: ignore[index]
    assert 10 * 59.6 < need < 25 * 59.6, "ten activations, and gradients of some"
    fits = int(re.search(r"at most (\d+) rows", finding.hint)[1])  # type: ignore[index]
    assert 100 < fits < 200_000
    ended = show(found, as_json=False)
    assert isinstance(ended, Refusal) and "would take about" in capsys.readouterr().out


@pytest.mark.slow
def test_what_is_foreseen_is_what_is_measured(examined: Examine, monkeypatch: pytest.MonkeyPatch) -> None:
    text = spoil(DEEP, "build").replace("batch_size=4", "batch_size=800")
    memory = examined(text).memory
    assert memory is not None
    measured = memory.step
    for share, foreseen in ((0.85, 1), (1.15, 0)):
        monkeypatch.setattr(examination, "_free", lambda share=share: int(share * measured))
        assert len(examined(text).findings) == foreseen


def test_a_fault_is_told_and_refused(examined: Examine, capsys: pytest.CaptureFixture[str]) -> None:
    detached = spoil("        return (self.linear(x) * 2).detach() + self.linear.bias", "        return")
    found = examined(detached)
    assert [finding.place for finding in found.findings] == ["linear.weight"]
    ended = show(found, as_json=True)
    assert isinstance(ended, Refusal) and ended.exit is ExitCode.REFUSED and ended.hint.startswith("leave detach()")
    assert json.loads(capsys.readouterr().out) == to_json(RecipeExamination, found)


def test_an_optimizer_that_was_given_too_little_is_found(examined: Examine) -> None:
    text = spoil("optimizer = lambda layer: paddle.optimizer.SGD(0.1, parameters=[layer.linear.bias])", "optimizer")
    (finding,) = examined(text).findings
    assert (finding.place, finding.what) == ("linear.weight", "the optimizer was not given it")


def test_mistakes_of_the_recipe_are_said_in_its_own_words(examined: Examine) -> None:
    with pytest.raises(UsageError, match=r"forward failed: ValueError: \(InvalidArgument\)"):
        examined(spoil("build = lambda: nn.Linear(3, 1)", "build"))
    unset = spoil("from exporter.spec.recipe.base import unset\noptions = dict(loss=unset, fit=print)", "options")
    with pytest.raises(UsageError, match="the recipe has no loss to differentiate"):
        examined(unset)


def test_the_command_trains_nothing(tmp_path: Path) -> None:
    (tmp_path / "recipes").symlink_to(ROOT / "recipes")
    done = exporter("train", "digits", "--doctor", cwd=tmp_path)
    assert done.code == 0 and done.out.startswith("no fault in the gradients of the first batch\n"), done.err
    assert [path.name for path in tmp_path.iterdir()] == ["recipes"]
