"""A reference may name what a package only hands on."""

from __future__ import annotations

from pathlib import Path

import pytest

from exporter.check.run import examine
from exporter.check.targets import resolve


def test_names_are_followed_to_where_they_are_defined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "zoo"
    (package / "deep").mkdir(parents=True)
    (package / "__init__.py").write_text("from .deep import build as make\n")
    (package / "deep/__init__.py").write_text("from zoo.deep.net import build\n")
    (package / "deep/net.py").write_text("def build():\n    return None\n")
    monkeypatch.chdir(tmp_path)
    (target,) = resolve(["zoo:make"])
    assert (target.path.relative_to(tmp_path), target.name) == (Path("zoo/deep/net.py"), "build")


def test_two_packages_that_hand_on_to_each_other_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "one.py").write_text("from other import net\n")
    (tmp_path / "other.py").write_text("from one import net\n")
    monkeypatch.chdir(tmp_path)
    (target,) = resolve(["one:net"])
    assert target.name == "net"


@pytest.mark.parametrize("imported", ["from otherpkg import Net", "import otherpkg.nets as nets"])
def test_a_file_that_only_builds_what_lies_in_another_package_is_checked(
    imported: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "elsewhere" / "otherpkg"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("from .nets import Net\n")
    (package / "nets.py").write_text(
        "import numpy\nimport paddle\n\n\nclass Net(paddle.nn.Layer):\n    def forward(self, x):\n"
        "        return paddle.to_tensor(numpy.sort(x * 2.0))\n"
    )
    made = "Net" if imported.endswith("Net") else "nets.Net"
    work = tmp_path / "work"
    work.mkdir()
    (work / "build.py").write_text(f"{imported}\n\n\ndef make():\n    return {made}()\n")
    monkeypatch.chdir(work)
    monkeypatch.syspath_prepend(package.parent)
    examination = examine(["build.py"])
    assert [(each.code, each.location.line) for each in examination.findings] == [("EX113", 7)]
    assert examination.layers == 1


def test_paddles_own_modules_are_a_library_also_to_each_other() -> None:
    pytest.importorskip("paddle")
    examined = examine(["paddle.vision.models:squeezenet1_0"])
    assert (examined.layers, examined.findings) == (3, ())
