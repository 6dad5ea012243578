"""The networks of docs/legacy.md: how each is built, and the shapes of its inputs (the first dim is dynamic)."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Network:
    """`inputs`: (dtype, shape, upper bound of integers) of one example batch of two."""

    family: str
    name: str
    build: Callable[[], Any]
    inputs: tuple[tuple[str, tuple[int, ...], int], ...]
    dynamic: bool = True


def image(size: int) -> tuple[tuple[str, tuple[int, ...], int], ...]:
    return (("float32", (2, 3, size, size), 0),)


_VISION_SIZES = {"alexnet": 224, "googlenet": 224, "inception_v3": 96}


def vision() -> list[Network]:
    """All of paddle.vision.models."""
    import paddle

    models = paddle.vision.models
    names = [name for name in models.__all__ if name[0].islower()]
    found = [Network("vision", name, getattr(models, name), image(_VISION_SIZES.get(name, 64))) for name in names]
    return [*found, Network("vision", "LeNet", models.LeNet, (("float32", (2, 1, 28, 28), 0),))]


CLAS = """ResNet18_vd ResNet50_vd ResNeSt50_fast_1s1x64d ResNeXt50_32x4d SE_ResNet18_vd Res2Net50_26w_4s HRNet_W18_C
MobileNetV1_x0_25 MobileNetV2_x0_25 MobileNetV3_small_x0_35 MobileNetV4_conv_small MobileNeXt_x0_35 MobileViT_XXS
MobileViTV2_x0_5 MobileViTV3_XXS PPLCNet_x0_25 PPLCNetV2_small PPHGNet_tiny PPHGNetV2_B0 ESNet_x0_25 GhostNet_x0_5
EfficientNetB0 ShuffleNetV2_x0_25 DLA46_c DPN68 RegNetX_200MF ReXNet_1_0 MixNet_S Xception41 DarkNet53 CSPDarkNet53
HarDNet39_ds RedNet26 PeleeNet RepVGG_A0 TinyNet_E MicroNet_M0 FasterNet_T0 StarNet_S1 ConvNeXt_tiny VAN_B0 SVTR_tiny
ViT_small_patch16_224 DeiT_tiny_patch16_224 DeiT_tiny_distilled_patch16_224 SwinTransformer_tiny_patch4_window7_224
CSWinTransformer_tiny_224 PVT_V2_B0 LeViT_128S TNT_small alt_gvt_small
pcpvt_small CvT_13_224 DSNet_tiny NextViT_small_224 InceptionV3""".split()
_AT_224 = (
    "ViT DeiT Swin CSWin LeViT TNT alt_gvt pcpvt CvT DSNet UniFormer NextViT PVT MobileViT_ MobileViTV3 MixNet".split()
)


def clas() -> list[Network]:
    """PaddleClas 2.6.0."""
    import paddleclas

    sys.path.insert(0, str(Path(paddleclas.__file__).parent))
    from ppcls.arch import backbone
    from ppcls.utils import logger

    logger.init_logger()

    def size(name: str) -> int:
        if "SVTR" in name:
            return 0
        return 256 if name.startswith("MobileViTV2") else 224 if any(part in name for part in _AT_224) else 96

    shapes = {name: image(size(name)) for name in CLAS}
    shapes["SVTR_tiny"] = (("float32", (2, 3, 48, 320), 0),)
    return [Network("PaddleClas", name, getattr(backbone, name), shapes[name]) for name in CLAS]


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
    return [Network("PaddleSeg", name, make, image(128)) for name, make in builds.items()]


def det() -> list[Network]:
    """PaddleDetection 2.6.0, with the pre- and post-processing that it exports."""
    import paddle
    from ppdet import modeling
    from ppdet.modeling.losses import GIoULoss
    from ppdet.modeling.losses.gfocal_loss import DistributionFocalLoss
    from ppdet.modeling.losses.varifocal_loss import VarifocalLoss

    class Detector(paddle.nn.Layer):
        def __init__(self, model: Any) -> None:
            super().__init__()
            self.model = model

        def forward(self, image, im_shape, scale_factor):
            out = self.model({"image": image, "im_shape": im_shape, "scale_factor": scale_factor})
            return out["bbox"], out["bbox_num"]

    class UnscaledDetector(Detector):
        """PicoDet reads no im_shape, and Paddle refuses an input that is not used."""

        def forward(self, image, scale_factor):
            out = self.model({"image": image, "scale_factor": scale_factor})
            return out["bbox"], out["bbox_num"]

    class Heads(paddle.nn.Layer):
        """Without non-maximum suppression, whose wrapper in PaddleDetection 2.6.0 knows no PIR."""

        def __init__(self, model: Any) -> None:
            super().__init__()
            self.model = model.model

        def forward(self, image):
            features = self.model.neck(self.model.backbone({"image": image}))
            head = getattr(self.model, "yolo_head", None) or self.model.head
            return head.get_outputs(features) if hasattr(head, "get_outputs") else head(features)

    def yolov3() -> Any:
        nms = modeling.MultiClassNMS(score_threshold=0.01, nms_top_k=100, keep_top_k=10, nms_threshold=0.45)
        backbone = modeling.MobileNet(
            scale=0.25, conv_learning_rate=1.0, feature_maps=[4, 6, 13], with_extra_blocks=False
        )
        neck = modeling.YOLOv3FPN(in_channels=[64, 128, 256])
        head = modeling.YOLOv3Head(
            in_channels=neck._out_channels, num_classes=8, loss=modeling.YOLOv3Loss(num_classes=8)
        )
        post = modeling.BBoxPostProcess(
            num_classes=8, decode=modeling.YOLOBox(num_classes=8, conf_thresh=0.005), nms=nms
        )
        return Detector(modeling.YOLOv3(backbone=backbone, neck=neck, yolo_head=head, post_process=post))

    def picodet() -> Any:
        nms = modeling.MultiClassNMS(score_threshold=0.01, nms_top_k=100, keep_top_k=10, nms_threshold=0.6)
        backbone = modeling.LCNet(scale=0.75, feature_maps=[3, 4, 5])
        neck = modeling.LCPAN(in_channels=backbone._out_channels, out_channels=96, use_depthwise=True, num_features=4)
        feat = modeling.PicoFeat(
            feat_in=96, feat_out=96, num_convs=2, num_fpn_stride=4, use_se=True, share_cls_reg=True
        )
        head = modeling.PicoHeadV2(
            conv_feat=feat, num_classes=8, fpn_stride=[8, 16, 32, 64], feat_in_chan=96, reg_max=7,
            static_assigner_epoch=1, static_assigner=None, assigner=None, nms=nms, eval_size=[160, 160],
            loss_class=VarifocalLoss(), loss_dfl=DistributionFocalLoss(), loss_bbox=GIoULoss(),
        )  # fmt: skip
        return UnscaledDetector(modeling.PicoDet(backbone=backbone, neck=neck, head=head))

    inputs = (*image(160), ("float32", (2, 2), 160), ("float32", (2, 2), 1))
    return [
        Network("PaddleDetection", "YOLOv3_MobileNet", yolov3, inputs),
        Network("PaddleDetection", "PicoDet_LCNet", picodet, (inputs[0], inputs[2]), dynamic=False),
        Network("PaddleDetection", "YOLOv3_MobileNet heads", lambda: Heads(yolov3()), image(160)),
        Network("PaddleDetection", "PicoDet_LCNet heads", lambda: Heads(picodet()), image(160), dynamic=False),
    ]


def sequence() -> list[Network]:
    """Recurrent networks and transformers."""
    import legacy_sequence_nets as nets

    words, cache = ("int64", (2, 7), 50), ("float32", (2, 4, 5, 8), 0)
    return [
        Network("sequence", "LSTM sequence_length", nets.Lstm, (words, ("int64", (2,), 7))),
        Network("sequence", "GRU sequence_length", nets.Gru, (words, ("int64", (2,), 7))),
        Network("sequence", "Transformer encoder", nets.Encoder, (words,)),
        Network("sequence", "Transformer decoder, cache", nets.DecoderStep, (words, cache, cache)),
        Network("sequence", "Transformer decoder, loop", nets.Greedy, (words,)),
        Network("sequence", "CRNN + CTC", nets.Crnn, (("float32", (2, 1, 32, 64), 0),)),
        Network("sequence", "Seq2seq attention", nets.Attention, (words, words)),
    ]  # fmt: skip


FAMILIES = {"vision": vision, "clas": clas, "seg": seg, "det": det, "sequence": sequence}
