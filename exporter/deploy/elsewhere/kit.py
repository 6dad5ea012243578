"""Write a kit: the recorded inputs, the model, and small programs that run it and write the answers.

What the outputs should be stays at home, so that no answer can be a copy of it. A kit hangs on nothing but the bundle
and what was asked for: the same bundle gives the same bytes.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from exporter.base.errors import UsageError, did_you_mean
from exporter.base.files import place_folder, readable_json, safe_relative, sha256_bytes, sibling, translated
from exporter.base.tensors import Array, recorded_inputs
from exporter.bundle.layout import GOLDEN
from exporter.bundle.manifest import Manifest, Variant
from exporter.bundle.open import Bundle
from exporter.deploy.elsewhere.cases import Wanted, chosen
from exporter.deploy.elsewhere.content import FedTensor, KitCase, NamedTensor, Part, layout
from exporter.deploy.elsewhere.readme import readme
from exporter.deploy.handoff.place import files_in, refuse_more, refuse_other
from exporter.process.scratch import scratch
from exporter.prove.root_cause.program import tap_of

_PROGRAMS = Path(__file__).parent / "programs"
#: The folders that programs write into.
ANSWERS, LAYERS = "answers", "answers/layers"


@dataclass(frozen=True)
class Kit:
    """A finished kit: its folder, the cases in it, and whether it was there before with the same bytes."""

    folder: Path
    cases: tuple[str, ...]
    new: bool


def variant_of(manifest: Manifest, wanted: str | None) -> str:
    """Return the variant that a kit carries: the one asked for; else the ONNX, else the first in float32.

    Raises:
        UsageError: the bundle has no such variant.
    """
    if wanted is not None and wanted not in manifest.variants:
        raise UsageError(
            f"the bundle has no variant '{wanted}'", where="--variant", hint=did_you_mean(wanted, manifest.variants)
        )
    plain = [name for name, variant in manifest.variants.items() if variant.precision == "fp32"]
    return wanted or next((name for name in plain if name == "onnx"), next(iter(plain or manifest.variants)))


def write_kit(
    bundle: Bundle,
    out: Path,
    wanted: Wanted,
    variant: str | None = None,
    *,
    layers: bool = False,
    layers_of: str = "",
) -> Kit:
    """Write the folder `out`; with `layers` also a model that puts out what lies inside, in the case `layers_of`.

    Raises:
        UsageError: no such variant or case, the variant cannot show its layers, or `out` holds something else.
        BundleError: a file of the bundle is damaged.
    """
    manifest = bundle.manifest
    if not manifest.cases:
        hint = "exporter release SPEC, which records them"
        raise UsageError("it records no case, so nothing could be asked", where=str(bundle.folder), hint=hint)
    if out.resolve().is_relative_to(bundle.folder.resolve()):
        hint = "write it beside the bundle"
        raise UsageError("lies in the bundle, which is sealed", where=f"--out {out}", hint=hint)
    name = variant_of(manifest, variant)
    cases = chosen(manifest.cases, wanted)
    with sibling(out) as draft:
        draft.mkdir()
        numbered = [(number, case.name) for number, case in cases]
        for path, content in _files(bundle, name, numbered, layers or bool(layers_of), layers_of).items():
            place = draft / safe_relative(path, str(out))
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content if isinstance(content, bytes) else content.read_bytes())
        with translated(out):
            new = _put(draft, out)
    return Kit(out, tuple(case.name for _, case in cases), new)


def _put(draft: Path, out: Path) -> bool:
    """Put a draft in its place; false where the same bytes lie there already."""
    if out.is_symlink():
        raise UsageError("is a symbolic link", where=str(out), hint="name the folder itself with --out")
    if not out.exists() or (out.is_dir() and not files_in(out)):
        if out.exists():
            out.rmdir()
        place_folder(draft, out)
        return True
    refuse_other(draft, out, files_in(draft), "choose another --out")
    answered = {path for path in files_in(out) if path.startswith(f"{ANSWERS}/")}
    if not answered:
        refuse_more(draft, out)
    return False


def _files(
    bundle: Bundle, name: str, cases: Sequence[tuple[int, str]], layers: bool, layers_of: str
) -> dict[str, bytes | Path]:
    """Every file of a kit by its path."""
    manifest, variant = bundle.manifest, bundle.manifest.variants[name]
    files: dict[str, bytes | Path] = {
        f"model/{Path(path).name}": bundle.folder / path for path in sorted(variant.files)
    }
    inputs, selected = recorded_files(bundle, name, cases)
    files |= inputs
    main = f"model/{Path(variant.artifact().main).name}"
    part: Part = {"model": main, "answers": ANSWERS, "cases": selected, "outputs": outputs_of(manifest, variant)}
    files["model/cases.txt"] = _flat(selected)
    about = about_kit(manifest, name, part)
    if layers:
        inner, own = layer_files(bundle, name, selected, layers_of)
        files |= inner
        about["layers"] = own
    files["kit.json"] = readable_json(about)
    files |= _programs(manifest, variant)
    files["README.md"] = readme(manifest, variant, name, selected, layers=layers).encode()
    return files


def recorded_files(
    bundle: Bundle, name: str, cases: Sequence[tuple[int, str]], *, headers: bool = True
) -> tuple[dict[str, bytes | Path], list[KitCase]]:
    """The inputs of some cases as bare numbers, with `headers` also as .npy, and what kit.json says of each case."""
    manifest, variant = bundle.manifest, bundle.manifest.variants[name]
    files: dict[str, bytes | Path] = {}
    selected: list[KitCase] = []
    for number, case in cases:
        values = recorded_inputs(bundle.folder / GOLDEN, case, [tensor.name for tensor in manifest.inputs])
        fed: list[FedTensor] = []
        for place, (tensor, native) in enumerate(zip(manifest.inputs, variant.inputs, strict=True)):
            stem, value = f"inputs/{number}.{place}", values[tensor.name]
            raw = raw_bytes(value)
            files |= {f"{stem}.npy": npy_bytes(value), f"{stem}.bin": raw} if headers else {f"{stem}.bin": raw}
            about: FedTensor = {
                "name": tensor.name,
                "native": native,
                "dtype": value.dtype.name,
                "shape": list(value.shape),
                "bin": f"{stem}.bin",
                "sha256": sha256_bytes(raw),
            }
            fed.append({**about, "npy": f"{stem}.npy"} if headers else about)
        selected.append({"number": number, "name": case, "inputs": fed})
    return files, selected


def about_kit(manifest: Manifest, name: str, part: Part) -> dict[str, object]:
    """Describe, as kit.json does, the bundle, the variant, its inputs, and the part that its program runs."""
    variant = manifest.variants[name]
    return {
        "schema": 1,
        "bundle": {"name": manifest.name, "version": manifest.version, "digest": manifest.digest},
        "variant": name,
        "inputs": [
            _named(tensor.name, native, tensor.dtype, list(tensor.shape))
            for tensor, native in zip(manifest.inputs, variant.inputs, strict=True)
        ],
        **part,
    }


def layer_files(
    bundle: Bundle, name: str, selected: Sequence[KitCase], wanted: str = ""
) -> tuple[dict[str, bytes | Path], Part]:
    """The model that puts out its intermediate values, and what is asked of it: one case, that of the name `wanted`.

    Raises:
        UsageError: the variant is no ONNX, or the kit has no such case.
    """
    variant = bundle.manifest.variants[name]
    if variant.format != "onnx":
        hint = "leave out --layers, or take --variant onnx where the bundle has it"
        raise UsageError(f"{name} is no ONNX, and layers are asked of ONNX alone", where="--layers", hint=hint)
    with scratch() as place:
        names = tap_of(variant.format)((bundle.folder / variant.artifact().main).parent, place)
        files: dict[str, bytes | Path] = {
            f"layers/{path.name}": path.read_bytes() for path in sorted(place.iterdir()) if path.is_file()
        }
    case = _named_case(selected, wanted) if wanted else layer_case(selected)
    outputs = [_named(native, native, "", []) for native in names]
    files["layers/cases.txt"] = _flat([case])
    return files, {"model": "layers/model.onnx", "answers": LAYERS, "cases": [case], "outputs": outputs}


def _named_case(selected: Sequence[KitCase], wanted: str) -> KitCase:
    by_name = {str(case["name"]): case for case in selected}
    if wanted not in by_name:
        hint = did_you_mean(wanted, dict.fromkeys(by_name))
        raise UsageError(f"the kit has no case '{wanted}'", where="--layers-of", hint=hint)
    return by_name[wanted]


def layer_case(selected: Sequence[KitCase]) -> KitCase:
    """The case whose layers are asked for: the first that the spec promises, of the smallest inputs."""

    def amount(case: KitCase) -> int:
        return sum(int(np.prod(tensor["shape"])) for tensor in case["inputs"])

    return min(selected, key=lambda case: (":" in case["name"], amount(case), case["number"]))


def outputs_of(manifest: Manifest, variant: Variant) -> list[NamedTensor]:
    """The outputs in the order of their numbers, by the bundle's names and the file's."""
    pairs = zip(manifest.outputs, variant.outputs, strict=True)
    return [_named(tensor.name, native, tensor.dtype, list(tensor.shape)) for tensor, native in pairs]


def _named(name: str, native: str, dtype: str, shape: list[int | str]) -> NamedTensor:
    return {"name": name, "native": native, "dtype": dtype, "shape": shape, "layout": layout(shape)}


def _flat(cases: Sequence[KitCase]) -> bytes:
    """A line for each case: its number, then for each input its rank and sizes; for programs without JSON."""
    lines = []
    for case in cases:
        sizes = [[len(tensor["shape"]), *tensor["shape"]] for tensor in case["inputs"]]
        lines.append(" ".join(map(str, [case["number"], *(size for shape in sizes for size in shape)])))
    return ("\n".join(lines) + "\n").encode()


def _programs(manifest: Manifest, variant: Variant) -> Mapping[str, bytes]:
    def listed(names: Sequence[str]) -> str:
        return ", ".join(json.dumps(name) for name in names)

    words = {
        "@INPUTS@": listed(variant.inputs),
        "@OUTPUTS@": listed(variant.outputs),
        "@NAMES@": json.dumps([tensor.name for tensor in manifest.inputs]),
        "@DIGEST@": manifest.digest,
    }
    programs = {}
    for path in sorted(_PROGRAMS.glob("*.in")):
        text = path.read_text(encoding="utf-8")
        for word, meant in words.items():
            text = text.replace(word, meant)
        programs[path.name.removesuffix(".in")] = text.encode()
    return programs


def raw_bytes(value: Array) -> bytes:
    """The numbers alone: little-endian, the last axis fastest."""
    little = value.astype(value.dtype.newbyteorder("<"), copy=False)
    return np.ascontiguousarray(little).tobytes()


def npy_bytes(value: Array) -> bytes:
    """The same with a header, as `numpy.save` writes it."""
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.asarray(value, order="C"), version=(1, 0), allow_pickle=False)
    return stream.getvalue()
