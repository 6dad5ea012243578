"""To and from a registry of OCI artifacts, by the ORAS project's client (package `oras`, the extra `registry`).

An artifact is an OCI image manifest (v1.1, `artifactType`) with one layer, the packed bundle. It holds no time, so the
same bundle has the same digest wherever it is pushed. The client speaks HTTP and knows the user's logins
(`docker login`, `podman login`); what came is believed only once its sha256 is the one that was asked for.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from exporter.base.distribution import how_to_install
from exporter.base.errors import BundleError, EnvironmentLacks, UsageError
from exporter.base.files import canonical_json, translated
from exporter.bundle.open import Bundle, open_bundle
from exporter.bundle.write import refuse_overwrite
from exporter.deploy.transfer.packed import pack, unpack
from exporter.process.scratch import scratch

if TYPE_CHECKING:
    from oras.container import Container
    from oras.provider import Registry
    from requests import Response

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
BUNDLE = "application/vnd.exporter.bundle.v1"
LAYER = f"{BUNDLE}.tar"
#: What an OCI artifact without a configuration names as one: the two bytes `{}`.
_EMPTY = b"{}"
_EMPTY_TYPE = "application/vnd.oci.empty.v1+json"
#: A manifest of ours has 1 KB; a registry may not make us read more (bytes).
_MOST_MANIFEST = 1 << 20
#: A larger layer goes up in pieces, so that it is never whole in memory (bytes).
_WHOLE = 64 << 20
_PIECE = 1 << 20
#: The limit in which a registry has to answer at all (s).
_PATIENCE = 20.0
#: A host with a dot or a port, then the grammar of names, tags and digests of the OCI distribution specification.
_PART = r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_PLACE = re.compile(
    rf"(?:localhost|[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+(?::\d+)?|[A-Za-z0-9-]+:\d+)/{_PART}(?:/{_PART})*"
    r"(?::[A-Za-z0-9_][A-Za-z0-9._-]{0,127}|@sha256:[0-9a-f]{64})?"
)
_HINT = "do not use it; ask for a fresh one"


@dataclass(frozen=True)
class Pushed:
    """Where a bundle can be pulled from by digest: `HOST/NAME@sha256:…`."""

    reference: str
    digest: str


def push(folder: Path, target: str, *, plain_http: bool = False) -> Pushed:
    """Push the bundle in a folder to `HOST/NAME[:TAG]`; the tag is the bundle's version where none is given.

    Raises:
        UsageError: the target is none, or there is no bundle.
        BundleError: the bundle is damaged.
        EnvironmentLacks: the client is not installed, or the registry does not answer or refuses.
    """
    bundle = open_bundle(folder)
    about = bundle.manifest
    with _talking(target, plain_http) as (client, container), scratch() as place:
        packed = pack(bundle, place / f"{about.name}-{about.version}.tar")
        empty = place / "empty"
        empty.write_bytes(_EMPTY)
        config = {"mediaType": _EMPTY_TYPE, "digest": _digest(_EMPTY), "size": len(_EMPTY)}
        layer = {"mediaType": LAYER, "digest": f"sha256:{packed.sha256}", "size": packed.size}
        _accepted(client.upload_blob(str(empty), container, config), target)
        _accepted(client.upload_blob(str(packed.path), container, layer, do_chunked=packed.size > _WHOLE), target)
        title = {"org.opencontainers.image.title": packed.path.name}
        content = canonical_json(
            {
                "schemaVersion": 2,
                "mediaType": MANIFEST,
                "artifactType": BUNDLE,
                "config": config,
                "layers": [{**layer, "annotations": title}],
                "annotations": {
                    "org.opencontainers.image.version": about.version,
                    f"{BUNDLE}.name": about.name,
                    f"{BUNDLE}.digest": f"sha256:{about.digest}",
                },
            }
        )
        url = _url(client, container, None if _names_a_version(target) else about.version)
        _accepted(client.do_request(url, "PUT", data=content, headers={"Content-Type": MANIFEST}), target)
    digest = _digest(content)
    return Pushed(f"{container.registry}/{container.api_prefix}@{digest}", digest)


def pull(source: str, into: Path, *, plain_http: bool = False) -> tuple[Bundle, str]:
    """Pull `HOST/NAME@sha256:…`, or `HOST/NAME:TAG`, to a folder; return the bundle and the digest of the artifact.

    A digest says which bundle comes, whoever runs the registry; a tag leaves that to the registry.

    Raises:
        UsageError: the source is none or holds no such artifact, or `into` holds something else.
        BundleError: what came has another digest, is no bundle, or is damaged; nothing is left then.
        EnvironmentLacks: the client is not installed, or the registry does not answer or refuses.
    """
    refuse_overwrite(into)
    with _talking(source, plain_http) as (client, container), scratch() as place:
        answer = client.do_request(_url(client, container), "GET", headers={"Accept": MANIFEST}, stream=True)
        if answer.status_code == 404:
            raise UsageError("the registry has no such artifact", where=source, hint="check the name, and the digest")
        _accepted(answer, source)
        content = b"".join(_bounded(answer, _MOST_MANIFEST, source))
        digest = _digest(content)
        if container.digest and container.digest != digest:
            raise BundleError(f"what came is {digest}", where=source, hint=_HINT)
        layer = _layer(content, source)
        archive = place / "bundle.tar"
        answer = client.get_blob(container, layer["digest"], stream=True)
        _accepted(answer, source)
        with translated(archive), archive.open("wb") as stream:
            hashed = hashlib.sha256()
            for piece in _bounded(answer, layer["size"], source):
                stream.write(piece)
                hashed.update(piece)
        if f"sha256:{hashed.hexdigest()}" != layer["digest"]:
            raise BundleError("its content is not what its manifest names", where=source, hint=_HINT)
        return unpack(archive, into), digest


def _layer(content: bytes, source: str) -> dict[str, Any]:
    """The descriptor of the packed bundle in a manifest."""
    try:
        manifest = json.loads(content)
        (layer,) = manifest["layers"]
        digest, size = layer["digest"], layer["size"]
        ours = layer["mediaType"] == LAYER and manifest["artifactType"] == BUNDLE
        sound = isinstance(size, int) and size > 0 and isinstance(digest, str) and digest.startswith("sha256:")
        if ours and sound and len(digest) == len(_digest(b"")) and set(digest[7:]) <= set("0123456789abcdef"):
            return {"digest": digest, "size": size}
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    raise BundleError("the artifact is no bundle of ours", where=source, hint="give one that `exporter push` made")


def _bounded(answer: Response, most: int, source: str) -> Iterator[bytes]:
    """The body of an answer, of at most so many bytes."""
    seen = 0
    for piece in answer.iter_content(_PIECE):
        seen += len(piece)
        if seen > most:
            raise BundleError(f"sends more than the {most:,} bytes that were announced", where=source, hint=_HINT)
        yield piece


@contextmanager
def _talking(target: str, plain_http: bool) -> Iterator[tuple[Registry, Container]]:
    """The client, and the place in the registry; whatever the network does is the environment's."""
    try:
        from oras.container import Container
        from oras.provider import Registry
        from requests.exceptions import RequestException
    except ImportError as error:
        raise EnvironmentLacks(
            f"{error.name} is not installed", where=target, hint=how_to_install("registry")
        ) from None
    if not _PLACE.fullmatch(target):
        hint = "write it as in registry.example/team/model:1.0.0, or registry.example/team/model@sha256:… by its digest"
        raise UsageError("names no place in a registry", where=target, hint=hint)
    container = Container(target)
    client = Registry(hostname=container.registry, insecure=plain_http)
    try:
        client.session.get(
            f"{client.prefix}://{container.registry}/v2/", timeout=_PATIENCE
        )  # the client tries for 131 s
        client.auth.load_configs(container)
        yield client, container
    except RequestException as error:
        words = str(error).splitlines()[0]
        hint = "check the address; --plain-http is for a registry without TLS"
        raise EnvironmentLacks(f"the registry does not answer: {words}", where=target, hint=hint) from error
    except ValueError as error:  # what the client raises of a registry that answers otherwise than it should
        hint = "log in with docker login or podman login, and check that you may write there"
        raise EnvironmentLacks(f"the registry refuses: {error}", where=target, hint=hint) from error


def _accepted(answer: Response, target: str) -> None:
    if answer.status_code not in (200, 201, 202):
        what = f"the registry answers {answer.status_code} {answer.reason}"
        raise EnvironmentLacks(what, where=target, hint="log in, and check that you may read and write there")


def _url(client: Registry, container: Container, tag: str | None = None) -> str:
    return f"{client.prefix}://{container.manifest_url(tag)}"


def _names_a_version(target: str) -> bool:
    """Whether a target has a tag or a digest behind its name."""
    return "@" in target or ":" in target.rpartition("/")[2]


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"
