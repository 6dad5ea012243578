"""What a user demands of a bundle's origin, proven before anything else of it is read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from exporter.base.errors import BundleError, UsageError, printable

if TYPE_CHECKING:
    from exporter.process.workers import Setting


@dataclass(frozen=True)
class Demands:
    """Files of what is trusted, where the signature lies unless in the bundle, and the digest that is expected."""

    trust: tuple[Path, ...] = ()
    signature: Path | None = None
    digest: str | None = None


@dataclass(frozen=True)
class Proven:
    """The digest of a bundle that is what was demanded, empty where nothing was; and whether its signer may waive."""

    digest: str = ""
    may_waive: bool = False


def demanded(bundle: Path, demands: Demands, setting: Setting) -> str:
    """The digest of the bundle once it is proven to be what is demanded, as :func:`proven`."""
    return proven(bundle, demands, setting).digest


def proven(bundle: Path, demands: Demands, setting: Setting) -> Proven:
    """Prove that a bundle is what is demanded.

    Raises:
        UsageError, EnvironmentLacks, BundleError: as :func:`exporter.bundle.trust.verify.verify` and `require_digest`.
    """
    if demands.signature is not None and not demands.trust:
        raise UsageError("nobody is trusted", where="--signature", hint="name keys or certificates with --trust")
    if not demands.trust and demands.digest is None:
        return Proven()
    from exporter.bundle.open import open_bundle
    from exporter.bundle.trust.policy import anchors
    from exporter.bundle.trust.verify import require_digest, verify

    may_waive = False
    if demands.trust:
        trusted = verify(bundle, anchors(demands.trust), demands.signature)
        setting.say(printable(f"signed by {trusted.signer}: {trusted.files} files"))
        manifest, may_waive = trusted.manifest, trusted.may_waive
    else:
        manifest = open_bundle(bundle).manifest
    if demands.digest is not None:
        require_digest(manifest, demands.digest, str(bundle))
    return Proven(manifest.digest, may_waive)


def refuse_exchanged(digest: str, expected: str, bundle: Path) -> None:
    """Raises BundleError where what was read or judged is another bundle than the one that was proven before."""
    if expected and digest != expected:
        raise BundleError("was exchanged since it was proven", where=str(bundle), hint="do not use this bundle")
