"""Which specs a change touches: real repositories, every kind of change; in doubt a spec is touched."""

from __future__ import annotations

import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from exporter.base.errors import UsageError
from exporter.base.git import Base
from exporter.base.tensors import save
from exporter.gate.touched import Touched, find_specs, touched
from exporter.process.workers import Setting

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
    "nets/one.py": "from nets import shared\nfrom . import beside\nimport importlib, paddle\n"
    "def build():\n    open('loaded.bin', 'rb').close()\n    importlib.import_module('nets.' + 'by_name')\n"
    "    return paddle.nn.Linear(4, 2)\n",
    "nets/by_name.py": "",
    "loaded.bin": "",
    "nets/two.py": "import numpy, paddle\ndef build():\n    return paddle.nn.Linear(4, 2)\n",
    "nets/shared.py": "from .deep import thing\n",
    "nets/deep.py": "thing = 1\n",
    "nets/beside.py": "",
    "nets/alone.py": "",
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
    told = list(touched(find_specs(()), since, (), Setting()))
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
        ("one.safetensors", {"one"}),
        ("two.npy", {"two"}),
        ("intel.xml", {"two"}),
        ("intel.bin", {"two"}),
        ("nets/alone.py", set()),
        ("nets/by_name.py", {"one"}),
        ("loaded.bin", {"one"}),
        ("table.csv", {"one"}),
        ("pictures/a.txt", {"two"}),
        ("pictures/new.txt", {"two"}),
        ("notes/a.txt", set()),
        ("README.md", set()),
        ("nets/__init__.py", {"one", "two"}),
        ("new_file.py", set()),
        ("ignored.py", set()),
        ("requirements/cpu.lock", {"one", "two", "lib"}),
        ("pyproject.toml", {"one", "two", "lib"}),
    ],
)
def test_a_changed_or_new_file(repository: Path, name: str, expected: set[str]) -> None:
    _change(repository / name)
    assert hit() == expected


@pytest.mark.parametrize(("name", "expected"), [("nets/one.py", {"one"}), ("new.toml", set()), ("table.csv", {"one"})])
def test_a_committed_change(repository: Path, name: str, expected: set[str]) -> None:
    git(repository, "checkout", "-q", "-b", "change")
    _change(repository / name)
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "change")
    assert hit() == expected


def _change(path: Path) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes((path.read_bytes() if path.exists() else b"") + b"# more\n")


def _delete(folder: Path) -> None:
    (folder / "nets/deep.py").unlink()


def _move(folder: Path) -> None:
    git(folder, "mv", "nets/deep.py", "nets/deeper.py")


@pytest.mark.parametrize("change", [_delete, _move])
def test_code_that_is_gone_may_have_been_imported_by_any(repository: Path, change: Callable[[Path], None]) -> None:
    change(repository)
    assert hit() == {"one", "two", "lib"}


def test_a_file_that_was_listed_and_is_gone(repository: Path) -> None:
    (repository / "notes/a.txt").unlink()
    assert hit() == set()
    (repository / "pictures/b.txt").unlink()
    assert hit() == {"two"}


def test_a_model_that_cannot_be_built_is_touched_by_any_change(repository: Path) -> None:
    (repository / "nets/two.py").write_text("def build():\n    raise ValueError\n")
    git(repository, "commit", "-q", "-a", "-m", "broken")
    assert hit() == set()
    (repository / "README.md").write_text("another text")
    assert hit() == {"two"}


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
    told = list(touched(find_specs(()), Base("main", "--base"), (), Setting()))
    assert [spec for spec in told if spec.deleted] == [Touched(Path("specs/two.yaml"), "", deleted=True)]


def test_a_checkpoint_that_is_gone_touches_its_spec(repository: Path) -> None:
    (repository / "one.safetensors").unlink()
    assert hit() == {"one"}


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
        list(touched(find_specs(()), Base("main", "--base"), (), Setting()))


NET = """
import os, sqlite3, subprocess
from importlib import import_module
import numpy as np
import paddle

class Net(paddle.nn.Layer):
    def __init__(self, reads):
        super().__init__()
        self.layer, self.reads = paddle.nn.Linear(4, 2), reads
        if reads == "database":
            sqlite3.connect("numbers.db").execute("select 1")
        if reads == "mapped":
            np.memmap("table.bin", "float32")
        if reads == "process":
            subprocess.check_output(["cat", "table.bin"])
        if reads == "asks":
            os.path.exists("maybe.txt")

    def forward(self, x):
        if self.reads == "forward":
            import_module("nets.cons" + "tant")
            open("table.bin").close()
        if self.reads == "linked":
            from nets.linked import K
        return self.layer(x)
"""
ONE = """name: one
model: nets.net:Net
args: {{reads: {0}}}
weights: factory
inputs: {{x: {{dtype: float32, shape: [1, 4]}}}}
"""
STEPS = """
def prepare(value):
    return value.astype("float32")

def answer(state):
    open("words.txt").close()
    return state["output_0"].argmax()
"""
PIPELINE = """pipeline:
  samples: ["raw/**/*.npy"]
  preprocess: {training: [{cast: {dtype: float32}}], deployment: "nets.steps:prepare"}
  postprocess: {training: [argmax], deployment: "nets.steps:answer"}
"""


def project(place: Path, spec: str) -> None:
    (place / "nets").mkdir()
    (place / "specs").mkdir()
    (place / "raw/deep").mkdir(parents=True)
    (place / "specs/one.yaml").write_text(spec)
    (place / "nets/net.py").write_text(NET)
    (place / "nets/constant.py").write_text("")
    (place / "nets/real.py").write_text("K = 1\n")
    (place / "nets/linked.py").symlink_to("real.py")
    (place / "nets/steps.py").write_text(STEPS)
    for name in ("table.bin", "words.txt"):
        (place / name).write_bytes(b"1234")
    np.save(place / "raw/deep/a.npy", np.zeros(4, np.float64))
    save(place / "rows.safetensors", {"x": np.zeros((8, 4), np.float32)})
    sqlite3.connect(place / "numbers.db").execute("create table numbers (number)").connection.close()
    git(place, "init", "-q", "-b", "main")
    git(place, "add", "-A")
    git(place, "commit", "-q", "-m", "first")


@pytest.mark.parametrize(
    ("spec", "names"),
    [
        (ONE.format("forward"), ("nets/constant.py", "table.bin")),
        (ONE.format("linked"), ("nets/real.py",)),
        (ONE.format("database"), ("numbers.db",)),
        (ONE.format("mapped"), ("table.bin",)),
        (ONE.format("asks"), ("maybe.txt",)),
        (ONE.format("nothing") + PIPELINE, ("nets/steps.py", "raw/deep/a.npy", "raw/new.npy", "words.txt")),
        (ONE.format("nothing") + "precisions: {fp32: , int8: {data: rows.safetensors}}\n", ("rows.safetensors",)),
    ],
)
def test_whatever_the_spec_names_or_its_code_reads(
    spec: str, names: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    project(tmp_path, spec)
    (tmp_path / "README.md").write_text("x")
    assert hit() == set()
    for name in names:
        before = (tmp_path / name).read_bytes() if (tmp_path / name).exists() else None
        _change(tmp_path / name)
        assert hit() == {"one"}, name
        (tmp_path / name).unlink() if before is None else (tmp_path / name).write_bytes(before)


def test_what_a_process_reads_is_told_by_depends_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    project(tmp_path, ONE.format("process"))
    assert hit() == set()
    (tmp_path / "README.md").write_text("x")
    (told,) = touched(find_specs(()), Base("main", "--base"), (), Setting())
    assert "the process cat may have read" in told.why and "`depends`" in told.why
    (tmp_path / "specs/one.yaml").write_text(ONE.format("process") + "depends: [table.bin]\n")
    git(tmp_path, "commit", "-q", "-a", "-m", "named")
    assert hit() == set()
    _change(tmp_path / "table.bin")
    assert hit() == {"one"}


def test_a_link_that_leads_elsewhere_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    project(tmp_path, ONE.format("linked"))
    (tmp_path / "nets/linked.py").unlink()
    (tmp_path / "nets/linked.py").symlink_to("constant.py")
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
    text = ONE.format("").replace("args: {reads: }\n", "").replace("x:", "input:")
    (place / "specs/one.yaml").write_text(text.replace("nets.net:Net", "lib.net:build"))
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
    assert hit() == {"one"}


def test_specs_lie_at_any_depth_and_in_any_case(repository: Path) -> None:
    (repository / "specs/team/.hidden").mkdir(parents=True)
    (repository / "specs/team/.hidden/not.yaml").write_text("")
    git(repository, "mv", "specs/two.yaml", "specs/team/two.YAML")
    (repository / "specs/team/up").symlink_to("..")
    assert [str(path) for path in find_specs(())] == ["specs/lib.yaml", "specs/one.yaml", "specs/team/two.YAML"]
    git(repository, "commit", "-q", "-m", "moved")
    git(repository, "rm", "-q", "specs/team/two.YAML")
    told = list(touched(find_specs(()), Base("main", "--base"), (), Setting()))
    assert told[-1] == Touched(Path("specs/team/two.YAML"), "", deleted=True)


@pytest.mark.parametrize(
    "name", ["requirements/base.txt", "constraints.txt", "environment.yml", "Pipfile", "dev-requirements.txt"]
)
def test_what_pins_the_toolchain(repository: Path, name: str) -> None:
    _change(repository / name)
    assert hit() == {"one", "two", "lib"}
