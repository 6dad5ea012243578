"""The networks that PaddleX 3.7.2 carries as layers, from its wheel alone: PP-OCRv5 and v6, SLANeXt, RT-DETR and more.

`--checkout paddlex=FOLDER` names the unpacked wheel, the folder that holds `paddlex/`; nothing of it is copied
here. `import paddlex` itself would load OpenCV, pipelines and clients of model hubs, none of which a layer calls: only
the packages around `modeling/` are imported, each under its own name, their parents without their `__init__`.
"""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np

from evals.zoo.checkouts import checkout
from evals.zoo.families import paddlex_layers as layers
from evals.zoo.network import Network, Tensor, dims_of

_MODELS = "paddlex.inference.models"
_PARENTS = ("paddlex", "paddlex.inference", _MODELS)

_CLASSES, _DETECTION, _RECOGNITION = "image_classification", "text_detection", "text_recognition"
_OBJECTS, _TABLES, _UNWARPING, _FORMULAS = (
    "object_detection",
    "table_structure_recognition",
    "image_unwarping",
    "formula_recognition",
)
_DOCUMENTS = "doc_vlm"

#: Sizes of the named dims: pictures as detectors take them, lines of text, tokens.
DIMS = {
    "batch": {"min": 1, "typical": 2, "max": 3},
    "height": {"min": 64, "typical": 96, "max": 128, "multiple_of": 32},
    "width": {"min": 64, "typical": 64, "max": 160, "multiple_of": 32},
    "line": {"min": 48, "typical": 96, "max": 160},
    "length": {"min": 2, "typical": 5, "max": 9},
}
#: The backbone of PP-OCRv5_mobile_rec as it is released: the default of its class is the detector's.
_LINES = {
    "scale": 0.95,
    "divisor": 16,
    "block_configs": [
        [[3, 16, 32, 1, False]],
        [[3, 32, 64, 1, False], [3, 64, 64, 1, False]],
        [[3, 64, 128, [2, 1], False], [3, 128, 128, 1, False]],
        [[3, 128, 256, [1, 2], False], *([[5, 256, 256, 1, False]] * 4)],
        [[5, 256, 512, [2, 1], True], [5, 512, 512, 1, True], [5, 512, 512, [2, 1], False], [5, 512, 512, 1, False]],
    ],
}
_LETTERS = 997
_VIT = {
    "hidden_size": 64,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "image_size": 128,
    "window_size": 3,
    "global_attn_indexes": [2],
    "mlp_dim": 128,
    "output_channels": 32,
}
#: RT-DETR and PP-DocLayout at a tenth of their widths. Of few queries the scores, which decide their order, are far
#: enough apart that rounding exchanges none.
_BOXES = {
    "num_queries": 10,
    "decoder_layers": 2,
    "encoder_hidden_dim": 64,
    "encoder_in_channels": [64, 96, 128],
    "encoder_ffn_dim": 96,
    "d_model": 64,
    "decoder_in_channels": [64, 64, 64],
    "decoder_ffn_dim": 96,
    "mask_feature_channels": [32, 32],
    "x4_feat_dim": 32,
    "backbone_config": {
        "embedding_size": 16,
        "hidden_sizes": [32, 64, 96, 128],
        "num_labels": 0,
        "stem_channels": [3, 8, 16],
        "stage_in_channels": [16, 32, 64, 96],
        "stage_mid_channels": [8, 16, 24, 32],
        "stage_out_channels": [32, 64, 96, 128],
        "stage_num_blocks": [1, 1, 1, 1],
        "stage_numb_of_layers": [2, 2, 2, 2],
    },
    "reading_order_config": {
        "hidden_size": 64,
        "intermediate_size": 96,
        "num_hidden_layers": 2,
        "coordinate_size": 11,
        "shape_size": 10,
    },
}
_ORDER = {"class_thresholds": [0.5] * 25, "class_order": [index % 20 for index in range(25)]}
#: More than 16, up to which the sort of the C++ library keeps the order of equal elements by chance.
_UNSTABLE = {"num_queries": 20}
_WORDS = {
    "vocab_size": 100,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
    "use_cache": False,
}
_PLACES = {"rope_scaling": {"type": "default", "rope_type": "default", "mrope_section": [2, 3, 3]}}
_FORMULA = {
    "vision_config": _VIT | {"post_conv_in_channels": 32, "post_conv_mid_channels": 48, "post_conv_out_channels": 64},
    "text_config": {
        "vocab_size": 100,
        "d_model": 64,
        "decoder_layers": 2,
        "decoder_ffn_dim": 96,
        "decoder_attention_heads": 4,
        "max_position_embeddings": 64,
    },
}
_CHART = {"vision_config": _VIT | {"image_size": 128, "output_channels": 256}, "text_config": dict(_WORDS)}
_READER = _WORDS | {
    "head_dim": 16,
    "rope_scaling": {"type": "default", "rope_type": "default", "mrope_section": [2, 3, 3]},
    "vision_config": {
        "hidden_size": 64,
        "intermediate_size": 96,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "image_size": 56,
    },
}


@dataclass(frozen=True)
class Entry:
    """A class of the wheel at `config`, called by `layer` with `inputs`, whose words are dims.

    `settings`: the class of its configuration, where the network does not name it. `chooses`: a greedy decoder goes on
    with the token that won. With random weights tokens are so near each other that rounding alone decides; so the
    biases of the layer that it names are set far apart. `places`: the layer that it names gives a grid of places of a
    picture; random weights throw it far beyond the picture, where rounding moves it by whole pixels, so they are a
    tenth.
    """

    name: str
    task: str
    kind: str
    layer: Callable[[Any], Any]
    inputs: tuple[Tensor, ...]
    config: Mapping[str, Any] = field(default_factory=dict, hash=False)
    chooses: str = ""
    settings: str = ""
    places: str = ""

    @property
    def dims(self) -> dict[str, Mapping[str, int]]:
        return dims_of(self.inputs, DIMS)


_PICTURE = (Tensor(("batch", 3, "height", "width")),)
_LINE = (Tensor(("batch", 3, 48, "line")),)
_SQUARE = (Tensor(("batch", 3, 128, 128)),)
_TOKENS = (Tensor(("batch", "length"), "int64", "integers(3,100)"),)
_DETECTED = (
    Tensor(("batch", 3, 160, 160)),
    Tensor(("batch", 2), values="uniform(100,160)"),
    Tensor(("batch", 2), values="uniform(0.5,1.5)"),
)


def _read(name: str, task: str, kind: str, inputs: tuple[Tensor, ...], **config: Any) -> Entry:
    return Entry(name, task, kind, layers.Read, inputs, config)


#: All that builds and runs, but for the tower of PP-DocBee2: eagerly `qwen2_5_vl.py:1821` pads by -1 on Paddle 3.3.1.
ENTRIES = (
    Entry("PP-LCNet", _CLASSES, "PPLCNet", layers.PPLCNet, _PICTURE, {"num_labels": 10}),
    Entry("PP-HGNetV2", _CLASSES, "HGNetV2ForImageClassification", layers.HGNetV2, _PICTURE),
    Entry("PP-LCNetV3_backbone", _CLASSES, "PPLCNetV3Backbone", layers.Plain, _PICTURE, settings="PPLCNetV3Config"),
    Entry("PP-HGNetV2_backbone", _CLASSES, "HGNetV2Backbone", layers.Plain, _PICTURE, settings="HGNetV2Config"),
    _read("PP-OCRv5_mobile_det", _DETECTION, "PPOCRV5MobileDet", _PICTURE),
    _read("PP-OCRv5_server_det", _DETECTION, "PPOCRV5ServerDet", _PICTURE),
    _read("PP-OCRv6_small_det", _DETECTION, "PPOCRV6SmallDet", _PICTURE),
    _read("PP-OCRv6_medium_det", _DETECTION, "PPOCRV6MediumDet", _PICTURE),
    _read("PP-OCRv5_mobile_rec", _RECOGNITION, "PPOCRV5MobileRec", _LINE, backbone_config=_LINES,
          head_out_channels=_LETTERS),
    _read("PP-OCRv5_server_rec", _RECOGNITION, "PPOCRV5ServerRec", _LINE, head_out_channels=_LETTERS),
    _read("PP-OCRv6_small_rec", _RECOGNITION, "PPOCRV6SmallRec", _LINE, head_out_channels=_LETTERS),
    _read("PP-OCRv6_tiny_rec", _RECOGNITION, "PPOCRV6TinyRec", _LINE, head_out_channels=_LETTERS),
    Entry("UVDoc", _UNWARPING, "UVDocNet", layers.UVDoc, _PICTURE, {"upsample_size": [128, 96]},
          places="head.out_point_positions2D.conv_up"),
    Entry("SLANet", _TABLES, "SLANet", layers.Table, _PICTURE, {"max_text_length": 8}, "head.structure_generator.fc2"),
    Entry("SLANeXt", _TABLES, "SLANeXt", layers.Table, _SQUARE,
          {"max_text_length": 8, "vision_config": _VIT, "post_conv_in_channels": 32, "post_conv_out_channels": 64,
           "hidden_size": 64}, "head.structure_generator.fc2"),
    Entry("RT-DETR", _OBJECTS, "RTDETR", layers.Boxes, _DETECTED, _BOXES),
    Entry("RT-DETR_heads", _OBJECTS, "RTDETR", layers.Queries, _PICTURE, _BOXES),
    Entry("PP-DocLayoutV2", _OBJECTS, "PPDocLayoutV2", layers.Boxes, _DETECTED, _BOXES | _ORDER | _UNSTABLE),
    Entry("PP-DocLayoutV2_heads", _OBJECTS, "PPDocLayoutV2", layers.Queries, _PICTURE, _BOXES | _ORDER),
    Entry("PP-DocLayoutV3", _OBJECTS, "PPDocLayoutV3", layers.Boxes, _DETECTED, _BOXES),
    Entry("PP-DocLayoutV3_heads", _OBJECTS, "PPDocLayoutV3", layers.Queries, _PICTURE, _BOXES),
    Entry("PP-FormulaNet_encoder", _FORMULAS, "PPFormulaNet", layers.Encoder, _SQUARE, _FORMULA),
    Entry("PP-FormulaNet_step", _FORMULAS, "PPFormulaNet", layers.Step,
          (*_TOKENS, Tensor(("batch", 4, 64))), _FORMULA),
    Entry("PP-Chart2Table_vision", _DOCUMENTS, "PPChart2TableInference", layers.Features, _SQUARE, _CHART),
    Entry("PP-Chart2Table_words", _DOCUMENTS, "qwen2.Qwen2ForCausalLM", layers.Words, _TOKENS, _WORDS),
    Entry("PP-DocBee_vision", _DOCUMENTS, "qwen2_vl.Qwen2VisionTransformerPretrainedModel", layers.Grid,
          (Tensor((32, 1176)),), {"depth": 2, "embed_dim": 64, "hidden_size": 64, "num_heads": 4}),
    Entry("PP-DocBee_words", _DOCUMENTS, "qwen2_vl.Qwen2VLModel", layers.Words, _TOKENS, _WORDS | _PLACES),
    Entry("PP-DocBee2_words", _DOCUMENTS, "qwen2_5_vl.Qwen2_5_VLModel", layers.Words, _TOKENS,
          _WORDS | _PLACES | {"_attn_implementation": "eager"}),
    Entry("PaddleOCR-VL_vision", _DOCUMENTS, "PaddleOCRVLForConditionalGeneration", layers.Patches,
          (Tensor((32, 3, 14, 14)),), _READER),
    Entry("PaddleOCR-VL_words", _DOCUMENTS, "PaddleOCRVLForConditionalGeneration", layers.Embedded,
          (Tensor((1, "length", 64)), Tensor((3, 1, "length"), "int64", "integers(0,20)")), _READER),
)  # fmt: skip


def builders() -> dict[Entry, partial[Any]]:
    """A factory for each network; empty where no wheel is named."""
    # the package reads its version from the metadata beside it
    root = checkout("paddlex", "paddlex/inference/models")
    if root is None:
        return {}
    for name in (*_PARENTS, *(f"{_MODELS}.{task}" for task in {entry.task for entry in ENTRIES})):
        if name not in sys.modules:
            package = types.ModuleType(name)
            package.__path__ = [str(root.joinpath(*name.split(".")))]
            sys.modules[name] = package
    return {entry: partial(_build, entry) for entry in ENTRIES}


def modeling(task: str) -> types.ModuleType:
    """The module `paddlex.inference.models.TASK.modeling`."""
    builders()
    return importlib.import_module(f"{_MODELS}.{task}.modeling")


def _build(entry: Entry) -> Any:
    kind = attrgetter(entry.kind)(modeling(entry.task))
    settings = getattr(sys.modules[kind.__module__], entry.settings) if entry.settings else kind.config_class
    network = kind(settings(**entry.config))
    draw = np.random.default_rng(5)
    layers.scale(network, draw)
    if entry.chooses:
        bias = network.get_sublayer(entry.chooses).bias
        bias.set_value(2 * draw.standard_normal(bias.shape).astype("float32"))
    if entry.places:
        weight = network.get_sublayer(entry.places).weight
        weight.set_value(weight * 0.1)
    return entry.layer(network)


def networks() -> list[Network]:
    """PaddleX 3.7.2, where its wheel is named."""
    return [
        Network(
            "paddlex",
            entry.name,
            build,
            entry.inputs,
            entry.dims,
            calibrated=True,
        )
        for entry, build in builders().items()
    ]
