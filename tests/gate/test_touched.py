"""Which specs a change touches: real repositories, every kind of change; what is not known counts."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from exporter.base.errors import UsageError
from exporter.base.git import Base
from exporter.gate.touched import Touched, find_specs, touched
from tests.command import exporter

ALL = {"one", "two", "lib"}
SPEC = (
    "name: {0}\nmodel: nets.{0}:build\nrecipe: ways.{0}:recipe\ninputs: {{input: {{dtype: float32, shape: [1, 4]}}}}\n"
)
WAY = """from exporter.spec.recipe.base import Recipe, Samples
from nets.{0} import build
import numpy as np

def data():
    rows = {{"x": np.zeros((2, 4), np.float32), "y": np.zeros((2, 2), np.float32)}}
    {1}
    return Samples(rows, rows)

recipe = Recipe(
    build, data, ("x",), ("y",), None, None, metric_name="accuracy", optimizer=None, epochs=1, batch_size=1
)
"""
FILES = {
    "specs/one.yaml": SPEC.format("one") + "checkpoint: one.safetensors\n",
    "specs/two.yaml": SPEC.format("two").replace("shape: [1, 4]", "shape: [1, 4], values: two.npy")
    + "candidates: [intel.xml]\n",
    "intel.xml": "",
    "intel.bin": "",
    "specs/lib.yaml": "name: lib\nmodel: paddle.vision.models:LeNet\nweights: factory\n"
    "inputs: {inputs: {dtype: float32, shape: [1, 1, 28, 28]}}\n",
    "nets/one.py": "from nets import shared\nfrom . import beside\nimport paddle\nWHERE = 'nets.by_name:thing'\n"
    "def build():\n    open('loaded.bin', 'rb').close()\n    return paddle.nn.Linear(4, 2)\n",
    "nets/by_name.py": "",
    "loaded.bin": "",
    "nets/two.py": "import numpy, paddle\ndef build():\n    return paddle.nn.Linear(4, 2)\n",
    "nets/shared.py": "from .deep import thing\n",
    "nets/deep.py": "thing = 1\n",
    "nets/beside.py": "",
    "nets/alone.py": "",
    "nets/by_config.py": "",
    "layers.json": '{"kind": "nets.by_config.Layer"}',
    "ways/one.py": WAY.format("one", "np.loadtxt('table.csv')"),
    "ways/two.py": WAY.format("two", "import pathlib; print([*pathlib.Path('pictures').iterdir()])"),
    "table.csv": "1\n",
    "pictures/a.txt": "",
    "pictures/b.txt": "",
    "notes/a.txt": "",
    "one.safetensors": "x",
    "README.md": "x",
    ".gitignore": "ignored.py\n",
}


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "work"
    for name, text in FILES.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    np.save(place / "two.npy", np.zeros((1, 4), np.float32))
    git(place, "init", "-q", "-b", "main")
    git(place, "add", "-A")
    git(place, "commit", "-q", "-m", "first")
    monkeypatch.chdir(place)
    return place


def hit(base: str | None = "main") -> set[str]:
    since = None if base is None else Base(base, "--base")
    told = list(touched(find_specs(()), since, ()))
    print(told)  # shown where a test fails
    return {spec.path.stem for spec in told if spec.why}


def test_no_change_touches_none_and_no_base_touches_all(repository: Path) -> None:
    assert hit() == set()
    assert hit(None) == {"one", "two", "lib"}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("specs/one.yaml", {"one"}),
        ("nets/one.py", {"one"}),
        ("nets/shared.py", {"one"}),
        ("nets/deep.py", {"one"}),
        ("nets/beside.py", {"one"}),
        ("nets/two.py", {"two"}),
        ("ways/two.py", {"two"}),
        ("nets/alone.py", set()),
        ("nets/by_name.py", {"one"}),  # a string of its code says so
        ("nets/by_config.py", ALL),  # and a file that may be a configuration of any
        ("nets/__init__.py", ALL),  # which that one would import first
        ("new_file.py", set()),
        ("numpy.py", ALL),  # it would be imported in the place of an installed one
        ("numpy/deep.py", set()),
        ("ignored.py", set()),
        ("README.md", set()),
        ("docs/more.rst", set()),
        ("specs/new.yaml", {"new"}),
        *[(name, ALL) for name in ("one.safetensors", "two.npy", "intel.xml", "intel.bin", "loaded.bin", "table.csv")],
        *[
            (name, ALL)
            for name in ("pictures/a.txt", "pictures/new.txt", "notes/a.txt", "Dockerfile", "tox.ini", ".gitattributes")
        ],
        *[(name, ALL) for name in ("requirements/cpu.lock", "pyproject.toml", ".github/workflows/gate.yml")],
    ],
)
def test_a_changed_or_new_file(repository: Path, name: str, expected: set[str]) -> None:
    _change(repository / name)
    assert hit() == expected


@pytest.mark.parametrize(("name", "expected"), [("nets/one.py", {"one"}), ("new.toml", ALL), ("README.md", set())])
def test_a_committed_change(repository: Path, name: str, expected: set[str]) -> None:
    git(repository, "checkout", "-q", "-b", "change")
    _change(repository / name)
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "change")
    assert hit() == expected


def _change(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes((path.read_bytes() if path.exists() else b"") + b"# more\n")


def _delete(folder: Path) -> None:
    (folder / "nets/deep.py").unlink()


def _move(folder: Path) -> None:
    git(folder, "mv", "nets/deep.py", "nets/deeper.py")


@pytest.mark.parametrize("change", [_delete, _move])
def test_code_that_is_gone_touches_who_may_have_imported_it(repository: Path, change: Callable[[Path], None]) -> None:
    change(repository)
    assert hit() == {"one"}


@pytest.mark.parametrize(
    "code",
    [
        "import importlib\nimportlib.import_module(K)\n",
        "import importlib\nimportlib.import_module('.alone', 'nets')\n",
        "import importlib\ngetattr(importlib, 'import' + '_module')(K)\n",
        "import importlib as other\nother.import_module(K)\n",
        "from importlib import import_module as get\nget(K)\n",
        "from importlib import import_module\nlist(map(import_module, K))\n",
        "from importlib import util\n",
        "__import__('nets.al' + 'one')\n",
        "exec(open('x').read())\n",
        "import sys\nsys.path.insert(0, 'lib')\n",
        "import subprocess\n",
        "from os import system\n",
        "import pickle\n",
        "def broken(:\n",
    ],
)
def test_where_reading_does_not_tell_what_is_imported_all_code_counts(repository: Path, code: str) -> None:
    (repository / "nets/deep.py").write_text(code)
    git(repository, "commit", "-q", "-a", "-m", "unknown")
    _change(repository / "nets/alone.py")
    if "broken" in code:
        return  # the release says so
    assert hit("HEAD") == {"one"}
    (told,) = (spec for spec in touched(find_specs(()), Base("HEAD", "--base"), ()) if spec.why)
    assert "any module may be imported, since nets/deep.py:" in told.why


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import importlib\nimportlib.import_module('nets.' + 'al' + 'one')\n", {"one"}),
        ("from importlib import import_module as get\nget(f'nets.{K}')\n", {"one"}),
        ("import importlib\nimportlib.import_module('nets.a' + K)\n", {"one"}),
        ("import importlib\nimportlib.import_module('ways.' + K)\n", set()),
    ],
)
def test_a_name_that_is_put_together_counts_with_its_package(repository: Path, code: str, expected: set[str]) -> None:
    (repository / "nets/deep.py").write_text(code)
    git(repository, "commit", "-q", "-a", "-m", "put together")
    _change(repository / "nets/alone.py")
    assert hit("HEAD") == expected


@pytest.mark.parametrize(
    "code", ["from importlib import metadata\n", "import os\nos.environ.get('x')\n", "import re\nre.compile('x')\n"]
)
def test_what_imports_nothing_is_known(repository: Path, code: str) -> None:
    (repository / "nets/deep.py").write_text(code)
    git(repository, "commit", "-q", "-a", "-m", "known")
    _change(repository / "nets/alone.py")
    assert hit("HEAD") == set()


def test_a_spec_may_ignore_files_but_not_what_it_names(repository: Path) -> None:
    path = repository / "specs/one.yaml"
    path.write_text(FILES["specs/one.yaml"] + 'ignores: ["pictures/**", notes, "*.safetensors"]\n')
    git(repository, "commit", "-q", "-a", "-m", "ignores")
    for name, expected in (("pictures/a.txt", ALL - {"one"}), ("notes/a.txt", ALL - {"one"}), ("one.safetensors", ALL)):
        _change(repository / name)
        assert hit("HEAD") == expected, name
        git(repository, "checkout", "-q", "--", name)


def test_why_a_file_does_not_count_is_told(repository: Path) -> None:
    for name in ("README.md", "nets/two.py", "specs/two.yaml"):
        _change(repository / name)
    one, *_ = (spec for spec in touched(find_specs(()), Base("main", "--base"), ()) if spec.path.stem == "one")
    assert one.why == "" and one.excuses == (
        "README.md: it is documentation",
        "nets/two.py: no code of the spec imports it",
        "specs/two.yaml: it is another spec",
    )


def test_what_others_have_changed_in_the_base_since_is_not_ours(repository: Path) -> None:
    git(repository, "checkout", "-q", "-b", "change")
    (repository / "nets/one.py").write_text(FILES["nets/one.py"] + "# more\n")
    git(repository, "commit", "-q", "-a", "-m", "ours")
    git(repository, "checkout", "-q", "main")
    (repository / "nets/two.py").write_text(FILES["nets/two.py"] + "# more\n")
    git(repository, "commit", "-q", "-a", "-m", "theirs")
    git(repository, "checkout", "-q", "change")
    assert hit() == {"one"}


def test_a_shallow_clone_is_told_what_to_fetch(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(repository, "checkout", "-q", "-b", "change")
    git(repository, "commit", "-q", "--allow-empty", "-m", "ours")
    git(
        repository, "clone", "-q", "--depth", "1", "--no-single-branch", f"file://{repository}", str(tmp_path / "clone")
    )
    monkeypatch.chdir(tmp_path / "clone")
    for base in ("origin/main", "nowhere"):
        with pytest.raises(UsageError, match="shallow") as refusal:
            hit(base)
        assert "fetch-depth: 0" in refusal.value.hint


def test_a_base_without_a_commit_in_common(repository: Path) -> None:
    git(repository, "checkout", "-q", "--orphan", "another")
    git(repository, "commit", "-q", "-m", "first of another")
    with pytest.raises(UsageError, match="no commit in common"):
        hit("main")


def test_a_deleted_spec_is_named(repository: Path) -> None:
    (repository / "specs/two.yaml").unlink()
    (repository / "notes/a.yaml").write_text("")
    told = list(touched(find_specs(()), Base("main", "--base"), ()))
    assert [spec for spec in told if spec.deleted] == [Touched(Path("specs/two.yaml"), "", deleted=True)]


def test_a_checkpoint_that_is_gone_touches_its_spec(repository: Path) -> None:
    (repository / "one.safetensors").unlink()
    assert hit() == ALL


def test_a_spec_that_is_wrong_is_touched_so_that_its_release_says_so(repository: Path) -> None:
    (repository / "specs/two.yaml").write_text("name: [")
    git(repository, "commit", "-q", "-a", "-m", "wrong")
    assert hit() == {"two"}
    (repository / "specs/one.yaml").write_text(FILES["specs/one.yaml"].replace("nets.one", "nets.gone"))
    git(repository, "commit", "-q", "-a", "-m", "no such module")
    assert hit() == {"one", "two"}


def test_from_a_folder_below_and_with_strange_names(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = repository / "inner dir"
    for name in ("specs/one.yaml", "nets/one.py", "nets/shared.py", "nets/deep.py", "nets/beside.py", "ways/one.py"):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(FILES[name])
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "inner")
    monkeypatch.chdir(place)
    assert hit("HEAD") == set()
    (place / "nets/deep.py").write_text("thing = 2\n")
    assert hit("HEAD") == {"one"}


@pytest.mark.parametrize("base", ["nowhere", "--output=x", ""])
def test_a_base_that_is_no_commit(repository: Path, base: str) -> None:
    with pytest.raises(UsageError):
        hit(base)
    assert not (repository / "x").exists()


def test_no_repository_and_no_specs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="no spec was found"):
        find_specs(())
    (tmp_path / "specs").mkdir()
    with pytest.raises(UsageError, match="no spec was found"):
        find_specs(())
    with pytest.raises(UsageError, match="no such spec"):
        find_specs([Path("specs/x.yaml")])
    (tmp_path / "specs/x.yaml").write_text("")
    with pytest.raises(UsageError, match="git cannot tell"):
        list(touched(find_specs(()), Base("main", "--base"), ()))


ONE = """name: one
model: {0}
weights: factory
inputs: {{x: {{dtype: float32, shape: [1, 4]}}}}
"""
NET = "import paddle\n\ndef build():\n    return paddle.nn.Linear(4, 2)\n"


def project(place: Path) -> None:
    for name in ("nets", "specs", "data/v1", "data/v2", "src/inside"):
        (place / name).mkdir(parents=True)
    (place / "specs/one.yaml").write_text(ONE.format("nets.net:build"))
    (place / "nets/net.py").write_text("from nets.linked import K\nimport inside.net\n" + NET)
    (place / "nets/real.py").write_text("K = 1\n")
    (place / "nets/linked.py").symlink_to("real.py")
    (place / "src/inside/net.py").write_text(NET)
    (place / "data/v1/table.bin").write_bytes(b"1")
    (place / "data/stable").symlink_to("v1")
    (place / "data/current").symlink_to("stable")
    git(place, "init", "-q", "-b", "main")
    git(place, "add", "-A")
    git(place, "commit", "-q", "-m", "first")


def test_a_link_on_the_way_that_leads_elsewhere_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    project(tmp_path)
    assert hit() == set()
    (tmp_path / "data/stable").unlink()
    (tmp_path / "data/stable").symlink_to("v2")
    assert hit() == {"one"}
    git(tmp_path, "checkout", "-q", "--", ".")
    (tmp_path / "nets/linked.py").unlink()
    (tmp_path / "nets/linked.py").symlink_to("net.py")
    assert hit() == {"one"}


@pytest.mark.parametrize("name", ["nets/real.py", "src/inside/net.py"])
def test_code_behind_a_link_and_below_src_counts(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    project(tmp_path)
    _change(tmp_path / name)
    assert hit() == {"one"}


@pytest.mark.parametrize("committed", [True, False])
def test_a_submodule_counts_for_all_that_lies_in_it(
    committed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/net.py").write_text("import paddle\ndef build():\n    return paddle.nn.Linear(4, 2)\n")
    git(tmp_path / "lib", "init", "-q", "-b", "main")
    git(tmp_path / "lib", "add", "-A")
    git(tmp_path / "lib", "commit", "-q", "-m", "first")
    place = tmp_path / "top"
    (place / "specs").mkdir(parents=True)
    (place / "specs/one.yaml").write_text(ONE.format("lib.net:build").replace("x:", "input:"))
    (place / "specs/lib.yaml").write_text(FILES["specs/lib.yaml"])
    git(place, "init", "-q", "-b", "main")
    git(place, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(tmp_path / "lib"), "lib")
    git(place, "add", "-A")
    git(place, "commit", "-q", "-m", "first")
    monkeypatch.chdir(place)
    assert hit() == set()
    git(place, "checkout", "-q", "-b", "change")
    _change(place / "lib/net.py")
    if committed:
        git(place / "lib", "commit", "-q", "-a", "-m", "second")
        git(place, "add", "lib")
        git(place, "commit", "-q", "-m", "another lib")
    git(place, "config", "diff.ignoreSubmodules", "all")
    assert hit() == {"one", "lib"}


def test_specs_lie_at_any_depth_and_in_any_case(repository: Path) -> None:
    (repository / "specs/team/.hidden").mkdir(parents=True)
    (repository / "specs/team/.hidden/not.yaml").write_text("")
    git(repository, "mv", "specs/two.yaml", "specs/team/two.YAML")
    (repository / "specs/team/up").symlink_to("..")
    assert [str(path) for path in find_specs(())] == ["specs/lib.yaml", "specs/one.yaml", "specs/team/two.YAML"]
    git(repository, "commit", "-q", "-m", "moved")
    git(repository, "rm", "-q", "specs/team/two.YAML")
    told = list(touched(find_specs(()), Base("main", "--base"), ()))
    assert told[-1] == Touched(Path("specs/team/two.YAML"), "", deleted=True)


@pytest.mark.parametrize(
    "name", ["requirements/base.txt", "constraints.txt", "environment.yml", "Pipfile", "dev-requirements.txt"]
)
def test_what_pins_the_toolchain(repository: Path, name: str) -> None:
    _change(repository / name)
    assert hit() == {"one", "two", "lib"}


@pytest.mark.parametrize("bit", ["--assume-unchanged", "--skip-worktree"])
def test_what_git_is_told_not_to_compare_counts_as_changed(repository: Path, bit: str) -> None:
    git(repository, "update-index", bit, "nets/shared.py")
    (repository / "nets/shared.py").write_text("from .deep import thing\nX = 1\n")
    assert hit() == {"one"}


def test_the_list_says_why_files_do_not_count(repository: Path) -> None:
    _change(repository / "README.md")
    done = exporter("gate", "--list", "--why", "--base", "main", "specs/one.yaml", cwd=repository)
    assert done.code == 0 and "untouched specs/one.yaml\n  README.md: it is documentation\n" in done.out
