from __future__ import annotations

import shutil
import subprocess
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path

import pytest

from exporter.base.errors import ChildFailed, EnvironmentLacks, ModelError, UsageError
from exporter.base.references import bound_arguments, find_installed, find_source, load_object, split, user_code
from exporter.process import workers
from exporter.process.job import job


class OwnError(Exception):
    """Of no family of the standard library's."""


@job
def raise_own_error(_request: workers.Json) -> workers.Json:
    raise OwnError("why not")


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder one works in, with a package `yard` that this process has not imported."""
    (tmp_path / "yard" / "deep").mkdir(parents=True)
    (tmp_path / "yard" / "__init__.py").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in [name for name in sys.modules if name.partition(".")[0] == "yard"]:
        monkeypatch.delitem(sys.modules, name)
    return tmp_path


def write(house: Path, text: str) -> None:
    (house / "yard" / "tree.py").write_text(text)


def test_an_object_is_found(house: Path) -> None:
    write(house, "class Tree:\n    class Leaf:\n        colour = 'green'\n")
    assert load_object("yard.tree:Tree.Leaf.colour") == "green"


def needs_width(width: int, *, bias: bool = True) -> None: ...


def takes_all(**named: int) -> None: ...


def test_arguments_of_a_factory_are_refused_by_name() -> None:
    bound_arguments(needs_width, {"width": 3, "bias": False}, "net:build")
    bound_arguments(takes_all, {"any": 3}, "net:build")
    with pytest.raises(UsageError) as caught:
        bound_arguments(needs_width, {"widht": 3}, "net:build")
    assert caught.value.what == "the factory takes no argument 'widht'" and caught.value.where == "net:build: args"
    assert caught.value.hint == "did you mean 'width'? one of: width, bias"
    with pytest.raises(UsageError, match="cannot be called with `args`"):
        bound_arguments(needs_width, {"bias": True}, "net:build")
    with pytest.raises(UsageError, match="cannot be called without arguments"):
        bound_arguments(needs_width, {}, "net:build")


def test_find_source_imports_nothing(house: Path) -> None:
    write(house, "raise RuntimeError('imported')")
    (house / "yard" / "deep" / "root.py").touch()
    assert find_source("yard.tree") == house / "yard" / "tree.py"
    assert find_source("yard") == house / "yard" / "__init__.py"
    assert find_source("yard.deep.root") == house / "yard" / "deep" / "root.py", "through a namespace package"
    assert find_source("yard.deep") is None
    assert find_source("yard.nothing") is None
    assert find_source("json", house) is None
    assert find_source("json") is not None
    assert "yard" not in sys.modules


class InPlace(MetaPathFinder):
    """What `pip install -e` leaves: a finder of one package, which is on no path."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        return spec_from_file_location(fullname, self.place / "__init__.py") if fullname == self.place.name else None


def test_find_source_finds_what_is_installed_in_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "elsewhere/installed_in_place"
    place.mkdir(parents=True)
    (place / "__init__.py").write_text("raise RuntimeError('imported')")
    (place / "nets.py").touch()
    assert find_source("installed_in_place.nets") is None
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, InPlace(place)])
    assert find_source("installed_in_place.nets") == place / "nets.py"
    assert find_source("installed_in_place.nets", tmp_path) is None


@pytest.mark.parametrize(
    ("text", "what", "line"),
    [
        ("x = 1\ny = 2 +\n", "SyntaxError: invalid syntax", 2),
        ("import no_such_thing", "ModuleNotFoundError: No module named 'no_such_thing'", 1),
        ("from json import nothing", "ImportError: cannot import name 'nothing'", 1),
        ("import json\n\njson.loads('{')", "JSONDecodeError: Expecting property name", 3),
        ("def f():\n    return 1 / 0\nf()", "ZeroDivisionError: division by zero", 2),
        ("import sys\nsys.exit('no')", "SystemExit: no", 2),
        ("assert False", "AssertionError: (no message)", 1),
    ],
)
def test_a_module_that_fails_is_blamed_by_its_line(text: str, what: str, line: int, house: Path) -> None:
    write(house, text)
    with pytest.raises(UsageError) as caught:
        load_object("yard.tree:Tree")
    assert caught.value.what.startswith(f"cannot import yard.tree: {what}")
    assert caught.value.where == f"yard/tree.py:{line}"
    assert caught.value.hint


@pytest.mark.parametrize("reference", ["barn.tree:Tree", "yard.bush:Tree", "yard.tree.leaf:Tree"])
def test_a_module_that_is_not_there(reference: str, house: Path) -> None:
    write(house, "")
    with pytest.raises(UsageError, match=r"no module named|not a package") as caught:
        load_object(reference)
    assert caught.value.where == reference


def test_an_attribute_that_is_not_there_and_the_closest(house: Path) -> None:
    write(house, "def build(): ...")
    with pytest.raises(UsageError, match=r"yard\.tree has no 'biuld'") as caught:
        load_object("yard.tree:biuld")
    assert caught.value.hint == "did you mean 'build'?"


@pytest.mark.parametrize(
    "text", ["", "a", "a.b", "a:", ":b", "a:b:c", "a.:b", "1a:b", "a b:c", "a/b:c", "a:b.", "a:b()"]
)
def test_what_is_not_a_reference(text: str) -> None:
    with pytest.raises(UsageError, match="is not a reference"):
        split(text)


def test_our_own_errors_pass_through_user_code_as_they_are() -> None:
    ours = ModelError("a reason", where="here")
    with pytest.raises(ModelError) as caught, user_code("building", "there"):
        raise ours
    assert caught.value is ours


def test_a_child_blames_the_line_that_raised_what_nobody_knows() -> None:
    with pytest.raises(ChildFailed, match="OwnError: why not") as caught:
        workers.call(raise_own_error, {})
    assert caught.value.where == f"tests/base/test_references.py:{raise_own_error.function.__code__.co_firstlineno + 2}"


def test_a_module_of_another_package_is_found_without_running_any_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "loudpackage/deep").mkdir(parents=True)
    (tmp_path / "loudpackage/__init__.py").write_text("raise SystemExit('it was imported')\n")
    (tmp_path / "loudpackage/deep/net.py").write_text("raise SystemExit('it was imported')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert find_installed("loudpackage") == tmp_path / "loudpackage/__init__.py"
    assert find_installed("loudpackage.deep.net") == tmp_path / "loudpackage/deep/net.py"
    assert find_installed("loudpackage.deep.no") is None and find_installed("nopackage.net") is None
    assert find_installed("json.decoder") is None, "Python's own library is not looked into"
    assert "loudpackage" not in sys.modules


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_a_library_of_the_system_that_lacks_is_no_mistake_of_the_user_s(house: Path, tmp_path: Path) -> None:
    """As Paddle's compiled core needs libgomp: by a real shared object that needs another."""
    for name, needs in (("absent", ()), ("needy", (f"-L{tmp_path}", "-l:libabsent.so"))):
        (tmp_path / f"{name}.c").write_text("int PyInit_needy(void) { return 0; }" if needs else "int absent;")
        command = ["cc", "-shared", "-fPIC", "-Wl,--no-as-needed", f"{name}.c", *needs]
        subprocess.run([*command, "-o", "needy.so" if needs else "libabsent.so"], cwd=tmp_path, check=True)
    (tmp_path / "libabsent.so").unlink()
    write(house, "import needy\n")
    with pytest.raises(EnvironmentLacks, match=r"libabsent\.so: cannot open shared object") as told:
        load_object("yard.tree:Tree")
    assert "libabsent.so" in told.value.hint
