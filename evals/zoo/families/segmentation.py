"""PaddleSeg's newest: the networks that the family `seg` (PaddleSeg 2.8.0) does not have, and matting.

`--checkout segmentation=FOLDER` names its checkout, the folder that holds `paddleseg/`; nothing of it is copied here.
Its `paddleseg` takes the place of the installed one, so `seg` cannot be asked for in the same run.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from evals.zoo.checkouts import checkout
from evals.zoo.families.nlp import clients
from evals.zoo.network import BATCH, Network, Tensor

DIMS = {
    "batch": BATCH,
    "height": {"min": 64, "typical": 96, "max": 128, "multiple_of": 32},
    "width": {"min": 64, "typical": 64, "max": 160, "multiple_of": 32},
}
_OPEN = ("batch", 3, "height", "width")
_SQUARE = ("batch", 3, 128, 128)
_CLASSES = 4
#: What the packages import for pictures, files of the clinic and metrics, and no network calls.
_MEDICAL = "contrib/MedicalSeg"
_UNUSED = frozenset({"nibabel", "pymatting", "SimpleITK", "skimage"})
_ALL, _LAST = (0, 1, 2, 3), (2, 3)
_VIT: dict[str, Any] = {"img_size": 128, "embed_dim": 64, "depth": 4, "num_heads": 4, "qkv_bias": True}


@dataclass(frozen=True)
class Entry:
    """A class of `package`.models with its backbone and configuration; `shape` is that of the picture."""

    name: str
    kind: str
    backbone: str = ""
    config: Mapping[str, Any] = field(default_factory=dict, hash=False)
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)
    shape: tuple[int | str, ...] = _OPEN
    package: str = "paddleseg"

    @property
    def dims(self) -> dict[str, Mapping[str, int]]:
        return {size: DIMS[size] for size in self.shape if isinstance(size, str)}


def _with(name: str, backbone: str, *, kind: str = "", shape: tuple[int | str, ...] = _OPEN, **config: Any) -> Entry:
    return Entry(name, kind or name, backbone, config, shape=shape)


_KERNELS: dict[str, Any] = {
    "kernel_generate_head_params": {
        "head_layer": "FCNKernelHead", "num_classes": _CLASSES, "in_channels": 512, "num_convs": 2,
        "concat_input": True, "channels": 256, "dropout_prob": 0.1},
    "kernel_update_head_params": {
        "num_classes": _CLASSES, "num_heads": 4, "num_mask_fcs": 1, "feedforward_channels": 64, "in_channels": 256,
        "out_channels": 256, "dropout": 0.0, "conv_kernel_size": 1, "with_ffn": True},
}  # fmt: skip
ENTRIES = (
    Entry("PPMobileSeg", "PPMobileSeg", "MobileSeg_Tiny", {"upsample": "intepolate"},
          {"inj_type": "AAM", "out_feat_chs": [32, 64, 128]}),
    _with("MaskFormer", "SwinTransformer_tiny_patch4_window7_224_maskformer", shape=(1, 3, 128, 128)),
    Entry("Segmenter_linear", "LinearSegmenter", "VisionTransformer", {}, _VIT, _SQUARE),
    Entry("Segmenter_mask", "MaskSegmenter", "VisionTransformer",
          {"h_embed_dim": 64, "h_depth": 1, "h_num_heads": 4}, _VIT, _SQUARE),
    Entry("SETR_naive", "SegmentationTransformer", "VisionTransformer", {"backbone_indices": _ALL}, _VIT, _SQUARE),
    Entry("SETR_pup", "SegmentationTransformer", "VisionTransformer", {"backbone_indices": _ALL, "head": "pup"}, _VIT,
          _SQUARE),
    Entry("KNet", "KNet", "ResNet18_vd", {"backbone_indices": (3,), "num_stages": 2, "channels": 256, **_KERNELS}),
    _with("UPerNet", "ResNet18_vd", backbone_indices=_ALL, channels=32),
    _with("CCNet", "ResNet18_vd", enable_auxiliary_loss=False, recurrence=2),
    _with("DANet", "ResNet18_vd", backbone_indices=_LAST),
    _with("GCNet", "ResNet18_vd", enable_auxiliary_loss=False),
    _with("EMANet", "ResNet18_vd", enable_auxiliary_loss=False),
    _with("DNLNet", "ResNet18_vd", enable_auxiliary_loss=False),
    _with("ANN", "ResNet18_vd", enable_auxiliary_loss=False),
    _with("GloRe", "ResNet18_vd", enable_auxiliary_loss=False),
    _with("DMNet", "ResNet18_vd"),
    _with("ENCNet", "ResNet18_vd", use_se_loss=False),
    _with("GINet", "ResNet50_vd", enable_auxiliary_loss=False),
    _with("GSCNN", "ResNet18_vd"),
    _with("DecoupledSegNet", "ResNet18_vd"),
    _with("SFNet", "ResNet18_vd", backbone_indices=_ALL),
    _with("PFPNNet", "ResNet18_vd", backbone_indices=_ALL, channels=32, fpn_inplanes=[64, 128, 256, 512]),
    _with("LRASPP", "MobileNetV3_small_x0_35"),
    _with("MobileSeg", "MobileNetV3_small_x0_35"),
    _with("PP-LiteSeg", "STDC1", kind="PPLiteSeg"),
    _with("PPHumanSegLite", ""),
    _with("ESPNetV1", "", num_classes=19),
    _with("ESPNetV2", ""),
    _with("DDRNet", "", kind="DDRNet_23"),
    _with("BiseNetV1", "ResNet18_vd"),
    _with("UNetPlusPlus", "", shape=("batch", 3, 64, 64)),
    _with("AttentionUNet", "", shape=("batch", 3, 64, 64)),
    _with("UHRNet", "UHRNet_W18_Small", kind="FCN", backbone_indices=(-1,)),
    _with("Lite-HRNet", "Lite_HRNet_18", kind="FCN", backbone_indices=(-1,)),
    _with("TopFormer", "TopTransformer_Tiny"),
    Entry("SeaFormer", "SeaFormerSeg", "SeaFormer_tiny",
          {"head_channels": 96, "embed_dims": [64, 96], "in_index": [0, 1, 2]}, {"pretrained": None}),
    # Its batch is the number of a convolution's groups: by its own message it is exported with a fixed one.
    _with("RTFormer", "", shape=(2, 3, "height", "width"), base_channels=16, head_channels=32,
          spp_channels=32, use_aux_head=False),
    _with("LPSNet", "", depths=[1, 1, 1, 1, 1], channels=[8, 24, 48, 96, 96], scale_ratios=[1, 0.25]),
    _with("SINet", ""),
    _with("EfficientFormer", "EfficientFormerv2_s1", kind="EfficientFormerSeg", shape=_SQUARE),
    Entry("PanopticDeepLab", "PanopticDeepLab", "ResNet18_vd",
          {"backbone_indices": (2, 1, 0, 3), "aspp_ratios": (1, 3, 6, 9), "aspp_out_channels": 32,
           "decoder_channels": 32, "low_level_channels_projects": [32, 16, 8], "align_corners": True,
           "instance_aspp_out_channels": 32, "instance_decoder_channels": 16,
           "instance_low_level_channels_projects": [16, 8, 8], "instance_num_classes": [1, 2],
           "instance_head_channels": 16, "instance_class_key": ["center", "offset"]}, package="panoptic"),
    Entry("MODNet", "MODNet", "MobileNetV2", {}, package="ppmatting"),
    Entry("PP-Matting", "PPMatting", "HRNet_W18", {}, package="ppmatting"),
    Entry("PP-MattingV2", "PPMattingV2", "STDC1", {}, package="ppmatting"),
    Entry("HumanMatting", "HumanMatting", "ResNet34_vd", {"if_refine": False}, shape=_SQUARE, package="ppmatting"),
    Entry("TransUNet", "TransUNet", "ResNet",
          {"decoder_channels": [32, 16, 16, 16], "hidden_size": 64, "patches_grid": [4, 4], "mlp_dim": 96,
           "num_heads": 4, "num_layers": 2, "img_size": 64, "num_classes": _CLASSES},
          {"block_units": [1, 1, 1], "width_factor": 1}, (1, "batch", 1, 64, 64), "medicalseg"),
)  # fmt: skip


def builders() -> dict[Entry, Callable[[], Any]]:
    """A factory for each network; empty where no checkout is named."""
    root = checkout("segmentation", "paddleseg")
    if root is None:
        return {}
    return {entry: partial(_build, entry, root) for entry in ENTRIES}


def models(package: str, root: Path) -> tuple[Any, Any]:
    """The modules of a package's models and of its backbones: PaddleSeg's own, and those that stand beside it."""
    for folder in (root, root / "Matting", root / _MEDICAL):
        if str(folder) not in sys.path:
            sys.path.insert(0, str(folder))
    # Its own `__init__` loads tools that read files of the folder they are run in.
    for name in ("medicalseg", "medicalseg.models"):
        if name not in sys.modules:
            sys.modules[name] = types.ModuleType(name)
            sys.modules[name].__path__ = [str(root.joinpath(_MEDICAL, *name.split(".")))]
    with clients(_UNUSED):
        ours = Path(importlib.import_module("paddleseg").__file__ or "")
        if not ours.is_relative_to(root):
            raise SystemExit(f"{ours} was imported first: ask for `segmentation` without `seg`")
        if package == "panoptic":
            return _panoptic(root), importlib.import_module("paddleseg.models.backbones")
        if package == "medicalseg":
            backbones = importlib.import_module("medicalseg.models.backbones")
            return importlib.import_module("medicalseg.models.transunet"), backbones
        module = importlib.import_module(f"{package}.models")
        return module, module


def _panoptic(root: Path) -> Any:
    """The module alone: its package is called `models`, as many are."""
    name = "panoptic_deeplab"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, root / "contrib/PanopticDeepLab/models/panoptic_deeplab.py")
        assert spec is not None and spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


def _build(entry: Entry, root: Path) -> Any:
    from evals.zoo.families import paddlex_layers, segmentation_layers

    module, backbones = models(entry.package, root)
    config = dict(entry.config)
    if entry.backbone:
        kind = getattr(backbones, entry.backbone)
        if entry.settings is _VIT:  # it reads weights, even where none are named
            kind = type(kind.__name__, (kind,), {"init_weight": lambda self: None})
        config["backbone"] = kind(**entry.settings)
    if entry.package in ("paddleseg", "panoptic"):
        config.setdefault("num_classes", _CLASSES)
    network = getattr(module, entry.kind)(**config)
    paddlex_layers.scale(network, np.random.default_rng(5))
    if entry.package == "ppmatting":
        return segmentation_layers.Matting(network)
    return segmentation_layers.Edges(network) if entry.name == "GSCNN" else network


def networks() -> list[Network]:
    """PaddleSeg's newest, where its checkout is named."""
    return [
        Network("segmentation", entry.name, build, (Tensor(entry.shape),), entry.dims, calibrated=True)
        for entry, build in builders().items()
    ]
