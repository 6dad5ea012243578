"""What whoever receives a bundle accepts of it: its own word excuses nothing, unless somebody trusted gave it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from exporter.bundle.manifest import SIGNATURE
from exporter.bundle.open import Bundle, recorded_spec
from exporter.bundle.scripts import not_compared
from exporter.spec.model import Spec
from exporter.spec.waiver import Waiver


@dataclass(frozen=True)
class Receiver:
    """What is accepted of a bundle: the waivers in it; and whether its digest or a trusted signature was proven."""

    accepts_waivers: bool = False
    knows_the_maker: bool = False

    @property
    def options(self) -> tuple[str, ...]:
        """What the bundle's own verify.py is told."""
        return ("--accept-waivers",) if self.accepts_waivers else ()

    def judged_by(self, spec: Spec) -> tuple[Spec, tuple[Waiver, ...]]:
        """The spec that a bundle is judged by, and those of its waivers that count for nothing."""
        if self.accepts_waivers or not spec.waivers:
            return spec, ()
        return spec.model_copy(update={"waivers": ()}), spec.waivers


#: Who has accepted nothing, and knows nobody.
ANYBODY = Receiver()


def unvouched(bundle: Bundle, receiver: Receiver) -> Iterator[str]:
    """Sentences on what is in a bundle and nobody vouches for; of its maker only where nobody is known."""
    yield from not_compared(bundle.folder, bundle.manifest)
    if receiver.knows_the_maker:
        return
    manifest, spec = bundle.manifest, recorded_spec(bundle.manifest)
    said = ["who made it and of what", "its goldens and its spec"]
    default = Spec.model_fields["budget"].default
    said += [f"its budget of {spec.budget:g} ({default:g} is the usual one)"] if spec.budget > default else []
    metric = manifest.provenance.get("training", {}).get("metric", {})
    said += [f"its training ({name} {value:g})" for name, value in metric.items()]
    said += [f"its {len(spec.waivers)} waivers"] if spec.waivers else []
    signed = (bundle.folder / SIGNATURE).exists()
    state = "its signature was not checked" if signed else "it is not signed"
    cure = "--trust KEYS checks it" if signed else "`exporter sign` and --trust KEYS, or --digest"
    yield f"{state}, so nobody vouches for {', for '.join(said)}: {cure}"
