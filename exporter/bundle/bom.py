"""The bill of materials of a bundle, as CycloneDX by its own library: the model, its files, and the packages behind it.

The same inputs give the same bytes: the serial number comes from what is listed, and the time from SOURCE_DATE_EPOCH or
not at all.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from exporter import __version__
from exporter.base.errors import EnvironmentLacks
from exporter.base.files import canonical_json, sha256_bytes
from exporter.bundle.environment import Environment
from exporter.bundle.manifest import Content, FileFacts

if TYPE_CHECKING:
    from cyclonedx.model.component import Component

#: Namespace of the serial numbers.
_SERIALS = uuid.uuid5(uuid.NAMESPACE_URL, "urn:exporter:bom:v1")


def require_library() -> None:
    """Make sure that a bill of materials can be written here.

    Raises:
        EnvironmentLacks: `cyclonedx-python-lib` is not installed.
    """
    try:
        import cyclonedx  # noqa: F401
    except ImportError as error:
        raise EnvironmentLacks(
            "cyclonedx-python-lib is not installed",
            where="the bill of materials",
            hint="install it again: scripts/install, or pip install cyclonedx-python-lib",
        ) from error


def bill_of_materials(content: Content, files: Mapping[str, FileFacts], made_with: Environment) -> bytes:
    """The JSON of CycloneDX 1.6."""
    from cyclonedx.model.bom import Bom
    from cyclonedx.model.component import Component, ComponentType
    from cyclonedx.output.json import JsonV1Dot6

    listed = {name: facts.sha256 for name, facts in files.items()}
    packages = {package.name: package for package in made_with.packages}
    versions = {name: package.version for name, package in packages.items()}
    serial = uuid.uuid5(_SERIALS, sha256_bytes(canonical_json([content.name, content.version, listed, versions])))
    model = Component(
        type=ComponentType.MACHINE_LEARNING_MODEL, name=content.name, version=content.version, bom_ref="model"
    )
    libraries = {name: _library(name, version) for name, version in sorted(versions.items())}
    parts = [_file(name, digest) for name, digest in sorted(listed.items())]
    bom = Bom(serial_number=serial, components=[*parts, *libraries.values()])
    bom.metadata.component = model
    bom.metadata.timestamp = _time()
    bom.metadata.tools.components.add(Component(type=ComponentType.APPLICATION, name="exporter", version=__version__))
    bom.register_dependency(model, [*parts, *libraries.values()])
    for name, library in libraries.items():
        required = [libraries[other] for other in packages[name].requires if other in libraries]
        bom.register_dependency(library, required)
    text: str = JsonV1Dot6(bom).output_as_string(indent=2)
    return (text + "\n").encode()


def _library(name: str, version: str) -> Component:
    from cyclonedx.model.component import Component, ComponentType
    from packageurl import PackageURL

    url = PackageURL("pypi", None, name, version)
    return Component(type=ComponentType.LIBRARY, name=name, version=version, purl=url, bom_ref=str(url))


def _file(name: str, digest: str) -> Component:
    from cyclonedx.model import HashAlgorithm, HashType
    from cyclonedx.model.component import Component, ComponentType

    hashes = [HashType(alg=HashAlgorithm.SHA_256, content=digest)]
    return Component(type=ComponentType.FILE, name=name, hashes=hashes, bom_ref=f"file:{name}")


def _time() -> Any:
    """The time that SOURCE_DATE_EPOCH names, as reproducible builds do; None without it."""
    seconds = os.environ.get("SOURCE_DATE_EPOCH", "")
    return datetime.fromtimestamp(int(seconds), timezone.utc) if seconds.isdigit() else None
