"""What was found, on which network and engine, and what the gate must say of it."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Find:
    """One defect: the network of `evals.finds.gate.networks`, what stands on the command line, and the right verdict.

    `stock` says that paddle2onnx's own file is judged. `path` is the sublayer to blame, `stage` where it came in.
    """

    what: str
    model: str
    inputs: tuple[str, ...]
    dims: tuple[str, ...]
    engine: str
    path: str
    stage: str
    formats: str = "pir"
    values: tuple[str, ...] = ()
    stock: bool = False
    verdict: str = "failed"
    code: int = 1
    notes: tuple[str, ...] = field(default=())


_IMAGE = ("x=float32[batch,3,64,64]",)
_BATCH = ("batch=1..4",)

FINDS = {
    "convnext": Find(
        what="ConvNeXt on the default predictor of 3.3.1 (oneDNN): over 100 % wrong",
        model="convnext",
        inputs=_IMAGE,
        dims=_BATCH,
        engine="paddle_inference_default",
        path="halve.0",
        stage="engine",
    ),
    "lstm": Find(
        what="an LSTM with sequence_length, through paddle2onnx 2.1.0",
        model="lstm_lengths",
        inputs=("x=float32[batch,7,6]", "lengths=int64[batch]"),
        dims=_BATCH,
        values=("lengths=integers(1,7)",),
        formats="pir,onnx",
        stock=True,
        engine="onnxruntime",
        path="body",
        stage="lower",
    ),
    "bilstm": Find(
        what="the final states of a two-layer bidirectional LSTM, through paddle2onnx 2.1.0: the last layer's alone",
        model="bilstm",
        inputs=("x=float32[batch,7,6]",),
        dims=_BATCH,
        formats="pir,onnx",
        stock=True,
        engine="onnxruntime",
        path="body",
        stage="lower",
    ),
    "pspnet": Find(
        what="PSPNet at 65 pixels, through paddle2onnx 2.1.0",
        model="pspnet",
        inputs=("x=float32[batch,3,65,65]",),
        dims=_BATCH,
        formats="pir,onnx",
        stock=True,
        engine="onnxruntime",
        path="pyramid.pools.3",
        stage="lower",
    ),
    "softplus": Find(
        what="the threshold of softplus on the default predictor of 3.3.1 (oneDNN): ignored",
        model="softplus",
        inputs=("x=float32[batch,6]",),
        dims=_BATCH,
        engine="paddle_inference_default",
        path="act",
        stage="engine",
    ),
    "overflow": Find(
        what="a network that overflows float32 inside: every engine equals eager bit for bit, and nothing is proven",
        model="overflow",
        inputs=("x=float32[batch,6]",),
        dims=_BATCH,
        engine="jit_load",
        path="energy",
        stage="eager",
        verdict="inconclusive",
    ),
    "bfloat16": Find(
        what="OpenVINO left at its default on a CPU with bfloat16: three digits",
        model="plain",
        inputs=("x=float32[batch,3,16,16]",),
        dims=_BATCH,
        formats="pir,onnx",
        engine="openvino_default",
        path="conv",
        stage="engine",
        notes=("onnx/openvino_default computes in bf16 by its own default; the variant is fp32",),
    ),
}
