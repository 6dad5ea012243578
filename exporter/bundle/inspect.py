"""What a bundle or a single artifact file is, told from its bytes alone: no Paddle, no engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from exporter.base.errors import printable
from exporter.base.readers import read
from exporter.base.readers.base import ModelFacts
from exporter.base.tensors import TensorSpec
from exporter.bundle.manifest import NAME, Manifest, Tensor
from exporter.bundle.open import Bundle, open_bundle
from exporter.bundle.subject import refuse_contradiction
from exporter.spec.source import holds_program, only_program

_KINDS = {"pir": "PIR program", "pdmodel": "ProgramDesc", "onnx": "ONNX model"}
_KINDS |= {"pdiparams": "Paddle parameters", "safetensors": "safetensors", "pdparams": "Paddle's pickle"}


@dataclass(frozen=True)
class InspectedFile:
    """A single file, and what it says of itself."""

    path: Path
    facts: ModelFacts

    def to_json(self) -> dict[str, object]:
        """Return the object that `inspect --json` prints."""
        return {"path": str(self.path), **self.facts.as_json()}


@dataclass(frozen=True)
class InspectedVariant:
    """A variant: what the file with its operators says of itself, and the size of all its files."""

    precision: str
    program: ModelFacts
    size: int


@dataclass(frozen=True)
class InspectedBundle:
    """A bundle: its folder, its manifest, and what each variant holds."""

    path: Path
    manifest: Manifest
    variants: Mapping[str, InspectedVariant]

    @property
    def size(self) -> int:
        """The size of all its files."""
        return sum(file.size for file in self.manifest.files.values())

    def to_json(self) -> dict[str, object]:
        """Return the object that `inspect --json` prints."""
        manifest = self.manifest.model_dump(mode="json", by_alias=True)
        told = ("name", "version", "digest", "verdict", "inputs", "outputs", "dims", "waivers")
        return {
            "path": str(self.path),
            "format": "bundle",
            **{key: manifest[key] for key in told},
            "cases": [case.name for case in self.manifest.cases],
            "size": self.size,
            "variants": {
                name: {**variant.program.as_json(), "precision": variant.precision, "size": variant.size}
                for name, variant in self.variants.items()
            },
        }


def inspect(path: Path) -> InspectedFile | InspectedBundle:
    """Return what lies at `path`: of a bundle (its folder or its manifest) also what each variant holds.

    Of the folder of a Paddle program that is no bundle, what the program is.

    Raises:
        UsageError: nothing is there, or nothing that we know; a folder holds more than one program.
        BundleError: it is damaged; of a bundle, every file is checked, and the verdict that it states.
    """
    if path.name == NAME and path.is_file():
        path = path.parent
    if path.is_dir() and not (path / NAME).exists() and holds_program(path):
        path = only_program(path)
    if path.is_dir():
        bundle = open_bundle(path)
        refuse_contradiction(bundle)
        variants = {name: _variant(bundle, name) for name in bundle.manifest.variants}
        return InspectedBundle(bundle.folder, bundle.manifest, variants)
    return InspectedFile(path, read(path))


def _variant(bundle: Bundle, name: str) -> InspectedVariant:
    variant = bundle.manifest.variants[name]
    files = [read(bundle.folder / file) for file in variant.files]
    program = max(files, key=lambda facts: len(facts.operators))
    return InspectedVariant(variant.precision, program, sum(facts.size for facts in files))


def as_text(inspected: InspectedFile | InspectedBundle) -> str:
    """Return the same for a person. Names come from foreign files, so what cannot be printed is escaped."""
    if isinstance(inspected, InspectedBundle):
        lines = _bundle_lines(inspected)
    else:
        facts = inspected.facts
        lines = [f"{inspected.path}: {_headline(facts, facts.size)}", *_lines(facts)]
    return "".join(printable(line) + "\n" for line in lines)


def _bundle_lines(bundle: InspectedBundle) -> list[str]:
    about = bundle.manifest
    sizes = "; ".join(f"{name} {dim['min']} to {dim['max']}" for name, dim in about.dims.items())
    lines = [
        f"{bundle.path}: bundle {about.name} {about.version}, {bundle.size:,} bytes",
        f"  verdict   {about.verdict}, {len(about.cases)} recorded cases",
        f"  digest    {about.digest}",
        *_tensor_lines("input", about.inputs),
        *_tensor_lines("output", about.outputs),
    ]
    lines += [f"  dims      {sizes}"] if sizes else []
    lines += [f"  waived    {waiver['claim']} until {waiver['until']}: {waiver['reason']}" for waiver in about.waivers]
    for name, variant in bundle.variants.items():
        headline = _headline(variant.program, variant.size)
        lines += [f"{name} ({variant.precision}): {headline}", *_lines(variant.program)]
    return lines


def _headline(facts: ModelFacts, size: int) -> str:
    # The versions of single operators (.pdmodel) are for --json.
    listed = {name: number for name, number in facts.versions.items() if not name.startswith("operator ")}
    versions = ", ".join(f"{name} {number}" for name, number in listed.items())
    kind = _KINDS.get(facts.format, facts.format)
    parts = (kind, f"{size:,} bytes", facts.writer and f"by {facts.writer}", versions)
    return ", ".join(part for part in parts if part)


def _lines(facts: ModelFacts) -> list[str]:
    elements = sum(weight.elements for weight in facts.weights)
    lines = [*_tensor_lines("input", facts.inputs), *_tensor_lines("output", facts.outputs)]
    lines.append(f"  tensors   {len(facts.weights):,} with {elements:,} elements")
    if facts.operators:
        # By number, then by name.
        ranked = sorted(facts.operators.items(), key=lambda pair: (-pair[1], pair[0]))
        listed = ", ".join(f"{name} {count}" for name, count in ranked)
        lines.append(f"  operators {sum(facts.operators.values()):,}: {listed}")
    return lines


def _tensor_lines(side: str, tensors: Sequence[Tensor | TensorSpec]) -> list[str]:
    return [
        f"  {side:9} {tensor.name}: {tensor.dtype or 'not a tensor'}[{', '.join(map(str, tensor.shape))}]"
        for tensor in tensors
    ]
