"""What a bundle or a single artifact file is, told from its bytes alone: no Paddle, no engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from exporter.base.errors import printable
from exporter.base.readers import read
from exporter.base.readers.base import ModelFacts
from exporter.bundle.manifest import NAME
from exporter.bundle.open import Bundle, open_bundle
from exporter.bundle.subject import refuse_contradiction

_KINDS = {"pir": "PIR program", "pdmodel": "ProgramDesc", "onnx": "ONNX model"}
_KINDS |= {"pdiparams": "Paddle parameters", "safetensors": "safetensors", "pdparams": "Paddle's pickle"}


def inspect(path: Path) -> dict[str, Any]:
    """Tell what lies at `path`: of a bundle (its folder or its manifest) also what each variant holds.

    Raises:
        UsageError: nothing is there, or nothing that we know.
        BundleError: it is damaged; of a bundle, every file is checked, and the verdict that it states.
    """
    if path.name == NAME and path.is_file():
        path = path.parent
    if path.is_dir():
        bundle = open_bundle(path)
        refuse_contradiction(bundle)
        return _bundle(bundle)
    return {"path": str(path), **read(path).as_json()}


def _bundle(bundle: Bundle) -> dict[str, Any]:
    manifest = bundle.manifest.model_dump(mode="json", by_alias=True)
    variants = {}
    for name, variant in bundle.manifest.variants.items():
        program, size = _program(bundle.folder, variant.files)
        variants[name] = {**program.as_json(), "precision": variant.precision, "size": size}
    told = ("name", "version", "digest", "verdict", "inputs", "outputs", "dims", "waivers")
    return {
        "path": str(bundle.folder),
        "format": "bundle",
        **{key: manifest[key] for key in told},
        "cases": [case["name"] for case in manifest["cases"]],
        "size": sum(file["size"] for file in manifest["files"].values()),
        "variants": variants,
    }


def _program(folder: Path, files: tuple[str, ...]) -> tuple[ModelFacts, int]:
    """The facts of the file that holds the operators, and the size of all files of the variant."""
    facts = [read(folder / name) for name in files]
    program = max(facts, key=lambda one: len(one.operators))
    return program, sum(one.size for one in facts)


def as_text(told: dict[str, Any]) -> str:
    """The same for a person. Names come from foreign files, so what cannot be printed is escaped."""
    lines = _bundle_lines(told) if told["format"] == "bundle" else [f"{told['path']}: {_headline(told)}", *_lines(told)]
    return "".join(printable(line) + "\n" for line in lines)


def _bundle_lines(told: dict[str, Any]) -> list[str]:
    sizes = "; ".join(f"{name} {one['min']} to {one['max']}" for name, one in told["dims"].items())
    lines = [
        f"{told['path']}: bundle {told['name']} {told['version']}, {told['size']:,} bytes",
        f"  verdict   {told['verdict']}, {len(told['cases'])} recorded cases",
        f"  digest    {told['digest']}",
        *_tensor_lines(told),
    ]
    lines += [f"  dims      {sizes}"] if sizes else []
    lines += [f"  waived    {one['claim']} until {one['until']}: {one['reason']}" for one in told["waivers"]]
    for name, facts in told["variants"].items():
        lines += [f"{name} ({facts['precision']}): {_headline(facts)}", *_lines(facts)]
    return lines


def _headline(facts: dict[str, Any]) -> str:
    # The versions of single operators (.pdmodel) are for --json.
    listed = {name: number for name, number in facts["versions"].items() if not name.startswith("operator ")}
    versions = ", ".join(f"{name} {number}" for name, number in listed.items())
    kind = _KINDS.get(facts["format"], facts["format"])
    parts = (
        kind,
        f"{facts['size']:,} bytes",
        facts["writer"] and f"by {facts['writer']}",
        versions,
    )
    return ", ".join(part for part in parts if part)


def _lines(facts: dict[str, Any]) -> list[str]:
    held, operators = facts["parameters"], facts["operators"]
    lines = _tensor_lines(facts)
    lines.append(f"  tensors   {held['count']:,} with {held['elements']:,} elements")
    if operators:
        # By number, then by name.
        ranked = sorted(operators.items(), key=lambda one: (-one[1], one[0]))
        listed = ", ".join(f"{name} {count}" for name, count in ranked)
        lines.append(f"  operators {sum(operators.values()):,}: {listed}")
    return lines


def _tensor_lines(told: dict[str, Any]) -> list[str]:
    return [
        f"  {side:9} {one['name']}: {one['dtype'] or 'not a tensor'}[{', '.join(map(str, one['shape']))}]"
        for side in ("input", "output")
        for one in told[f"{side}s"]
    ]
