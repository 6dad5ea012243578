"""A device that is not ours, played by ONNX Runtime: what it is fed, and how it computes, can be wrong."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from evals.elsewhere.bundles import Asked

Array = np.ndarray
#: The answers of a kit: by case and output, as `3.0`.
Answers = dict[tuple[int, int], Array]


def computed(
    asked: Asked, feed: Callable[[dict[str, Array]], Mapping[str, Array]] = dict, *, half: bool = False
) -> Answers:
    """What the kit's model gives on its inputs as `feed` changes them; with `half` every value is kept in float16."""
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime

    kit = asked.content
    model = (asked.kit / kit["model"]).read_bytes()
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    if half:  # else the casts there and back are taken out
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        model = _in_half(model)
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    names = [output["native"] for output in kit["outputs"]]
    answers = {}
    for case in kit["cases"]:
        inputs = {tensor["native"]: np.load(asked.kit / tensor["npy"], allow_pickle=False) for tensor in case["inputs"]}  # noqa: TID251
        fed = {name: np.ascontiguousarray(value.astype(inputs[name].dtype)) for name, value in feed(inputs).items()}
        for place, value in enumerate(session.run(names, fed)):
            answers[case["number"], place] = value
    return answers


def _in_half(model: bytes) -> bytes:
    """The model with every float value cast to float16 and back behind the node that makes it."""
    import onnx
    from onnx import TensorProto, helper

    whole, plain = (onnx.load_model_from_string(model) for _ in range(2))
    typed = [one for one in plain.graph.output if one.type.tensor_type.elem_type]  # what a kit's layers add has no type
    del plain.graph.output[:]
    plain.graph.output.extend(typed)
    values = [*onnx.shape_inference.infer_shapes(plain).graph.value_info, *typed]
    known = {one.name: one.type.tensor_type.elem_type for one in values}
    nodes = []
    for node in whole.graph.node:
        nodes.append(node)
        for place, name in enumerate(node.output):
            if known.get(name) == TensorProto.FLOAT:
                node.output[place] = f"{name}:wide"
                nodes.append(helper.make_node("Cast", [f"{name}:wide"], [f"{name}:half"], to=TensorProto.FLOAT16))
                nodes.append(helper.make_node("Cast", [f"{name}:half"], [name], to=TensorProto.FLOAT))
    del whole.graph.node[:]
    whole.graph.node.extend(nodes)
    content: bytes = whole.SerializeToString()
    return content


def write(asked: Asked, folder: Path, answers: Answers, **about: Any) -> Path:
    """Write answers as a kit's program does; keys of `about` go into answers.json."""
    folder.mkdir(parents=True)
    for (case, output), value in answers.items():
        np.save(folder / f"{case}.{output}.npy", value)
    said = {
        "engine": "planted",
        "version": "1",
        "device": "simulated",
        "who": "evals.elsewhere",
        "when": "2026-11-28",
        "precision": "fp32",
        "inputs": [tensor["name"] for tensor in asked.content["inputs"]],
        "bundle": asked.content["bundle"]["digest"],
    }
    (folder / "answers.json").write_text(json.dumps({**said, **about}), encoding="utf-8")
    return folder
