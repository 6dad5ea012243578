"""`handoff`, `bench` and `drill` ask who signed a bundle as `verify` does: before anything of it is read or run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from exporter.base.errors import BundleError
from exporter.cli.trust import refuse_exchanged
from tests.bundle.trust.cases import CASES
from tests.bundle.trust.material import bundle_in, make_key, signed
from tests.command import contents, exporter, refused
from tests.sampling import some

#: The verbs, as short as they can be once they may begin.
VERBS = {
    "handoff": ("--to", "triton", "--out", "given"),
    "bench": ("--rounds", "1", "--seconds", "0.01", "--engines", "onnxruntime"),
    "drill": ("--faults", "2", "--formats", "onnx", "--engines", "onnxruntime"),
}
REFUSED = ("wrong key", "absent", "expired key", "another bundle's signature", "re-sealed by somebody", "changed")


@pytest.mark.parametrize("verb", VERBS)
def test_what_somebody_trusted_signed_is_worked_on(verb: str, tmp_path: Path) -> None:
    key = make_key(tmp_path, "key")
    bundle = signed(bundle_in(tmp_path), key)
    digest = json.loads((bundle / "manifest.json").read_bytes())["digest"]
    more = ("--trust", key.public, "--digest", f"sha256:{digest}")
    done = exporter(verb, bundle, *more, *VERBS[verb], cwd=tmp_path)
    assert done.code in ((0, 1) if verb == "drill" else (0,)), done.err
    assert "signed by 'key.pub'" in done.err and done.out


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("name", some(REFUSED, 2))
def test_what_is_not_trusted_is_refused_before_any_work(verb: str, name: str, tmp_path: Path) -> None:
    case = CASES[name](tmp_path)
    before = contents(tmp_path)
    done = exporter(verb, case.bundle, "--trust", case.trust, *VERBS[verb], cwd=tmp_path)
    refused(done, 5, *case.said)
    assert contents(tmp_path) == before and "· handing" not in done.err and "· round" not in done.err


@pytest.mark.parametrize("verb", VERBS)
def test_another_digest_and_options_that_are_wrong(verb: str, tmp_path: Path) -> None:
    bundle = bundle_in(tmp_path)
    other = "sha256:" + 64 * "0"
    refused(exporter(verb, bundle, "--digest", other, *VERBS[verb], cwd=tmp_path), 5, "is another bundle")
    refused(exporter(verb, bundle, "--signature", bundle / "x", *VERBS[verb], cwd=tmp_path), 2, "--trust")
    refused(exporter(verb, bundle, "--trust", "nowhere.pub", *VERBS[verb], cwd=tmp_path), 2, "nowhere.pub")
    assert not (tmp_path / "given").exists()


def test_a_bundle_that_was_exchanged_after_it_was_proven() -> None:
    refuse_exchanged("1", "", Path("bundle"))
    refuse_exchanged("1", "1", Path("bundle"))
    with pytest.raises(BundleError, match="was exchanged"):
        refuse_exchanged("2", "1", Path("bundle"))
