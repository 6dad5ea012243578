"""The README of a kit: what to run, what comes back, and how it is judged."""

from __future__ import annotations

from collections.abc import Sequence

from exporter.base.words import plain
from exporter.bundle.manifest import Manifest, Tensor, Variant
from exporter.deploy.elsewhere.content import KitCase, layout

_TEXT = """# {name} {version}: numbers from elsewhere

Run the model of this kit on your device, on the recorded inputs, and send back the folder `answers`. Whoever sent the
kit judges it:

    exporter verify BUNDLE --answers answers --engine "ENGINE VERSION on DEVICE"

## Run it

    python run.py       # ONNX Runtime; needs numpy and onnxruntime
    node run.js         # onnxruntime-web
    g++ -std=c++17 run.cpp -lopenvino -o run && ./run

A program has twenty to forty lines. For another engine change the lines that end in `engine`: load the model, feed the
inputs, take the outputs. The model is `{model}`; convert it as your engine wants it.

## What goes in

{inputs}

`inputs/CASE.INPUT.npy` and `inputs/CASE.INPUT.bin` hold the same numbers. A `.bin` has nothing but the numbers:
little-endian, in the order of the axes above with the last axis fastest. They are what the model itself takes: subtract
no mean, divide by nothing, change no layout. An engine that wants NHWC needs them transposed.

{cases}

## What comes out

{outputs}

Write output N of case C to `answers/C.N.npy`, or as bare numbers to `answers/C.N.bin`: with the dtype and the axes
above, as many numbers as the case asks for. An engine that computes in float16 writes its answers as float32. An engine
without int64 writes its whole numbers as int64 all the same. Answer every case: what is missing is no pass.

`answers/answers.json` says who measured what:

    {{"engine": "rknn", "version": "2.5", "device": "RK3588", "who": "your name", "when": "2026-01-31",
     "precision": "fp32", "inputs": {names}, "bundle": "{digest}"}}

`precision` is fp32, fp16 or int8. `inputs` is the order in which the inputs were fed. `outputs`, if it is there, lists
the names of the outputs by their numbers.
{layers}"""

_LAYERS = """
## Layers

`layers/model.onnx` is the same model, and puts out its intermediate values as well. Run it on the one case of
`layers/cases.txt` with the argument `layers`: the programs write `answers/layers/C.N.npy` or `.bin` for each value, in
the order of `kit.json`. Then `exporter verify … --layers` says which operator errs by itself, and which only hands on
what came in wrong. Keep the model's names where your engine can; leave out values that it does not show.
"""


def readme(manifest: Manifest, variant: Variant, name: str, cases: Sequence[KitCase], *, layers: bool) -> str:
    """Return the text of README.md."""

    def table(tensors: Sequence[Tensor], natives: Sequence[str]) -> str:
        lines = [
            "| number | name | name in the model | dtype | axes | layout |",
            "| --- | --- | --- | --- | --- | --- |",
        ]
        for number, (tensor, native) in enumerate(zip(tensors, natives, strict=True)):
            axes = ", ".join(map(str, tensor.shape)) or "none: one number"
            cells = (str(number), tensor.name, native, tensor.dtype, axes, layout(tensor.shape))
            lines.append(f"| {' | '.join(map(plain, cells))} |")
        return "\n".join(lines)

    listed = ["| case | name | shapes of its inputs |", "| --- | --- | --- |"]
    for case in cases:
        shapes = "; ".join(str(tensor["shape"]) for tensor in case["inputs"])
        listed.append(f"| {case['number']} | {plain(case['name'])} | {shapes} |")
    names = ", ".join(f'"{tensor.name}"' for tensor in manifest.inputs)
    return _TEXT.format(
        name=plain(manifest.name),
        version=plain(manifest.version),
        model=f"model/{variant.artifact().main.rpartition('/')[2]} ({name})",
        inputs=table(manifest.inputs, variant.inputs),
        cases="\n".join(listed),
        outputs=table(manifest.outputs, variant.outputs),
        names=f"[{names}]",
        digest=manifest.digest,
        layers=_LAYERS if layers else "",
    )
