"""Provenance and bill of materials that state something else than the bundle is are refused, sealed again or not."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evals.hostile.seal import seal
from exporter.base.errors import BundleError
from exporter.base.files import readable_json, sha256_file
from exporter.bundle.manifest import sealed
from exporter.bundle.open import open_bundle
from tests.command import STORED
from tests.documents import state_again

PROVENANCE, BOM = "provenance.intoto.json", "bom.cdx.json"


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    return Path(shutil.copytree(STORED, tmp_path / "bundle"))


def _definition(statement: dict[str, Any]) -> dict[str, Any]:
    definition: dict[str, Any] = statement["predicate"]["buildDefinition"]
    return definition


def _file(statement: dict[str, Any]) -> dict[str, Any]:
    """The file of the model's code, which the manifest records as well."""
    every = _definition(statement)["resolvedDependencies"]
    found: dict[str, Any] = next(entry for entry in every if entry["name"] == "pictures.py")
    return found


def _package(statement: dict[str, Any]) -> dict[str, Any]:
    every = _definition(statement)["resolvedDependencies"]
    found: dict[str, Any] = next(entry for entry in every if entry["name"] == "numpy")
    return found


CONTRADICTIONS: list[tuple[str, Callable[[Any], object], str]] = [
    (PROVENANCE, lambda told: told["subject"].pop(), "its subject has"),
    (PROVENANCE, lambda told: told["subject"].append(told["subject"][0]), "its subject has"),
    (PROVENANCE, lambda told: told["subject"][0].update(name="other"), "its subject has 'other'"),
    (PROVENANCE, lambda told: told["subject"][0]["digest"].update(sha256="0" * 64), "its subject has"),
    (PROVENANCE, lambda told: told["subject"][0]["digest"].update(sha512="0" * 128), "its subject has"),
    (PROVENANCE, lambda told: told.update(subject=None), "is wrong at subject"),
    (PROVENANCE, lambda told: told.update(predicateType="https://slsa.dev/provenance/v0.2"), "it is no https"),
    (PROVENANCE, lambda told: _definition(told)["externalParameters"]["spec"].update(budget=64), "its spec is not"),
    (PROVENANCE, lambda told: _definition(told)["internalParameters"].update(python="2.7"), "its 'python' is not"),
    (
        PROVENANCE,
        lambda told: _file(told)["digest"].update(sha256="0" * 64),
        "is not the one",
    ),
    (PROVENANCE, lambda told: _package(told).update(uri="pkg:pypi/numpy@0.0.1"), "its numpy is 0.0.1"),
    (PROVENANCE, lambda told: told["predicate"]["runDetails"]["builder"]["version"].update(exporter="9"), "built by"),
    (BOM, lambda told: told.update(bomFormat="SPDX"), "no bill of CycloneDX"),
    (BOM, lambda told: told["metadata"]["component"].update(name="other"), "it is about 'other'"),
    (BOM, lambda told: told["metadata"]["component"].update(version="9"), "'9'"),
    (BOM, lambda told: told["components"].pop(0), "its list has"),
    (BOM, lambda told: told["components"][0]["hashes"][0].update(content="0" * 64), "its list has"),
    (BOM, lambda told: told["components"][0].update(hashes=[]), "its list has"),
    (BOM, lambda told: told.update(components={}), "is wrong at components"),
]


def sealed_as_it_lies(bundle: Path, content: dict[str, Any]) -> None:
    """Make sizes, hashes and the digest right, and leave the documents as they lie."""
    content["files"] = {
        name: {"sha256": sha256_file(bundle / name), "size": (bundle / name).stat().st_size}
        for name in content["files"]
    }
    (bundle / "manifest.json").write_bytes(sealed(content))


@pytest.mark.parametrize(("name", "change", "said"), CONTRADICTIONS)
def test_a_document_that_contradicts_the_bundle_is_refused(
    bundle: Path, name: str, change: Callable[[Any], object], said: str
) -> None:
    content = json.loads((bundle / name).read_bytes())
    change(content)
    (bundle / name).write_bytes(readable_json(content))
    sealed_as_it_lies(bundle, json.loads((bundle / "manifest.json").read_bytes()))
    with pytest.raises(BundleError, match=said) as caught:
        open_bundle(bundle)
    assert caught.value.where.endswith(name)


def test_what_cannot_be_compared_may_be_anything_and_stating_it_again_changes_nothing(bundle: Path) -> None:
    content = json.loads((bundle / "manifest.json").read_bytes())
    statement = json.loads((bundle / PROVENANCE).read_bytes())
    _definition(statement)["resolvedDependencies"].append({"name": "more", "uri": "pkg:pypi/more@1"})
    (bundle / PROVENANCE).write_bytes(readable_json(statement))
    sealed_as_it_lies(bundle, content)
    open_bundle(bundle)
    before = (bundle / BOM).read_bytes()
    state_again(bundle, content)
    assert json.loads((bundle / BOM).read_bytes())["components"] == json.loads(before)["components"]


def test_documents_of_any_shape_are_refused_and_raise_nothing_else(bundle: Path) -> None:
    content = json.loads((bundle / "manifest.json").read_bytes())
    for name in (PROVENANCE, BOM):
        whole = (bundle / name).read_bytes()
        for told in (b"", b"null", b"[]", b"7", b'{"_type": {}}', b'{"components": [[]]}', b"[" * 100_000):
            (bundle / name).write_bytes(told)
            sealed_as_it_lies(bundle, content)
            with pytest.raises(BundleError):
                open_bundle(bundle)
        (bundle / name).write_bytes(whole)


def test_a_program_of_another_kind_is_damage_and_no_mistake_of_the_user(bundle: Path) -> None:
    path = bundle / "pir/model.json"
    path.write_bytes(readable_json(json.loads(path.read_bytes()) | {"base_code": 7}))
    seal(bundle, json.loads((bundle / "manifest.json").read_bytes()))
    with pytest.raises(BundleError, match="not a PIR program"):
        open_bundle(bundle)
