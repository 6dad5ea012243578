"""A bundle to a registry and back: against Debian's `docker-registry` on the loopback where it is installed."""

from __future__ import annotations

import http.server
import json
import shutil
import socket
import subprocess
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from exporter.base.errors import BundleError, EnvironmentLacks, UsageError
from exporter.bundle.open import open_bundle
from exporter.deploy.transfer import registry
from tests import faults
from tests.command import exporter

pytest.importorskip("oras", reason="the extra `registry` is not installed")


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A registry of its own, on the loopback."""
    command = shutil.which("docker-registry")
    if command is None:
        pytest.skip("docker-registry is not installed: apt-get install docker-registry")
    place, address = tmp_path_factory.mktemp("registry"), f"127.0.0.1:{free_port()}"
    (place / "config.yml").write_text(
        f"version: 0.1\nstorage: {{filesystem: {{rootdirectory: {place}/kept}}}}\nhttp: {{addr: '{address}'}}\n"
    )
    with (place / "log").open("wb") as log:
        process = subprocess.Popen([command, "serve", str(place / "config.yml")], stdout=log, stderr=log)
    try:
        for _ in range(600):
            try:
                with urllib.request.urlopen(f"http://{address}/v2/"):
                    break
            except OSError:
                time.sleep(0.1)
        yield address
    finally:
        process.terminate()
        process.wait()


def test_a_push_and_a_pull_by_digest(host: str, bundle: Path, tmp_path: Path) -> None:
    about = open_bundle(bundle).manifest
    pushed = exporter("push", bundle, f"{host}/team/small", "--plain-http", "--json", cwd=tmp_path)
    assert pushed.code == 0, pushed.err
    told = pushed.json()
    assert told["reference"] == f"{host}/team/small@{told['digest']}"
    for source in (told["reference"], f"{host}/team/small:{about.version}"):
        back = exporter("pull", source, "--out", source[-7:], "--plain-http", "--json", cwd=tmp_path)
        assert back.code == 0, back.err
        assert back.json() == {"bundle": source[-7:], "artifact": told["digest"], "digest": about.digest}
        assert {path.name for path in (tmp_path / source[-7:]).iterdir()} == {path.name for path in bundle.iterdir()}
    again = exporter("push", bundle, f"{host}/other/name:tag", "--plain-http", "--json", cwd=tmp_path)
    assert again.json()["digest"] == told["digest"], "the same bundle has the same digest everywhere"


def test_the_client_of_the_registry_reads_what_was_pushed(host: str, bundle: Path, tmp_path: Path) -> None:
    from oras.provider import Registry

    reference = registry.push(bundle, f"{host}/stock/small", plain_http=True).reference
    (path,) = Registry(insecure=True).pull(reference, outdir=str(tmp_path))
    about = open_bundle(bundle).manifest
    assert Path(path).name == f"{about.name}-{about.version}.tar"
    unpacked = exporter("unpack", path, "--out", "there", cwd=tmp_path)
    assert unpacked.code == 0, unpacked.err
    assert open_bundle(tmp_path / "there").manifest.digest == about.digest


def test_a_damaged_bundle_is_not_pushed(host: str, bundle: Path, tmp_path: Path) -> None:
    copy = faults.copied(bundle, tmp_path / "copy")
    faults.scale_tensor(copy / "onnx/model.onnx")
    done = exporter("push", copy, f"{host}/team/damaged", "--plain-http", cwd=tmp_path)
    assert done.code == 5, done.err
    missing = exporter("pull", f"{host}/team/damaged:1", "--out", "x", "--plain-http", cwd=tmp_path)
    assert (missing.code, "no such artifact" in missing.err) == (2, True), missing.err


class Lying(http.server.BaseHTTPRequestHandler):
    """A registry that gives what it was told to give."""

    manifest = b"{}"
    blob = b""

    def do_GET(self) -> None:
        content = self.manifest if "/manifests/" in self.path else self.blob
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def liar() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Lying)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def described(digest: str, size: int, **more: object) -> bytes:
    layer = {"mediaType": registry.LAYER, "digest": digest, "size": size, **more}
    return json.dumps({"artifactType": registry.BUNDLE, "layers": [layer]}).encode()


@pytest.mark.parametrize(
    ("manifest", "blob", "said"),
    [
        (b"not json", b"", "no bundle of ours"),
        (b"[]", b"", "no bundle of ours"),
        (b'{"layers": null}', b"", "no bundle of ours"),
        (b"[" * 100_000, b"", "no bundle of ours"),
        (described("sha256:" + "0" * 64, -1), b"", "no bundle of ours"),
        (described("sha256:../../etc/passwd", 5), b"", "no bundle of ours"),
        (described("sha256:" + "0" * 64, 5, mediaType="text/plain"), b"", "no bundle of ours"),
        (described("sha256:" + "0" * 64, 5), b"abcde", "not what its manifest names"),
        (described("sha256:" + "0" * 64, 5), b"abcdef", "more than the 5 bytes"),
        (b" " * (2 << 20), b"", "more than the 1,048,576 bytes"),
    ],
)
def test_a_registry_that_lies_is_not_believed(
    liar: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, manifest: bytes, blob: bytes, said: str
) -> None:
    monkeypatch.setattr(Lying, "manifest", manifest)
    monkeypatch.setattr(Lying, "blob", blob)
    with pytest.raises(BundleError, match=said):
        registry.pull(f"{liar}/team/small:1", tmp_path / "there", plain_http=True)
    assert not list(tmp_path.iterdir())


def test_another_manifest_than_the_one_asked_for(liar: str, tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="what came is sha256:44136fa"):
        registry.pull(f"{liar}/team/small@sha256:{'1' * 64}", tmp_path / "there", plain_http=True)


def test_a_registry_that_does_not_answer(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentLacks, match="does not answer"):
        registry.pull(f"127.0.0.1:{free_port()}/team/small:1", tmp_path / "there", plain_http=True)


@pytest.mark.parametrize(
    "target", ["small", "team/small", "https://host.example/small", "host.example/", "host:1/UP er"]
)
def test_what_names_no_place_in_a_registry(bundle: Path, target: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="names no place"):
        registry.push(bundle, target)
    with pytest.raises(UsageError, match="names no place"):
        registry.pull(target, tmp_path / "there")
