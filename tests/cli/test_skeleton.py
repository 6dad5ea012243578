"""`init`: what the code says is in the spec, what it does not say is marked, and no file is ever written over."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from exporter.base.errors import UsageError
from exporter.cli.looked import Given, Looked, Signature, Taken
from exporter.cli.skeleton import recipe_text, signature, spec_text
from exporter.spec.model import Spec
from exporter.spec.read import read_spec
from tests.command import exporter, refused

IDENTIFIERS = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True)


def test_a_spec_and_a_recipe_for_a_factory(workplace: Path) -> None:
    done = exporter("init", "tags", "--model", "models.sound:tagger", "--recipe", cwd=workplace)
    assert done.code == 0, done.err
    assert done.out.splitlines()[:3] == ["specs/tags.yaml", "recipes/tags.py", ".gitignore"]
    assert all((workplace / name).is_file() for name in done.out.splitlines()[:3])
    assert "inputs ids, weight" in done.out
    text = (workplace / "specs/tags.yaml").read_text()
    spec = Spec.model_validate(yaml.safe_load(text))
    assert (spec.name, spec.model, spec.recipe) == ("tags", "models.sound:tagger", "recipes.tags:recipe")
    assert list(spec.inputs) == ["ids", "weight"]
    ids, weight = spec.inputs.values()
    assert (ids.dtype, ids.shape, weight.dtype, weight.shape) == (
        *("int64", ("batch", "seq")),
        *("float32", ("batch", "seq", 4)),
    )
    assert "GUESSED" not in text and "# integers(0,20)" in text, "the Embedding has 20 rows"
    assert "# outputs: [scores, best, hidden]" in text
    recipe = (workplace / "recipes/tags.py").read_text()
    ast.parse(recipe)
    assert 'inputs=("ids", "weight")' in recipe and "build=tagger" in recipe
    assert "def accuracy(scores: np.ndarray, best: np.ndarray, hidden: np.ndarray, label: np.ndarray)" in recipe
    assert "cross_entropy(scores, label)" in recipe and "- scores float32[batch,seq,6]" in recipe
    assert "/runs/" in (workplace / ".gitignore").read_text()


def test_what_is_written_leads_on(workplace: Path) -> None:
    """The skeleton is a spec that `check` takes; and its recipe says itself what it still needs."""
    (workplace / ".gitignore").write_text("mine")
    done = exporter("init", "small", "--model", "models.sound:Mlp", "--recipe", cwd=workplace)
    assert (workplace / ".gitignore").read_text() == "mine" and ".gitignore" not in done.out
    lines = [line.strip() for line in done.out.splitlines() if line.startswith("  exporter ")]
    assert [line.split()[1] for line in lines] == ["check", "train", "release"]
    checked = exporter(*lines[0].split()[1:], "--json", cwd=workplace)
    assert checked.code == 0, checked.out + checked.err
    assert [one["code"] for one in checked.json()["findings"] if one["severity"] == "error"] == []
    trained = exporter("train", "small", cwd=workplace)
    assert trained.code == 2
    assert re.search(
        r"error: recipes/small.py:\d+: data\(\) failed: NotImplementedError: return Samples\(", trained.err
    )


@pytest.mark.parametrize("there", ["specs/tags.yaml", "recipes/tags.py"])
def test_nothing_is_written_over_and_nothing_beside(workplace: Path, there: str) -> None:
    (workplace / there).write_text("mine")
    before = sorted(workplace.rglob("*"))
    done = exporter("init", "tags", "--model", "models.sound:tagger", "--recipe", cwd=workplace)
    refused(done, 2, there, "is there already")
    assert (workplace / there).read_text() == "mine" and sorted(workplace.rglob("*")) == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["tags"], "--model is missing"),
        ([], "NAME is missing"),
        (["../tags", "--model", "models.sound:tagger"], "no name of a spec"),
        (["tags", "--model", "models.sound"], "not a reference"),
        (["tags", "--model", "models.nowhere:tagger"], "no module 'models.nowhere'"),
        (["tags", "--model", "models.sound:taggr"], "did you mean 'tagger'"),
        (["tags", "--model", "models.broken_syntax:build"], "models/broken_syntax.py"),
    ],
)
def test_mistakes(workplace: Path, arguments: list[str], said: str) -> None:
    refused(exporter("init", *arguments, cwd=workplace), 2, said)


SOURCE = """
from paddle import nn
from other import imported, Above
import functools

class Base(nn.Layer):
    def forward(self, image, mask=None, *, scale, bias=0): ...

class Derived(Base): ...
class Nothing(nn.Layer):
    def forward(self): ...

def direct(): return Derived()
def by_name():
    net = Derived(3)
    net.eval()
    return net
def wrapped(): return nn.Sequential(Derived())
partial = functools.partial(Derived)
"""


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Base", Signature(("image", "scale"), ("mask", "bias"))),
        ("Derived", Signature(("image", "scale"), ("mask", "bias"))),
        ("direct", Signature(("image", "scale"), ("mask", "bias"))),
        ("by_name", Signature(("image", "scale"), ("mask", "bias"))),
        ("imported", Signature(("ids",))),
        ("Above", Signature(("ids",))),
        ("wrapped", Signature(("x",), known=False)),
        ("partial", Signature(("x",), known=False)),
        ("Nothing", Signature(("x",), known=False)),
    ],
)
def test_parameters_are_read_from_the_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, expected: Signature
) -> None:
    (tmp_path / "net.py").write_text(SOURCE)
    above = "class Above(nn.Layer):\n    def forward(self, ids): ...\n"
    (tmp_path / "other.py").write_text(f"from paddle import nn\n{above}def imported(): return Above()\n")
    monkeypatch.chdir(tmp_path)
    assert signature(f"net:{name}") == expected


@given(st.lists(IDENTIFIERS, min_size=1, max_size=4, unique=True), st.lists(IDENTIFIERS, max_size=2), st.booleans())
def test_every_skeleton_is_a_valid_spec_and_a_valid_module(
    required: list[str], optional: list[str], trained: bool
) -> None:
    found = Signature(tuple(required), tuple(optional))
    taken = {name: Taken("int64", ("batch", "seq"), 7) for name in required}
    outputs = tuple(Given(name, "float32", ("batch", 3)) for name in (*optional, "label", "class"))
    looked = Looked(taken, outputs)
    text = spec_text("a-b.c", "net:build", found, "recipes.a:recipe" if trained else None, looked)
    wanted = "dataset" if trained else "integers(0,7)"
    assert {filled.values for filled in Spec.model_validate(yaml.safe_load(text)).inputs.values()} == {wanted}
    ast.parse(recipe_text("a-b.c", "net:build", found, looked))
    content = yaml.safe_load(spec_text("a-b.c", "net:build", found, "recipes.a:recipe" if trained else None))
    spec = Spec.model_validate(content)
    assert (spec.name, list(spec.inputs)) == ("a-b.c", required)
    ast.parse(recipe_text("a-b.c", "net:build", found))


def test_a_name_that_yaml_would_take_for_a_number() -> None:
    assert yaml.safe_load(spec_text("1.0", "net:build", Signature(("x",)), None))["name"] == "1.0"


def test_an_unknown_module_is_a_mistake_of_the_user() -> None:
    with pytest.raises(UsageError):
        signature("nowhere.at_all:build")


def test_the_skeleton_reads_back(workplace: Path) -> None:
    done = exporter("init", "m", "--model", "models.sound:mlp", "--no-build", cwd=workplace)
    assert "GUESSED" in (workplace / "specs/m.yaml").read_text() and "its code was only read" in done.out
    spec = read_spec(workplace / "specs/m.yaml")
    assert (list(spec.inputs), spec.recipe, spec.inputs["x"].values) == (["x"], None, "normal")


@pytest.mark.parametrize(
    ("outputs", "said"),
    [
        ([Given("y", "float32", ("batch", 10))], "cross_entropy(y, label)"),
        ([Given("y", "float32", ("batch", 1))], "mse_loss(y, label)"),
        ([Given("y", "float32", ("batch",))], "mse_loss(y, label)"),
        ([Given("best", "int64", ("batch",)), Given("y", "float32", ("batch", "seq", 5))], "cross_entropy(y, label)"),
    ],
)
def test_loss_and_metric_suit_the_outputs(outputs: list[Given], said: str) -> None:
    text = recipe_text("n", "net:build", Signature(("x",)), Looked(outputs=tuple(outputs)))
    names = ", ".join(f"{given.name}: paddle.Tensor" for given in outputs)
    assert said in text and f"def loss({names}, label: paddle.Tensor)" in text
    assert ('goal="min"' in text) is ("mse" in said)
