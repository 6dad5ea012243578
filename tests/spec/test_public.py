"""What a user's recipe imports has one name that stays, and is the same class under both names."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

from exporter.spec.public import PUBLIC
from tests.command import environment


@pytest.mark.parametrize(("public", "own"), PUBLIC.items())
def test_a_public_package_is_the_package_itself(public: str, own: str) -> None:
    assert importlib.import_module(public) is importlib.import_module(own)


@pytest.mark.parametrize(
    "order",
    [("exporter.recipe.base", "exporter.spec.recipe.base"), ("exporter.spec.recipe.base", "exporter.recipe.base")],
)
def test_a_class_is_one_class_whoever_imports_it_first(order: tuple[str, str]) -> None:
    script = (
        f"from {order[0]} import Recipe as first\nfrom {order[1]} import Recipe as second\n"
        "import sys; module = sys.modules['exporter.spec.recipe.base']\n"
        "print(first is second, module.__spec__.name, first.__module__)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment(), check=True)
    assert done.stdout.split() == ["True", "exporter.spec.recipe.base", "exporter.spec.recipe.base"]


def test_what_is_not_there_is_said_by_its_public_name() -> None:
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("exporter.recipe.nothing")
