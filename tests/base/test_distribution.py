"""What a hint tells a user to install can be installed, and is ours or a package that we declare."""

from __future__ import annotations

import re
import shlex
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from exporter.base.distribution import NAME, how_to_install, requirements
from tests.command import ROOT


@pytest.mark.parametrize("extra", ["cpu", "convert", "paddle2onnx", "train", "openvino"])
def test_a_hint_names_the_packages_that_the_extra_declares(extra: str) -> None:
    words = shlex.split(how_to_install(extra).partition("pip install ")[2])
    named = {Requirement(word).name for word in words if not word.startswith("-")}
    assert named == {Requirement(wanted).name for wanted in requirements(extra)} != set()
    assert NAME not in named and "exporter" not in named
    assert ("--no-deps" in words) is (extra == "paddle2onnx")


def test_the_ranges_are_those_of_the_installation() -> None:
    assert requirements("openvino") == ("openvino==2026.*",)
    assert any(Requirement(wanted).specifier.contains("2.1.0") for wanted in requirements("paddle2onnx"))


def test_an_extra_that_is_none_is_a_mistake_of_ours() -> None:
    with pytest.raises(ValueError, match="no extra 'onvert'"):
        how_to_install("onvert")


def test_where_exporter_is_not_installed_the_script_is_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exporter.base.distribution.NAME", "paddle-exporter-that-is-not-here")
    assert how_to_install("openvino") == "scripts/install"


def test_no_text_of_ours_installs_a_package_that_is_called_exporter() -> None:
    """On the package index that name is a stranger's."""
    wrong = re.compile(r"pip install[^\n]*\bexporter\b(?!/)|install exporter\[")
    files = [
        *(ROOT / "exporter").rglob("*.py"),
        *(ROOT / "docs").rglob("*.md"),
        ROOT / "README.md",
        ROOT / "CHANGELOG.md",
    ]
    assert not [str(path.relative_to(ROOT)) for path in files if wrong.search(_without_our_name(path))]


def _without_our_name(path: Path) -> str:
    text = path.read_text()
    return "" if path.name == "distribution.py" else text.replace(NAME, "")


def test_the_installed_distribution_is_ours() -> None:
    assert distribution(NAME).version
    assert {point.name for point in distribution(NAME).entry_points} == {"exporter", "export"}
