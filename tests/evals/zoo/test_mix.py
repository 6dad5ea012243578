"""The families of PaddleMIX and PaddleSeg's newest: what holds without their checkouts."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest

from evals.zoo.checkouts import variable
from evals.zoo.families import mix, nlp, segmentation

FAMILIES = {"mix": (mix, "ppdiffusers/ppdiffusers"), "segmentation": (segmentation, "paddleseg")}


@pytest.mark.parametrize("name", FAMILIES)
def test_without_a_checkout_there_are_no_networks_and_a_wrong_one_is_named(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    family, holds = FAMILIES[name]
    monkeypatch.delenv(variable(name), raising=False)
    assert family.networks() == []
    monkeypatch.setenv(variable(name), str(tmp_path))
    with pytest.raises(SystemExit, match=f"holds no {holds}"):
        family.networks()


@pytest.mark.parametrize("family", [mix, segmentation])
def test_every_dim_of_a_network_has_sizes_and_every_name_is_its_own(family: ModuleType) -> None:
    assert len({entry.name for entry in family.ENTRIES}) == len(family.ENTRIES)
    for entry in family.ENTRIES:
        assert set(entry.dims) <= set(family.DIMS)


def test_stand_ins_are_there_while_a_package_is_imported_and_gone_behind() -> None:
    with nlp.clients(frozenset({"a_hub_of_models"})):
        hub = importlib.import_module("a_hub_of_models.api")
        assert issubclass(hub.NotThereError, Exception)
        assert hub.CACHE == "", "a constant of a hub may be a path"
    assert "a_hub_of_models" not in sys.modules
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("a_hub_of_models")
