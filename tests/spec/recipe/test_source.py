from __future__ import annotations

from pathlib import Path

import pytest

from exporter.base.errors import UsageError
from exporter.spec.recipe.source import default_folder, recipe_reference, source_digest, sources

PROJECT = {
    "plans/__init__.py": "",
    "plans/cats.py": "import numpy\nfrom exporter.spec.recipe.base import Recipe\nfrom . import shared\nrecipe = 1\n",
    "plans/shared.py": "def f():\n    from plans.deep.er import g\n",
    "plans/deep/er.py": "import util\n",
    "plans/dogs.py": "raise RuntimeError('never imported')\n",
    "util.py": "import plans.cats  # a circle\n",
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in PROJECT.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_sources_are_the_local_files_that_the_recipe_imports(project: Path) -> None:
    assert [name for name, _ in sources("plans.cats:recipe")] == [
        *("plans", "plans.cats", "plans.deep.er", "plans.shared", "util")
    ]


@pytest.mark.parametrize(
    "changed", ["plans/__init__.py", "plans/cats.py", "plans/shared.py", "plans/deep/er.py", "util.py"]
)
def test_the_digest_changes_with_each_of_them(changed: str, project: Path) -> None:
    before = source_digest("plans.cats:recipe")
    with (project / changed).open("a") as stream:
        stream.write("\n# another byte\n")
    assert source_digest("plans.cats:recipe") != before


def test_the_digest_does_not_depend_on_the_place_nor_on_other_files(project: Path) -> None:
    before = source_digest("plans.cats:recipe")
    (project / "plans" / "dogs.py").write_text("recipe = 3")
    assert source_digest("plans.cats:recipe") == before
    assert source_digest("plans.cats:another") == before, "the attribute is no source"


def test_a_file_that_is_no_python_is_named_with_its_line(project: Path) -> None:
    (project / "util.py").write_text("\n\nx = = 1\n")
    with pytest.raises(UsageError, match="not valid Python") as caught:
        source_digest("plans.cats:recipe")
    assert caught.value.where == "util.py:3"


def test_a_recipe_that_is_not_there(project: Path) -> None:
    (project / "recipes").mkdir()
    (project / "recipes" / "cats.py").touch()
    with pytest.raises(UsageError, match=r"no module named 'recipes\.cat'") as caught:
        source_digest("recipes.cat:recipe")
    assert caught.value.hint == "one of the recipes here: cats"


def test_what_a_user_may_write_for_a_recipe(project: Path) -> None:
    assert recipe_reference("cats") == "recipes.cats:recipe"
    assert recipe_reference("plans.cats") == "plans.cats:recipe"
    assert recipe_reference("plans.cats:second") == "plans.cats:second"
    for text in ("plans/cats.py", "./plans/cats.py", "plans/../plans/cats.py", str(project / "plans" / "cats.py")):
        assert recipe_reference(text) == "plans.cats:recipe"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("plans/lions.py", "no such file"),
        ("plans", "no module named"),
        ("/etc/hostname", "outside the working folder"),
        ("plans/notes.txt", "no module"),
        ("plans/my-cats.py", "no module"),
        ("my-cats", "is not a reference"),
        (":", "is not a reference"),
        ("a:b:c", "is not a reference"),
        ("a b:c", "is not a reference"),
        ("", "is not a reference"),
    ],
)
def test_what_a_user_may_not_write(text: str, what: str, project: Path) -> None:
    (project / "plans" / "my-cats.py").touch()
    (project / "plans" / "notes.txt").touch()
    with pytest.raises(UsageError, match=what):
        source_digest(recipe_reference(text))


def test_the_folder_of_a_run_is_named_after_the_recipe() -> None:
    assert default_folder("recipes.digits:recipe") == Path("runs/digits")
    assert default_folder("recipes.digits:second") == Path("runs/digits-second")
