"""The networks of the clean checks: where each is built, and the spec under which it is judged."""

from __future__ import annotations

from typing import Any

from tests.described import about

_SEQUENCES = "batch=1..3..5 seq=2..5..9"
_IDS = "ids=int64[batch,seq]: integers(0,60)"
_LENGTHS = "lengths=int64[batch]: integers(1,seq)"
_IMAGE = "x=float32[batch,3,12,12]"
_PAIR = "x=float32[batch,10]; y=float32[batch,10]"
_LENGTH_DIMS = "batch=1..3..5 seq=3..5..9"

_LAYERS: dict[str, dict[str, Any]] = {
    **{f"{kind}_attention": about(_IDS, _SEQUENCES) for kind in ("bigru", "bilstm", "gru", "rnn")},
    **{f"{kind}_lengths": about(f"{_IDS}; {_LENGTHS}", _LENGTH_DIMS) for kind in ("bigru", "bilstm", "gru")},
    **{
        f"encoder_{head}": about(f"{_IDS}; mask=int64[batch,seq]: integers(0,2)", _SEQUENCES)
        for head in ("pair", "score", "tokens", "label", "classes")
    },
    **{
        f"ctc_{kind}": about("image=float32[batch,1,8,width]", "batch=1..2..3 width=8..16..24")
        for kind in ("lstm", "gru")
    },
    **{f"mlp_{act}": about("x=float32[batch,10]") for act in ("relu", "gelu", "swish", "softplus", "elu", "tanh")},
    **{f"norm_{kind}": about(_IMAGE) for kind in ("group", "instance", "batch", "layer")},
    "norm_rms": about("x=float32[batch,10]"),
    **{f"conv_{kind}": about(_IMAGE) for kind in ("depthwise", "dilated", "transposed")},
    "conv_one": about("x=float32[batch,2,time]", "batch=1..3..5 time=9..16..24"),
    "conv_three": about("x=float32[batch,1,6,6,6]"),
    "squeeze": about("x=float32[batch,3,12,12]: uniform(0,1)"),
    "named": about(_IMAGE),
    "sharper": about("x=float32[batch,3,6,6]: uniform(0,1)"),
    "loss_entropy": about("x=float32[batch,6]; y=int64[batch]: integers(0,6)"),
    **{f"loss_{kind}": about(_PAIR) for kind in ("square", "smooth", "cosine")},
    "loss_binary": about("x=float32[batch,10]; y=float32[batch,10]: integers(0,2)"),
    "loss_trained": about("x=float32[batch,10]; label=int64[batch]: integers(0,4)"),
    "boxes": about("boxes=float32[batch,6,4]; whole=float32[batch,4]: uniform(0,1)"),
    **{f"bag_{kind}": about(_IDS, _SEQUENCES) for kind in ("label", "softmax", "best")},
    "counts": about("ids=int64[batch,seq]: integers(0,60)", _SEQUENCES),
    **{
        f"towers_{kind}": about("user=int64[batch]: integers(0,40); item=int64[batch]: integers(0,90)", "batch=1..4..9")
        for kind in ("cosine", "deep")
    },
    "machine": about("ids=int64[batch,7]: integers(0,60)"),
    "cross": about(
        "queries=float32[batch,2,6]; keys=float32[batch,seq,6]; mask=int64[batch,seq]: integers(0,2)", _SEQUENCES
    ),
    "graph": about("nodes=float32[batch,5,4]; edges=float32[batch,5,5]: integers(0,2)"),
    "siamese": about("left=float32[batch,1,8,8]; right=float32[batch,1,8,8]"),
    "forecast": about("x=float32[batch,2,time]", "batch=1..3..5 time=6..12..18"),
    **{f"empty_{kind}": about(_IMAGE) for kind in ("map", "score", "gate")},
}

#: The networks that faults are planted in.
_DRILLED: dict[str, dict[str, Any]] = {
    "transformer": about("ids=int64[batch,seq]: integers(0,50)", _SEQUENCES),
    "lstm": about("x=float32[batch,7,6]"),
    "lengths": about("x=float32[batch,7,5]; lengths=int64[batch]: integers(1,8)"),
    "branches": about("x=float32[batch,6]"),
    **{kind: about("x=float32[batch,3,16,16]") for kind in ("tiny", "segments", "residual", "detector")},
    "mobilenet": about("x=float32[batch,3,32,32]"),
    "text": about("ids=int64[batch,seq]: integers(0,40)", _SEQUENCES),
}

_WORDS = "words=int64[batch,time]: integers(1,50)"
_TIMES = "batch=1..2..3 time=3..6..9"
#: Recurrent networks and Transformers of the zoo.
_ZOO: dict[str, dict[str, Any]] = {
    "Lstm": about(f"{_WORDS}; length=int64[batch]: integers(1,time)", _TIMES),
    "Gru": about(f"{_WORDS}; length=int64[batch]: integers(1,time)", _TIMES),
    "Encoder": about(_WORDS, _TIMES),
    "DecoderStep": about("words=int64[batch,6]: integers(1,50); keys=float32[batch,4,time,8]; "
                         "values=float32[batch,4,time,8]", _TIMES),
    "Greedy": about("words=int64[batch,6]: integers(1,50)", "batch=1..2..3"),
    "Crnn": about("image=float32[batch,1,32,64]", "batch=1..2..3"),
    "Attention": about("source=int64[batch,6]: integers(1,50); target=int64[batch,6]: integers(1,50)", "batch=1..2..3"),
}  # fmt: skip

#: Of paddle.vision, with few outputs and few pixels.
_VISION: dict[str, dict[str, Any]] = {
    "lenet": about("inputs=float32[batch,1,28,28]"),
    "squeezenet": about("inputs=float32[batch,3,48,48]", "batch=1..2..3"),
    "mobilenet_v1": about("x=float32[batch,3,32,32]", "batch=1..2..3"),
    "shufflenet": about("inputs=float32[batch,3,32,32]", "batch=1..2..3"),
}

#: By name: the factory, and what a spec says of its inputs.
NETWORKS: dict[str, tuple[str, dict[str, Any]]] = {
    **{name: (f"evals.clean.layers:{name}", said) for name, said in _LAYERS.items()},
    **{f"drill_{name}": (f"evals.drill.networks:{name}", said) for name, said in _DRILLED.items()},
    **{f"zoo_{name}": (f"evals.zoo.families.sequence:{name}", said) for name, said in _ZOO.items()},
    **{f"vision_{name}": (f"evals.clean.vision:{name}", said) for name, said in _VISION.items()},
}
