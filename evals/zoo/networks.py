"""The networks that the gate is tried on, as they are deployed: what builds each, and what its inputs are.

docs/zoo.md describes the environment that has all families. Nothing is downloaded: weights are random, by seed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from evals.zoo import clas as clas_registry
from evals.zoo import detectors, sequences
from evals.zoo import nlp as transformers
from evals.zoo import ocr as ocr_checkout
from evals.zoo import paddlex as paddlex_wheel

BATCH = {"min": 1, "typical": 2, "max": 3}
TIME = {"min": 3, "typical": 6, "max": 9}


@dataclass(frozen=True)
class Tensor:
    """One input: a word in `shape` names a dim. `name` is empty where it is whatever `forward` calls it."""

    shape: tuple[int | str, ...]
    dtype: str = "float32"
    values: str = "normal"
    name: str = ""


@dataclass(frozen=True)
class Network:
    """`build` is called in a child; `inputs` stand in the order of `forward`'s parameters.

    `calibrated`: the factory's own random weights give nothing to compare with, see CALIBRATED.
    """

    family: str
    name: str
    build: Callable[[], Any]
    inputs: tuple[Tensor, ...]
    dims: Mapping[str, Mapping[str, int]] = field(default_factory=lambda: {"batch": BATCH})
    calibrated: bool = False

    @property
    def key(self) -> str:
        """The name as Python spells one: `evals.zoo.models:KEY` builds the network."""
        return re.sub(r"\W+", "_", self.name)


def image(size: int, height: int = 0, channels: int = 3) -> tuple[Tensor, ...]:
    return (Tensor(("batch", channels, height or size, size)),)


_VISION_SIZES = {"alexnet": 224, "googlenet": 224, "inception_v3": 96}


def vision() -> list[Network]:
    """All of paddle.vision.models."""
    import paddle

    models = paddle.vision.models
    names = [name for name in models.__all__ if name[0].islower()]
    listed = [Network("vision", name, getattr(models, name), image(_VISION_SIZES.get(name, 64))) for name in names]
    return [*listed, Network("vision", "LeNet", models.LeNet, image(28, channels=1))]


#: With random weights eager RedNet is not finite, and rounding alone moves DSNet by more than a hundredth of its size.
_CALIBRATED = ("rednet", "dsnet")


def clas() -> list[Network]:
    """PaddleClas 2.6.0: all that it registers."""
    return [
        Network(
            "clas",
            name,
            partial(clas_registry.build, name),
            (Tensor(("batch", 3, *clas_registry.height_and_width(name, factory))),),
            calibrated=clas_registry.source(factory) in _CALIBRATED,
        )
        for name, factory in clas_registry.architectures().items()
    ]


def nlp() -> list[Network]:
    """PaddleNLP 2.8.1: transformers of two layers."""

    def of(transformer: transformers.Transformer) -> Network:
        shape: tuple[int | str, ...] = (2, 6) if transformer.fixed else ("batch", "time")
        inputs = tuple(
            Tensor(shape, "int64", "integers(0,2)" if "type" in name else "integers(3,100)", name)
            for name in transformer.inputs
        )
        dims = {} if transformer.fixed else {"batch": BATCH, "time": TIME}
        return Network("nlp", transformer.name, transformer.build, inputs, dims)

    return [of(transformer) for transformer in transformers.TRANSFORMERS]


def ocr() -> list[Network]:
    """PaddleOCR by its own configurations, where a checkout is named."""
    return [
        Network("ocr", configuration.name, build, (Tensor(("batch", *configuration.image), name="x"),), calibrated=True)
        for configuration, build in ocr_checkout.builders().items()
    ]


def paddlex() -> list[Network]:
    """PaddleX 3.7.2, where its wheel is named."""
    return [
        Network(
            "paddlex",
            entry.name,
            build,
            tuple(Tensor(tensor.shape, tensor.dtype, tensor.values) for tensor in entry.inputs),
            entry.dims,
            calibrated=True,
        )
        for entry, build in paddlex_wheel.builders().items()
    ]


def seg() -> list[Network]:
    """PaddleSeg 2.8.0."""
    from paddleseg import models
    from paddleseg.models import backbones

    def build(name: str, backbone: str = "", **more: Any) -> Callable[[], Any]:
        def made() -> Any:
            arguments = dict(more, num_classes=4)
            if backbone:
                arguments["backbone"] = getattr(backbones, backbone)()
            return getattr(models, name)(**arguments)

        return made

    builds = {
        "BiSeNetV2": build("BiSeNetV2"),
        "PPLiteSeg": build("PPLiteSeg", "STDC1"),
        "UNet": build("UNet"),
        "FastSCNN": build("FastSCNN"),
        "OCRNet": build("OCRNet", "HRNet_W18_Small_V1", backbone_indices=[0]),
        "DeepLabV3P": build("DeepLabV3P", "ResNet50_vd"),
        "PSPNet": build("PSPNet", "ResNet50_vd"),
        "FCN": build("FCN", "HRNet_W18_Small_V1"),
        "SegNet": build("SegNet"),
        "ENet": build("ENet"),
        "SegFormer": build("SegFormer", "MixVisionTransformer_B0", embedding_dim=256),
        "HarDNet": build("HarDNet"),
        "STDCSeg": build("STDCSeg", "STDC1"),
        "U2Netp": build("U2Netp"),
    }
    return [Network("seg", name, make, image(_SEG_SIZES.get(name, 128))) for name, make in builds.items()]


#: SegNet is smaller yet: at 64 pixels and with random weights rounding alone swaps enough winners of its max pools,
#: whose places it unpools to, that the gate calls it inconclusive (1.4 % of the output's size).
_SEG_SIZES = {"UNet": 64, "SegNet": 32, "U2Netp": 64}


def det() -> list[Network]:
    """PaddleDetection 2.6.0, with the pre- and post-processing that it exports, and as heads."""
    picture = Tensor(("batch", 3, 160, 160), name="image")
    sizes = Tensor(("batch", 2), values="integers(160,161)", name="im_shape")
    scales = Tensor(("batch", 2), values="integers(1,2)", name="scale_factor")
    # PicoDet's head takes the batch from its feature maps as a number.
    fixed = tuple(Tensor((2, *given.shape[1:]), given.dtype, given.values, given.name) for given in (picture, scales))
    return [
        Network("det", "YOLOv3_MobileNet", detectors.yolov3, (picture, sizes, scales)),
        Network("det", "PicoDet_LCNet", detectors.picodet, fixed, {}),
        Network("det", "YOLOv3_MobileNet_heads", detectors.yolov3_heads, (picture,)),
        Network("det", "PicoDet_LCNet_heads", detectors.picodet_heads, fixed[:1], {}),
    ]


def sequence() -> list[Network]:
    """Recurrent networks and transformers of our own."""
    batch, both = {"batch": BATCH}, {"batch": BATCH, "time": TIME}
    words = Tensor(("batch", "time"), "int64", "integers(1,50)", "words")
    lengths = Tensor(("batch",), "int64", "integers(1,time)", "length")
    six = Tensor(("batch", 6), "int64", "integers(1,50)", "words")
    keys, values = (Tensor(("batch", 4, "time", 8), name=name) for name in ("keys", "values"))
    source, target = (Tensor(("batch", 6), "int64", "integers(1,50)", name) for name in ("source", "target"))
    return [
        Network("sequence", "LSTM_sequence_length", sequences.Lstm, (words, lengths), both),
        Network("sequence", "GRU_sequence_length", sequences.Gru, (words, lengths), both),
        Network("sequence", "Transformer_encoder", sequences.Encoder, (words,), both),
        Network("sequence", "Transformer_decoder_cache", sequences.DecoderStep, (six, keys, values), both),
        Network("sequence", "Transformer_decoder_loop", sequences.Greedy, (six,), batch),
        Network("sequence", "CRNN_CTC", sequences.Crnn, image(64, height=32, channels=1), batch),
        Network("sequence", "Seq2seq_attention", sequences.Attention, (source, target), batch),
    ]


#: Those that need no other package first, so that their networks are found where the others are not installed.
FAMILIES: Mapping[str, Callable[[], list[Network]]] = {
    "vision": vision,
    "sequence": sequence,
    "ocr": ocr,
    "paddlex": paddlex,
    "nlp": nlp,
    "clas": clas,
    "seg": seg,
    "det": det,
}
