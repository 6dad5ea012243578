"""`verify --page`: the page of a stored bundle, with its digest and the speed of its engine here."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from exporter.base.git import State
from exporter.bundle.facts import facts_in, facts_of
from exporter.bundle.manifest import sealed
from exporter.bundle.open import Bundle, open_bundle, recorded_spec
from exporter.prove.judge.facts import Trained
from tests.command import STORED, exporter, refused


def test_a_page_is_written_with_what_the_bundle_is_and_how_fast(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    done = exporter("verify", STORED, "--engines", "onnxruntime", "--page", page, "--bench", "-q", cwd=tmp_path)
    assert done.code == 0, done.err
    told = " ".join(unescape(re.sub(r"<[^>]*>", " ", page.read_text("utf-8"))).split())
    manifest = json.loads((STORED / "manifest.json").read_bytes())
    assert manifest["digest"] in told and "not signed: exporter sign BUNDLE --key K.pem" in told
    size = sum(manifest["files"][name]["size"] for name in manifest["variants"]["onnx"]["files"])
    row = rf"onnx by onnxruntime .* holds \d+ of \d+ {size / 1e3:,.1f} kB [\d.]+ ms [\d.]+ ms [\d,]+ rows/s"
    assert re.search(row, told) and "Latency of one call at batch=" in told
    assert "The plan was narrowed on purpose: only the engines onnxruntime" in told
    assert "in no commit" in told and "no training is recorded" in told


def test_a_page_that_cannot_be_is_refused_before_any_work(tmp_path: Path) -> None:
    refused(exporter("verify", STORED, "--bench", cwd=tmp_path), 2, "--bench is about the page", "--page FILE.html")
    inside = STORED / "page.html"
    refused(exporter("verify", STORED, "--page", inside, cwd=tmp_path), 2, "lies in the bundle", "beside the bundle")
    assert not inside.exists()


@pytest.mark.parametrize(
    ("training", "expected"),
    [
        ({}, None),
        ({"metric": {"accuracy": 0.5}}, Trained("", "accuracy", 0.5)),
        ({"recipe": "m:r", "metric": {"f1": 1}, "interval": [0, 1]}, Trained("m:r", "f1", 1.0, (0.0, 1.0))),
    ],
)
def test_the_training_of_a_manifest_is_told(training: dict[str, Any], expected: Trained | None) -> None:
    bundle = open_bundle(STORED)
    content = bundle.manifest.model_copy(update={"provenance": {"training": training}})
    assert facts_of(content, recorded_spec(content), STORED, None).trained == expected


@pytest.mark.parametrize("training", [{"metric": {"a": "b"}}, {"interval": [1]}, {"metric": 3}, "much"])
def test_a_stranger_s_training_is_refused_with_the_manifest(training: Any) -> None:
    from exporter.base.errors import BundleError
    from exporter.bundle.manifest import parse

    content = json.loads((STORED / "manifest.json").read_bytes())
    content["provenance"]["training"] = training
    with pytest.raises(BundleError, match="the manifest is wrong at provenance"):
        parse(sealed(content), "here")


@pytest.mark.parametrize(
    ("dependency", "expected"),
    [
        ({"digest": {"gitCommit": "abc"}, "annotations": {"dirty": False}}, State("abc", dirty=False)),
        ({"digest": {"gitCommit": "abc"}, "annotations": {"dirty": True}}, State("abc", dirty=True)),
        ({"digest": {"gitCommit": "abc"}}, State("abc", dirty=True)),
        ({"digest": {"gitCommit": "abc"}, "annotations": "clean"}, State("abc", dirty=True)),
        ({"digest": {"sha256": "abc"}}, None),
        ({}, None),
    ],
    ids=str,
)
def test_the_commit_is_the_one_that_the_provenance_states(
    dependency: dict[str, Any], expected: State | None, tmp_path: Path
) -> None:
    """What does not say that nothing was changed is taken to be."""
    statement = {"predicate": {"buildDefinition": {"resolvedDependencies": [{}, dependency]}}}
    (tmp_path / "provenance.intoto.json").write_text(json.dumps(statement))
    bundle = open_bundle(STORED)
    documented = bundle.manifest.model_copy(update={"documents": object(), "variants": {}})
    spec, told = recorded_spec(bundle.manifest), Bundle(tmp_path, documented)
    found = facts_in(told, spec)
    assert found.code == expected and found.signed.startswith("not signed")
    (tmp_path / "model.sig").write_text("")
    assert "not checked here" in facts_in(told, spec).signed
    assert facts_in(told, spec, "signed by me").signed == "signed by me"
