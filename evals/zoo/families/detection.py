"""PaddleDetection's newest networks, each by its own `configs/**.yml` with smaller sizes.

`--checkout detection=FOLDER` names a checkout of PaddleDetection, which takes the place of an installed `ppdet`.
Nothing of it is copied here. `import ppdet` itself would load readers of data sets, trainers and metrics, none of which
a layer calls: the packages around `ppdet.modeling` are imported without their `__init__`.
"""

from __future__ import annotations

import copy
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import paddle
import yaml

from evals.zoo.calibrated import ROWS
from evals.zoo.checkouts import checkout
from evals.zoo.families import detection_layers as layers
from evals.zoo.families.paddlex_layers import scale
from evals.zoo.network import BATCH, Network, Tensor
from evals.zoo.settled import settle

_PARENTS = ("ppdet", "ppdet.data", "ppdet.data.source", "ppdet.data.transform")

Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Entry:
    """A network by `configs/CONFIG.yml` with these settings over it, called by `layer`.

    `size` is the picture's height and width, `side` what each of them is a multiple of; both vary unless `fixed`.
    `batch` is a number where the model asks for one. `gain` scales the convolutions after which no norm comes, and
    `lift` is their bias: they decide how many boxes pass a threshold.
    """

    name: str
    config: str
    layer: Callable[[Any], Any]
    settings: Settings = field(default_factory=dict, hash=False)
    size: tuple[int, int] = (96, 96)
    side: int = 32
    fixed: bool = False
    batch: int | str = "batch"
    gain: float = 1.0
    lift: float = 0.0

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        height, width = self.size if self.fixed else ("height", "width")
        picture = Tensor((self.batch, 3, height, width), name="image")
        sizes = Tensor((self.batch, 2), values=f"uniform({self.size[0] - 16},{self.size[0]})", name="im_shape")
        scales = Tensor((self.batch, 2), values="uniform(0.5,1.5)", name="scale_factor")
        if self.layer in (layers.Sized, layers.Rois, layers.Instances):
            return picture, sizes, scales
        return (picture, scales) if self.layer is layers.Scaled else (picture,)

    @property
    def dims(self) -> dict[str, Mapping[str, int]]:
        named: dict[str, Mapping[str, int]] = {"batch": BATCH} if self.batch == "batch" else {}
        if not self.fixed:
            named |= {
                name: {"min": size - self.side, "typical": size, "max": size + self.side, "multiple_of": self.side}
                for name, size in zip(("height", "width"), self.size, strict=True)
            }
        return named


_PLAIN = {"norm_type": "bn", "num_classes": 5}
_RESNET = {"ResNet": {"depth": 18, "freeze_norm": False, "freeze_at": -1}}
_HEADS = {"exclude_nms": True}
_FPN = _PLAIN | _RESNET | {"FPN": {"out_channel": 32}}
_X50 = _FPN | {"ResNet": _RESNET["ResNet"] | {"groups": 1, "base_width": 64}}
_NARROW = _PLAIN | {"depth_mult": 0.33, "width_mult": 0.125, "eval_size": None}


def _suppressed(**more: Any) -> Settings:
    return {
        "name": "MultiClassNMS",
        "nms_top_k": 100,
        "keep_top_k": 20,
        "score_threshold": 0.5,
        "nms_threshold": 0.5,
    } | more


_NMS = {"BBoxPostProcess": {"nms": _suppressed()}}
_LIKELY = {"BBoxPostProcess": {"nms": _suppressed(score_threshold=0.62, keep_top_k=100)}}
_SURE = {"BBoxPostProcess": {"nms": _suppressed(score_threshold=0.85, keep_top_k=100)}}


def _boxes(transformer: str, **more: Any) -> dict[str, Any]:
    """A DETR of two layers and 20 queries."""
    small = {"num_queries": 20, "nhead": 4, "num_decoder_layers": 2, "dim_feedforward": 64} | more
    return (
        _PLAIN
        | _RESNET
        | {
            "hidden_dim": 64,
            "eval_size": None,
            transformer: small,
            "HybridEncoder": {
                "hidden_dim": 64,
                "expansion": 0.25,
                "encoder_layer": {
                    "name": "TransformerLayer",
                    "d_model": 64,
                    "nhead": 4,
                    "dim_feedforward": 64,
                    "dropout": 0.0,
                    "activation": "gelu",
                },
            },
            "DETRPostProcess": {"num_top_queries": 10},
        }
    )


_YOLOX = _NARROW | {"width_mult": 0.25, "YOLOXHead": {"nms": _suppressed(score_threshold=0.57, keep_top_k=100)}}
_RTDETR = _boxes("RTDETRTransformer", num_denoising=0)
_RTDETR2 = _boxes("RTDETRTransformerv2", num_denoising=0)
_MASK_RTDETR = _boxes("MaskRTDETR", num_denoising=0) | {
    "num_prototypes": 8,
    "MaskHybridEncoder": {
        "hidden_dim": 64,
        "expansion": 0.25,
        "mask_feat_channels": [16, 16],
        "encoder_layer": {
            "name": "TransformerLayer",
            "d_model": 64,
            "nhead": 4,
            "dim_feedforward": 64,
            "dropout": 0.0,
            "activation": "gelu",
        },
    },
}
_DETR = _boxes("DETRTransformer", num_encoder_layers=1, dropout=0.0)
_DEFORMABLE = _boxes("DeformableTransformer", num_encoder_layers=1, dropout=0.0)
_DINO = _boxes("DINOTransformer", num_encoder_layers=1, num_denoising=0)
_RCNN = _FPN | {
    "RPNHead": {"test_proposal": {"min_size": 0.0, "nms_thresh": 0.7, "pre_nms_top_n": 60, "post_nms_top_n": 20}},
    "TwoFCHead": {"out_channel": 64},
    "CascadeTwoFCHead": {"out_channel": 64},
    "MaskFeat": {"num_convs": 2, "out_channel": 32},
}
# The heads of FCOS and GFL ask for 256 channels.
_FCOS_FEAT = {"name": "FCOSFeat", "feat_in": 32, "feat_out": 256, "num_convs": 1, "norm_type": "gn", "use_dcn": False}
_RETINA = _FPN | {
    "RetinaHead": {"conv_feat": _FCOS_FEAT | {"name": "RetinaFeat", "feat_out": 32}, "nms": _suppressed()}
}
_SOLO = _FPN | {
    "SOLOv2Head": {
        "in_channels": 32,
        "seg_feat_channels": 32,
        "stacked_convs": 1,
        "num_grids": [12, 10, 8, 6, 4],
        "kernel_out_channels": 16,
    },
    "SOLOv2MaskHead": {"in_channels": 32, "mid_channels": 32, "out_channels": 16},
}
_GFL = _FPN | {"GFLHead": {"conv_feat": _FCOS_FEAT, "nms": _suppressed(score_threshold=0.75)}}
_PICO = _PLAIN | {
    "eval_size": [96, 96],
    "LCNet": {"scale": 0.35},
    "LCPAN": {"out_channels": 32},
    "PicoHeadV2": {
        "conv_feat": {
            "name": "PicoFeat",
            "feat_in": 32,
            "feat_out": 32,
            "num_convs": 2,
            "num_fpn_stride": 4,
            "norm_type": "bn",
            "share_cls_reg": True,
            "use_se": True,
        },
        "feat_in_chan": 32,
        "nms": _suppressed(),
    },
}
_R50 = {"ResNet": {"depth": 50}}
_VIT = {
    "ViT": {"img_size": [64, 48], "embed_dim": 48, "depth": 2, "num_heads": 4, "drop_path_rate": 0.0},
    "TopdownHeatmapSimpleHead": {"in_channels": 48},
}

ENTRIES = (
    Entry("Mask-RCNN_FPN", "mask_rcnn/mask_rcnn_r50_fpn_1x_coco", layers.Sized, _RCNN, batch=1),
    Entry("SOLOv2", "solov2/solov2_r50_fpn_1x_coco", layers.Instances, _SOLO, batch=1),
    Entry("CenterNet_MobileNetV3", "centernet/centernet_mbv3_small_140e_coco", layers.Sized, _PLAIN, batch=1),
    Entry(
        "PP-YOLOE_s",
        "ppyoloe/ppyoloe_crn_s_300e_coco",
        layers.Scaled,
        _NARROW | {"PPYOLOEHead": {"nms": _suppressed()}},
    ),
    Entry("Deformable-DETR_heads", "deformable_detr/deformable_detr_r50_1x_coco", layers.Queries, _DEFORMABLE),
    Entry("RetinaNet", "retinanet/retinanet_r50_fpn_1x_coco", layers.Sized, _RETINA),
    Entry(
        "TOOD_heads",
        "tood/tood_r50_fpn_1x_coco",
        layers.Aligned,
        _FPN | {"TOODHead": {"stacked_convs": 2, "feat_channels": 32, "norm_groups": 8}},
    ),
    Entry("RT-DETRv2_R18_dsp_heads", "rtdetrv2/rtdetrv2_r18vd_dsp_3x_coco", layers.Queries, _RTDETR2),
    Entry("PicoDet_xs", "picodet/picodet_xs_320_coco_lcnet", layers.Scaled, _PICO, fixed=True),
    Entry("Mask-RT-DETR_heads", "mask_rtdetr/mask_rtdetr_hgnetv2_s_6x_coco", layers.Queries, _MASK_RTDETR),
    Entry("PP-TinyPose", "keypoint/tiny_pose/tinypose_128x96", layers.Picture, {}),
    Entry("SSD_MobileNetV1", "ssd/ssd_mobilenet_v1_300_120e_voc", layers.Sized, _PLAIN | _NMS),
    Entry("PP-YOLO_tiny", "ppyolo/ppyolo_tiny_650e_coco", layers.Sized, _PLAIN | _LIKELY, (128, 128), gain=0.6),
    Entry("YOLOX_nano", "yolox/yolox_nano_300e_coco", layers.Scaled, _YOLOX, size=(128, 128), gain=0.3),
    Entry("DINO_heads", "dino/dino_r50_4scale_1x_coco", layers.Queries, _DINO),
    Entry("Faster-RCNN_FPN", "faster_rcnn/faster_rcnn_r50_fpn_1x_coco", layers.Sized, _RCNN, batch=1),
    Entry("Cascade-RCNN_FPN", "cascade_rcnn/cascade_rcnn_r50_fpn_1x_coco", layers.Sized, _RCNN, batch=1),
    Entry("PP-YOLOE-R_heads", "rotate/ppyoloe_r/ppyoloe_r_crn_s_3x_dota", layers.Heads, _NARROW),
    Entry("GFLv2_heads", "gfl/gflv2_r50_fpn_1x_coco", layers.Heads, _GFL),
    Entry(
        "FCOS",
        "fcos/fcos_r50_fpn_1x_coco",
        layers.Scaled,
        _FPN | {"FCOSHead": {"fcos_feat": _FCOS_FEAT, "nms": _suppressed(score_threshold=0.95)}},
        lift=2.0,  # distances to all four sides, as after training: of boxes without area Paddle's overlap is 0 / 0
    ),
    Entry(
        "ViTPose", "keypoint/vit_pose/vitpose_base_simple_coco_256x192", layers.Joints, _VIT, size=(64, 48), fixed=True
    ),
    Entry("DETR", "detr/detr_r50_1x_coco", layers.Sized, _DETR),
    Entry("PP-YOLOE-seg_heads", "ppyoloe_seg/ppyoloe_seg_s_80e_coco", layers.Heads, _NARROW),
    Entry("BlazeFace", "face_detection/blazeface_1000e", layers.Sized, _PLAIN | _SURE | {"num_classes": 1}, gain=0.5),
    Entry("RT-DETR_R18", "rtdetr/rtdetr_r18vd_6x_coco", layers.Sized, _RTDETR),
    Entry("LiteHRNet_pose", "keypoint/lite_hrnet/lite_hrnet_18_256x192_coco", layers.Picture, {}),
    Entry("TTFNet_heads", "ttfnet/pafnet_lite_mobilenet_v3_20x_coco", layers.Heads, _PLAIN),
    Entry(
        "FCOSR_heads",
        "rotate/fcosr/fcosr_x50_3x_dota",
        layers.Heads,
        _X50 | {"FCOSRHead": {"feat_channels": 32, "stacked_convs": 1}},
    ),
    Entry("RT-DETR_R18_heads", "rtdetr/rtdetr_r18vd_6x_coco", layers.Queries, _RTDETR),
    Entry(
        "RT-DETR_HGNetV2_heads",
        "rtdetr/rtdetr_hgnetv2_l_6x_coco",
        layers.Queries,
        _RTDETR | {"PPHGNetV2": {"arch": "S"}},
    ),
    Entry("RT-DETRv2_R18_heads", "rtdetrv2/rtdetrv2_r18vd_120e_coco", layers.Queries, _RTDETR2),
    Entry("DETR_heads", "detr/detr_r50_1x_coco", layers.Queries, _DETR),
    Entry("PP-YOLOE_s_heads", "ppyoloe/ppyoloe_crn_s_300e_coco", layers.Scaled, _NARROW | _HEADS),
    Entry("PP-YOLOE-plus_s_heads", "ppyoloe/ppyoloe_plus_crn_s_80e_coco", layers.Scaled, _NARROW | _HEADS),
    Entry(
        "PicoDet_xs_heads",
        "picodet/picodet_xs_320_coco_lcnet",
        layers.Scaled,
        _PICO | {"export": {"post_process": True, "nms": False}},
        fixed=True,
    ),
    Entry("YOLOX_nano_heads", "yolox/yolox_nano_300e_coco", layers.Heads, _YOLOX, size=(128, 128), gain=0.3),
    Entry("PP-YOLO_R18", "ppyolo/ppyolo_r18vd_coco", layers.Heads, _PLAIN),
    Entry("FCOS_heads", "fcos/fcos_r50_fpn_1x_coco", layers.Heads, _FPN | {"FCOSHead": {"fcos_feat": _FCOS_FEAT}}),
    Entry("RetinaNet_heads", "retinanet/retinanet_r50_fpn_1x_coco", layers.Heads, _RETINA),
    Entry("GFL", "gfl/gfl_r50_fpn_1x_coco", layers.Scaled, _GFL),
    Entry("GFL_heads", "gfl/gfl_r50_fpn_1x_coco", layers.Heads, _GFL),
    Entry("SSDLite_MobileNetV3_heads", "ssd/ssdlite_mobilenet_v3_small_320_coco", layers.Anchors, _PLAIN),
    Entry("BlazeFace_FPN_heads", "face_detection/blazeface_fpn_ssh_1000e", layers.Anchors, _PLAIN | {"num_classes": 1}),
    Entry("CenterNet_MobileNetV3_heads", "centernet/centernet_mbv3_small_140e_coco", layers.Centers, _PLAIN),
    Entry("Faster-RCNN_FPN_rois", "faster_rcnn/faster_rcnn_r50_fpn_1x_coco", layers.Rois, _RCNN),
    Entry("SOLOv2_heads", "solov2/solov2_r50_fpn_1x_coco", layers.Masks, _SOLO),
    Entry("PP-YOLOv2_heads", "ppyolo/ppyolov2_r50vd_dcn_365e_coco", layers.Heads, _PLAIN | _RESNET),
    Entry("YOLOv3_DarkNet_heads", "yolov3/yolov3_darknet53_270e_coco", layers.Heads, _PLAIN),
    Entry("YOLOF_heads", "yolof/yolof_r50_c5_1x_coco", layers.Heads, _PLAIN | _RESNET),
    Entry("FairMOT", "mot/fairmot/fairmot_dla34_30e_576x320", layers.Sized, _PLAIN, batch=1),
    Entry("JDE", "mot/jde/jde_darknet53_30e_576x320", layers.Sized, _PLAIN | {"num_classes": 1}, batch=1),
    Entry("Faster-RCNN_C4", "faster_rcnn/faster_rcnn_r50_1x_coco", layers.Sized, _RCNN | _R50, batch=1),
    Entry(
        "HRNet_pose",
        "keypoint/hrnet/hrnet_w32_256x192",
        layers.Picture,
        {"HRNet": {"width": 18}, "TopDownHRNet": {"width": 18}},
    ),
    Entry(
        "HigherHRNet_heads",
        "keypoint/higherhrnet/higherhrnet_hrnet_w32_512",
        layers.Heads,
        {"HRNet": {"width": 18}, "HrHRNetHead": {"width": 18}},
    ),
)


def package() -> Path | None:
    """The checkout's folder, with `ppdet.modeling` ready to be imported from it; None where none is named."""
    root = checkout("detection", "ppdet/modeling")
    if root is None:
        return None
    for name in _PARENTS:
        if name not in sys.modules:
            parent = types.ModuleType(name)
            parent.__path__ = [str(root.joinpath(*name.split(".")))]
            sys.modules[name] = parent
    if str(root / "ppdet") not in sys.modules["ppdet"].__path__:
        raise SystemExit(f"an installed ppdet is loaded already, not {root}: run this family without `det`")
    # Data sets and schedules of training stand in the files under tags of classes that are not loaded.
    yaml.Loader.add_multi_constructor("!", lambda loader, tag, node: None)
    return root


def create(config: str, settings: Settings) -> Any:
    """The model of `configs/CONFIG.yml` with these settings over it, as PaddleDetection's exporter prepares it."""
    root = package()
    if root is None:
        raise SystemExit("no checkout of PaddleDetection is named: --checkout detection=FOLDER")
    import ppdet.modeling  # noqa: F401  (which registers every class)
    from ppdet.core import workspace

    # They merge into one table of the process: a child builds one network.
    workspace.load_config(str(root / "configs" / f"{config}.yml"))
    workspace.merge_config(copy.deepcopy(dict(settings)))
    model = workspace.create(workspace.global_config["architecture"])
    for name in ("aux_neck", "aux_head"):
        if hasattr(model, name):
            delattr(model, name)
    model.eval()
    if hasattr(model, "deploy"):
        model.deploy = True
    for part in model.sublayers():
        if hasattr(part, "convert_to_deploy"):
            part.convert_to_deploy()
    if "export" in settings:
        model.export_post_process, model.export_nms = settings["export"]["post_process"], settings["export"]["nms"]
    return model


def _build(entry: Entry) -> Any:
    model = create(entry.config, entry.settings)
    scale(model, np.random.default_rng(5))
    for last in _last(model):
        last.weight.set_value(last.weight * entry.gain)
        last.bias.set_value(paddle.full_like(last.bias, entry.lift))
    layer = entry.layer(model)
    layer.eval()
    if entry.batch != "batch":
        settle(layers.Body(model), [paddle.randn([ROWS, 3, *entry.size])])
    return layer


def _last(model: Any) -> Iterator[Any]:
    """The convolutions with a bias: no norm comes after them."""
    for part in model.sublayers():
        weight = getattr(part, "weight", None)
        if weight is not None and len(weight.shape) == 4 and getattr(part, "bias", None) is not None:
            yield part


def networks() -> list[Network]:
    """PaddleDetection's newest, where its checkout is named."""
    if package() is None:
        return []
    return [
        Network(
            "detection",
            entry.name,
            partial(_build, entry),
            entry.inputs,
            entry.dims,
            calibrated=entry.batch == "batch",
        )
        for entry in ENTRIES
    ]
