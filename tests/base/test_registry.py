from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from exporter.base.errors import UsageError
from exporter.base.registry import Registry
from tests.command import environment


def run(script: str, **more: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=environment(**more), check=True
    ).stdout


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / f"plugins_{abs(hash(tmp_path))}"  # a name of its own: Python remembers packages by name
    (folder / "kinds").mkdir(parents=True)
    for name, text in {
        "__init__": "",
        "base": "raise AssertionError('the contract is no plugin')",
        "kinds/__init__": "",
        "kinds/_help": "raise AssertionError('a helper is no plugin')",
        "kinds/first": "plugin = 1",
        "kinds/second": "plugin = 2",
    }.items():
        (folder / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    return folder


def test_a_new_file_is_a_new_plugin_and_needs_no_edit(package: Path) -> None:
    assert Registry[int](package.name, "number").names() == ("first", "second")
    (package / "kinds/added.py").write_text("plugin = 3")
    registry = Registry[int](package.name, "number")
    assert registry.names() == ("added", "first", "second")
    assert dict(registry.all()) == {"added": 3, "first": 1, "second": 2}


def test_a_plugin_that_needs_more_than_a_file_is_a_folder(package: Path) -> None:
    (package / "kinds/folder").mkdir()
    (package / "kinds/folder/__init__.py").write_text("from .part import VALUE\n\nplugin: int = VALUE\n")
    (package / "kinds/folder/part.py").write_text("VALUE = 4")
    registry = Registry[int](package.name, "number")
    assert registry.names() == ("first", "folder", "second") and registry["folder"] == 4


def test_names_are_known_without_importing_a_plugin(package: Path) -> None:
    (package / "kinds/costly.py").write_text("raise AssertionError('imported')")
    registry = Registry[int](package.name, "number")
    assert "costly" in registry.names() and registry["first"] == 1


@pytest.mark.parametrize(("wrong", "likely"), [("fisrt", "did you mean 'first'?"), ("zzz", "one of: first, second")])
def test_an_unknown_name_is_a_usage_error_with_the_closest(package: Path, wrong: str, likely: str) -> None:
    with pytest.raises(UsageError, match=f"unknown number '{wrong}'") as caught:
        Registry[int](package.name, "number")[wrong]
    assert likely in caught.value.hint


@pytest.mark.parametrize("name", ["base", "_help", "__init__", ""])
def test_what_is_no_plugin_cannot_be_had_by_name(package: Path, name: str) -> None:
    with pytest.raises(UsageError):
        Registry[int](package.name, "number")[name]


def installed(package: Path, name: str) -> None:
    about = package.parent / "outside-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: outside\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[{package.name}]\n{name} = outside_plugin:it\n")
    (package.parent / "outside_plugin.py").write_text("it = 7")


def test_a_package_outside_adds_a_plugin_by_its_entry_point(package: Path) -> None:
    installed(package, "third")
    script = (
        f"import sys; sys.path.insert(0, {str(package.parent)!r})\n"
        "from exporter.base.registry import Registry\n"
        f"r = Registry({package.name!r}, 'number'); print(r.names(), 'outside_plugin' in sys.modules, r['third'])"
    )
    assert run(script).strip() == "('first', 'second', 'third') False 7"


def test_two_plugins_of_one_name_are_an_error(package: Path) -> None:
    installed(package, "first")
    with pytest.raises(UsageError, match="two plugins are called number 'first'") as caught:
        Registry[int](package.name, "number").names()
    assert caught.value.where == "outside_plugin:it" and "uninstall" in caught.value.hint


def test_a_folder_that_is_not_there_is_said() -> None:
    with pytest.raises((LookupError, ModuleNotFoundError)):
        Registry[int]("exporter.no_such_room", "thing").names()
    with pytest.raises(LookupError, match="not a package"):
        Registry[int]("exporter.base.files", "thing").names()
