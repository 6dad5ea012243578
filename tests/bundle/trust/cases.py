"""What somebody may do to a bundle or its signature, each with what we say and what the stock command says of it.

`test_refused.py` shows the first, `test_stock.py` both, with the stock command in an environment of its own.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.bundle.trust.material import Wanted, bundle_in, chain_of, make_key, signed, with_other_goldens
from tests.command import exporter


@dataclass(frozen=True)
class Case:
    """A bundle, the file of what is trusted (`anchor`: the PEM in it), and words of the reason; none where it holds."""

    bundle: Path
    trust: Path
    anchor: Path
    said: tuple[str, ...] = ()
    #: The stock command knows no days and no models: what it takes all the same is written here.
    stock_accepts: bool = False
    kind: str = "key"


def signed_by_key(folder: Path) -> Case:
    key = make_key(folder, "release")
    return Case(signed(bundle_in(folder), key), key.public, key.public)


def _changed(change: Callable[[Path], None], *said: str) -> Callable[[Path], Case]:
    def case(folder: Path) -> Case:
        plain = signed_by_key(folder)
        change(plain.bundle)
        return Case(plain.bundle, plain.trust, plain.anchor, said)

    return case


def _flip(name: str) -> Callable[[Path], None]:
    def change(bundle: Path) -> None:
        content = bytearray((bundle / name).read_bytes())
        content[len(content) // 2] ^= 1
        (bundle / name).write_bytes(content)

    return change


def wrong_key(folder: Path) -> Case:
    plain, other = signed_by_key(folder), make_key(folder, "other")
    return Case(plain.bundle, other.public, other.public, ("key sha256:", "not trusted: trusted is 'other.pub'"))


def absent(folder: Path) -> Case:
    key = make_key(folder, "release")
    return Case(bundle_in(folder), key.public, key.public, ("is not signed", "model.sig"))


def _by_file(text: str, *said: str) -> Callable[[Path], Case]:
    def case(folder: Path) -> Case:
        plain = signed_by_key(folder)
        trust = folder / "trust.yaml"
        trust.write_text(text)
        return Case(plain.bundle, trust, plain.anchor, said, stock_accepts=True)

    return case


def another_bundles_signature(folder: Path) -> Case:
    """Of a bundle of the same name and version that passes by itself, too."""
    plain = signed_by_key(folder)
    (folder / "beside").mkdir()
    other = with_other_goldens(folder / "beside")
    assert exporter("verify", other, "--engines", "onnxruntime", "--quiet", cwd=folder).code == 0
    shutil.copy(plain.bundle / "model.sig", other / "model.sig")
    return Case(other, plain.trust, plain.anchor, ("signature of another bundle", "sealed again", "manifest.json"))


def resealed_and_signed_by_somebody(folder: Path) -> Case:
    plain, somebody = signed_by_key(folder), make_key(folder, "somebody")
    (folder / "beside").mkdir()
    other = with_other_goldens(folder / "beside")
    signed(other, somebody)
    return Case(other, plain.trust, plain.anchor, ("not trusted",))


def hint_of_another(folder: Path) -> Case:
    """A signature by somebody's key that says it were by the trusted one."""
    plain, somebody = signed_by_key(folder), make_key(folder, "somebody")
    genuine = (plain.bundle / "model.sig").read_text()
    signed(plain.bundle, somebody, replace=True)
    path = plain.bundle / "model.sig"
    hints = [text.split('"hint":"')[1][:64] for text in (path.read_text(), genuine)]
    path.write_text(path.read_text().replace(hints[0], hints[1]))
    return Case(plain.bundle, plain.trust, plain.anchor, ("did not sign",))


def _by_certificate(root: Wanted, leaf: Wanted, *said: str, stock_accepts: bool = False) -> Callable[[Path], Case]:
    def case(folder: Path) -> Case:
        top, middle, last = chain_of(folder, root, leaf)
        bundle = signed(bundle_in(folder), last, (middle.certificate,))
        return Case(bundle, top.certificate, top.certificate, said, stock_accepts, "certificate")

    return case


def another_root(folder: Path) -> Case:
    plain = _by_certificate(Wanted(), Wanted())(folder)
    other, _, _ = chain_of(folder, Wanted(), Wanted(), "other-")
    return Case(plain.bundle, other.certificate, other.certificate, ("no valid chain",), kind="certificate")


_KEYS = "keys:\n  - key: release.pub\n    name: release team\n"
CASES: dict[str, Callable[[Path], Case]] = {
    "signed by key": signed_by_key,
    "signed by certificate": _by_certificate(Wanted(), Wanted()),
    "signed for code": _by_certificate(Wanted(), Wanted(usage="code_signing")),
    "by an entry for it": _by_file(f"{_KEYS}    models: [other, 'pict*/1.*']\n    until: 2999-12-31\n"),
    "wrong key": wrong_key,
    "absent": absent,
    "expired key": _by_file(f"{_KEYS}    until: 2026-11-21\n", "'release team'", "only until 2026-11-21"),
    "expired certificate": _by_certificate(Wanted(), Wanted(last=-1), "expired at", stock_accepts=True),
    "certificate of tomorrow": _by_certificate(Wanted(), Wanted(first=1), "not valid before", stock_accepts=True),
    "expired root": _by_certificate(Wanted(-10, -5), Wanted(first=-4), "no valid chain"),
    "certificate of no signer": _by_certificate(Wanted(), Wanted(usage=""), "key usage"),
    "another root": another_root,
    "another model": _by_file(f"{_KEYS}    models: [digits]\n", "may not sign pictures 1.0.0", "digits"),
    "another version": _by_file(f"{_KEYS}    models: ['pictures/2.*']\n", "may not sign pictures 1.0.0"),
    "another bundle's signature": another_bundles_signature,
    "re-sealed by somebody": resealed_and_signed_by_somebody,
    "hint of another": hint_of_another,
    "changed": _changed(_flip("onnx/model.onnx"), "onnx/model.onnx is not the file that was signed"),
    "changed goldens": _changed(_flip("golden.safetensors"), "golden.safetensors is not the file"),
    "changed bill": _changed(_flip("bom.cdx.json"), "bom.cdx.json is not the file"),
    "added": _changed(lambda bundle: (bundle / "x.py").touch(), "x.py was not signed"),
    "added deep": _changed(lambda bundle: (bundle / "onnx/x").touch(), "onnx/x was not signed"),
    "missing": _changed(lambda bundle: (bundle / "report.html").unlink(), "report.html is missing"),
    "renamed": _changed(lambda bundle: (bundle / "verify.py").rename(bundle / "b.py") and None, "b.py was not signed"),
    "a link": _changed(lambda bundle: (bundle / "l").symlink_to("/etc/passwd"), "symbolic link"),
    "damaged signature": _changed(_flip("model.sig"), "model.sig"),
    "empty signature": _changed(lambda bundle: (bundle / "model.sig").write_text("") and None, "is damaged"),
}
