"""`doctor --bom BUNDLE --advisories FILE`: exit 1 where one applies, 0 where none does, 2 where it cannot be told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from exporter.bundle.trust.advisories import compare
from tests.bundle.trust.material import bundle_in, reseal
from tests.command import exporter, refused


def advisory(*affected: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"id": "OSV-1", "summary": "a hole", "affected": list(affected), **more}


def package(name: str = "NumPy", **more: Any) -> dict[str, Any]:
    return {"package": {"ecosystem": "PyPI", "name": name}, **more}


def events(*pairs: tuple[str, str], kind: str = "ECOSYSTEM") -> dict[str, Any]:
    return {"ranges": [{"type": kind, "events": [{key: text} for key, text in pairs]}]}


def bill(folder: Path, **versions: str) -> Path:
    parts = [{"type": "library", "name": name, "purl": f"pkg:pypi/{name}@{own}"} for name, own in versions.items()]
    path = folder / "bom.json"
    path.write_text(json.dumps({"bomFormat": "CycloneDX", "specVersion": "1.6", "components": parts}))
    return path


def hits(folder: Path, own: str, *affected: dict[str, Any], **more: Any) -> int:
    path = folder / "advisories.json"
    path.write_text(json.dumps(advisory(*affected, **more)))
    return len(compare(bill(folder, numpy=own), path).hits)


INTRODUCED = ("introduced", "0")


@pytest.mark.parametrize(
    ("own", "span", "within"),
    [
        ("1.9", [INTRODUCED, ("fixed", "2.0")], True),
        ("2.0", [INTRODUCED, ("fixed", "2.0")], False),
        ("1.10", [INTRODUCED, ("fixed", "1.9")], False),  # as numbers, not as text
        ("2.0rc1", [INTRODUCED, ("fixed", "2.0")], True),
        ("1.0", [("introduced", "1.1"), ("fixed", "2.0")], False),
        ("1.1", [("introduced", "1.1"), ("fixed", "2.0")], True),
        ("2.5", [("introduced", "1.1"), ("fixed", "2.0"), ("introduced", "2.4"), ("fixed", "2.6")], True),
        ("2.2", [("fixed", "2.6"), ("introduced", "2.4"), ("fixed", "2.0"), ("introduced", "1.1")], False),
        ("2.0", [INTRODUCED, ("last_affected", "2.0")], True),
        ("2.0.1", [INTRODUCED, ("last_affected", "2.0")], False),
        ("9", [INTRODUCED], True),
        ("2.0", [("introduced", "1.0"), ("fixed", "2.0"), ("introduced", "2.0")], True),
        ("no version", [("introduced", "1.0"), ("fixed", "2.0")], True),  # what cannot be compared is not cleared
        ("1.5", [("introduced", "who knows")], True),
    ],
)
def test_ranges(own: str, span: list[tuple[str, str]], within: bool, tmp_path: Path) -> None:
    assert hits(tmp_path, own, package(**events(*span))) == within


def test_listed_versions_and_names(tmp_path: Path) -> None:
    assert hits(tmp_path, "1.5", package(versions=["1.4", "1.5"])) == 1
    assert hits(tmp_path, "1.5.0", package(versions=["1.5"])) == 1
    assert hits(tmp_path, "1.6", package(versions=["1.4", "1.5"])) == 0
    assert hits(tmp_path, "1.5", package("other", versions=["1.5"])) == 0
    other = {"package": {"ecosystem": "npm", "name": "numpy"}, "versions": ["1.5"]}
    assert hits(tmp_path, "1.5", other) == 0
    assert hits(tmp_path, "1.5", package(versions=["1.5"]), withdrawn="2026-01-01T00:00:00Z") == 0
    assert hits(tmp_path, "1.5", package(**events(INTRODUCED, kind="GIT"))) == 0


def test_a_bundle_with_and_without_a_hole(tmp_path: Path) -> None:
    bundle, file = bundle_in(tmp_path), tmp_path / "advisories.json"
    sound = advisory(package("paddlepaddle", **events(INTRODUCED, ("fixed", "1.0"))))
    hole = {**advisory(package("PaddlePaddle", **events(INTRODUCED, ("fixed", "99")))), "id": "OSV-\x1b[31m2"}
    file.write_text(json.dumps([sound]))
    done = exporter("doctor", "--bom", bundle, "--advisories", file, cwd=tmp_path)
    assert done.code == 0 and "1 advisories: 0 apply" in done.out
    file.write_text(json.dumps({"vulns": [sound, hole]}))
    done = exporter("doctor", "--bom", bundle, "--advisories", file, cwd=tmp_path)
    assert done.code == 1 and "paddlepaddle 3.3.1: a hole; fixed in 99" in done.out and "\x1b" not in done.out
    told = exporter("doctor", "--bom", bundle / "bom.cdx.json", "--advisories", file, "--json", cwd=tmp_path)
    assert told.code == 1 and [hit["package"] for hit in told.json()["hits"]] == ["paddlepaddle"]


def test_the_bill_of_a_damaged_bundle_is_not_read(tmp_path: Path) -> None:
    bundle, file = bundle_in(tmp_path), tmp_path / "advisories.json"
    file.write_text(json.dumps(advisory()))
    (bundle / "bom.cdx.json").write_text("{}")
    refused(exporter("doctor", "--bom", bundle, "--advisories", file, cwd=tmp_path), 5, "bom.cdx.json")
    content = json.loads((bundle / "manifest.json").read_bytes())
    for name in content.pop("documents").values():
        (bundle / name).unlink()
    reseal(bundle, content)
    refused(
        exporter("doctor", "--bom", bundle, "--advisories", file, cwd=tmp_path),
        5,
        "names no provenance.intoto.json and no bom.cdx.json",
    )


@pytest.mark.parametrize(
    "content",
    [
        *("", "[]", "{}", "1", '{"vulns": 3}', '[{"id": "a", "affected": [{}]}]', '{"id": "a", "affected": 7}'),
        "[" * 99_999,
        '{"id": "a", "affected": [{"package": {"ecosystem": "PyPI", "name": "numpy"}, "ranges": [{}]}]}',
        '{"id": "a", "affected": [{"package": {"ecosystem": "PyPI", "name": "numpy"}, "versions": [1]}]}',
    ],
)
def test_what_is_no_advisory_clears_nothing(content: str, tmp_path: Path) -> None:
    file = tmp_path / "advisories.json"
    file.write_text(content)
    done = exporter("doctor", "--bom", bill(tmp_path, numpy="1.0"), "--advisories", file, cwd=tmp_path)
    refused(done, 2, "advisories.json")


def test_the_two_options_go_together(tmp_path: Path) -> None:
    refused(exporter("doctor", "--bom", ".", cwd=tmp_path), 2, "--advisories")
    refused(exporter("doctor", "--advisories", "x", cwd=tmp_path), 2, "--bom")
    file = tmp_path / "a.json"
    file.write_text(json.dumps(advisory()))
    for other in (tmp_path / "nowhere", file):
        refused(exporter("doctor", "--bom", other, "--advisories", file, cwd=tmp_path), 2, other.name)
