"""The contract of a registry of models, and what all of them are told of a bundle."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from exporter.base.errors import UsageError
from exporter.base.numbers.golden import promised
from exporter.base.registry import Registry
from exporter.base.tensors import recorded_inputs
from exporter.bundle.layout import GOLDEN
from exporter.bundle.open import Bundle, open_bundle
from exporter.bundle.subject import unfit
from exporter.process.scratch import scratch

#: Numbers that an input example may have; a registry shows it beside the model.
_MOST_NUMBERS = 10_000


@dataclass(frozen=True)
class Target:
    """Where a bundle goes: the store as the registry names it, the model's name there, and the alias that shall move.

    An empty `store` is what the registry's own variable says, an empty `name` the bundle's. With `accepts_waivers` a
    bundle that passed with waivers is as good as one that passed.
    """

    store: str = ""
    name: str = ""
    alias: str = ""
    accepts_waivers: bool = False


@dataclass(frozen=True)
class Published:
    """A version in a registry: how others name it, and whether it is `new` there.

    `stays` says why the alias did not move, and why the bundle is none to serve; empty where it passed.
    """

    name: str
    version: str
    reference: str
    digest: str
    verdict: str
    alias: str = ""
    new: bool = True
    stays: str = ""

    def to_json(self) -> dict[str, object]:
        """The object that `publish --json` prints."""
        keys = ("name", "version", "reference", "digest", "verdict", "new")
        moved = self.alias if self.alias and not self.stays else None
        return {**{key: getattr(self, key) for key in keys}, "alias": moved, "stays": self.stays}


class Publisher(ABC):
    """A registry. `scheme` begins the references that it gives, as `models:/`."""

    scheme: str

    @abstractmethod
    def publish(self, bundle: Bundle, target: Target, stays: str) -> Published:
        """Put a bundle in as a version, unless the same one is there; the alias moves where nothing keeps it (`stays`).

        Raises:
            UsageError: no store or name is given, or one that the registry does not take.
            EnvironmentLacks: its client is not installed, or the store does not answer or refuses.
        """

    @abstractmethod
    def fetch(self, reference: str, store: str, into: Path) -> None:
        """Write the bundle of a reference into an empty folder, with nothing but what its manifest names.

        Raises:
            UsageError: it is no reference, or there is no such version.
            BundleError: what lies there is no bundle, or not the one that the registry says.
            EnvironmentLacks: as :meth:`publish`.
        """


PUBLISHERS: Registry[Publisher] = Registry("exporter.deploy.publish", "registry of models")


def publish(folder: Path, to: str, target: Target) -> Published:
    """Publish the bundle in a folder; one that did not pass becomes a version as well, and no alias moves to it.

    Raises:
        UsageError: there is no bundle, or no such registry.
        BundleError: the bundle is damaged.
        UsageError, EnvironmentLacks: as :meth:`Publisher.publish`.
    """
    publisher = PUBLISHERS[to]
    bundle = open_bundle(folder)
    return publisher.publish(bundle, target, _stays(bundle, target))


def _stays(bundle: Bundle, target: Target) -> str:
    """Say why no alias may move to a bundle; empty where it passed, and its report says so too."""
    if bundle.manifest.verdict == "passed_with_waivers" and not target.accepts_waivers:
        return "it passed with waivers, which nobody here accepted"
    return unfit(bundle)


@contextmanager
def fetched(reference: str, store: str) -> Iterator[Path]:
    """Yield a temporary folder with the bundle of a reference; a stranger's, which nothing has proven yet.

    Raises:
        UsageError, BundleError, EnvironmentLacks: as :meth:`Publisher.fetch`.
    """
    publisher = next((known for _, known in PUBLISHERS.all() if reference.startswith(known.scheme)), None)
    if publisher is None:
        raise UsageError("names no bundle in a registry", where=reference, hint="write it as in models:/NAME@ALIAS")
    with scratch() as place:
        folder = place / "bundle"
        folder.mkdir()
        publisher.fetch(reference, store, folder)
        yield folder


def example(bundle: Bundle) -> Mapping[str, object] | None:
    """The inputs of the smallest promised case as plain lists; None where they are large, or no JSON holds them."""
    names = [tensor.name for tensor in bundle.manifest.inputs]
    cases = [case.name for case in bundle.manifest.cases if promised(case.name)]
    inputs = [recorded_inputs(bundle.folder / GOLDEN, case, names) for case in cases]
    smallest = min(inputs, key=lambda own: sum(value.size for value in own.values()), default=None)
    if smallest is None or sum(value.size for value in smallest.values()) > _MOST_NUMBERS:
        return None
    if not all(np.isfinite(value).all() for value in smallest.values() if value.dtype.kind == "f"):
        return None
    return {name: value.tolist() for name, value in smallest.items()}


def lineage(bundle: Bundle) -> dict[str, str]:
    """Tell where a bundle comes from, in words by dotted keys: code, weights, recipe, toolchain."""
    about, origin = bundle.manifest, bundle.manifest.provenance
    facts = {
        "name": about.name,
        "version": about.version,
        "digest": about.digest,
        "verdict": about.verdict,
        "variants": ", ".join(about.variants),
        "exporter": origin.get("exporter"),
        "model": origin.get("model"),
        "commit": origin.get("commit"),
        "weights.sha256": origin.get("weights", {}).get("sha256"),
        "training.recipe": origin.get("training", {}).get("recipe"),
        "training.seed": origin.get("training", {}).get("seed"),
        "packages": json.dumps(origin.get("packages", {}), sort_keys=True),
    }
    return {key: str(value) for key, value in facts.items() if value is not None}
