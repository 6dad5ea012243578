"""YOLOv3 and PicoDet of PaddleDetection 2.6.0, small, with the post-processing that is deployed and without."""

from __future__ import annotations

from typing import Any

import paddle

from evals.zoo.network import Network, Tensor
from evals.zoo.settled import settle


class Detector(paddle.nn.Layer):
    """PaddleDetection's models take and return dicts."""

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
    """What comes before non-maximum suppression."""

    def __init__(self, detector: Detector) -> None:
        super().__init__()
        self.model = detector.model

    def forward(self, image):
        features = self.model.neck(self.model.backbone({"image": image}))
        head = getattr(self.model, "yolo_head", None) or self.model.head
        return head.get_outputs(features) if hasattr(head, "get_outputs") else head(features)


def lively(detector: Detector, gain: float) -> Detector:
    """Weights as large as training makes them.

    PaddleDetection begins its heads near zero, so that every box scores the same whatever the image: nothing to prove.
    `gain` is that of the last layers: it decides how many boxes pass the threshold.
    """
    for one in detector.sublayers():
        weight = getattr(one, "weight", None)
        if weight is not None and len(weight.shape) == 4:
            fan_in = weight.shape[1] * weight.shape[2] * weight.shape[3]
            last = getattr(one, "bias", None) is not None  # no batch norm comes after
            size = gain if last else 2.0
            weight.set_value(paddle.normal(0.0, (size / fan_in) ** 0.5, weight.shape))
            if last:
                one.bias.set_value(paddle.zeros_like(one.bias))
    detector.eval()
    image, sizes, scales = paddle.randn([2, 3, 160, 160]), paddle.full([2, 2], 160.0), paddle.ones([2, 2])
    settle(detector, [image, scales] if isinstance(detector, UnscaledDetector) else [image, sizes, scales])
    return detector


def yolov3() -> Detector:
    from ppdet import modeling

    nms = modeling.MultiClassNMS(score_threshold=0.9, nms_top_k=100, keep_top_k=50, nms_threshold=0.45)
    backbone = modeling.MobileNet(scale=0.25, conv_learning_rate=1.0, feature_maps=[4, 6, 13], with_extra_blocks=False)
    neck = modeling.YOLOv3FPN(in_channels=[64, 128, 256])
    loss = modeling.YOLOv3Loss(num_classes=8)
    head = modeling.YOLOv3Head(in_channels=neck._out_channels, num_classes=8, loss=loss)
    boxes = modeling.YOLOBox(num_classes=8, conf_thresh=0.005)
    post = modeling.BBoxPostProcess(num_classes=8, decode=boxes, nms=nms)
    return lively(Detector(modeling.YOLOv3(backbone=backbone, neck=neck, yolo_head=head, post_process=post)), gain=0.5)


def picodet() -> Detector:
    from ppdet import modeling
    from ppdet.modeling.losses import GIoULoss
    from ppdet.modeling.losses.gfocal_loss import DistributionFocalLoss
    from ppdet.modeling.losses.varifocal_loss import VarifocalLoss

    nms = modeling.MultiClassNMS(score_threshold=0.9, nms_top_k=100, keep_top_k=200, nms_threshold=0.6)
    backbone = modeling.LCNet(scale=0.75, feature_maps=[3, 4, 5])
    neck = modeling.LCPAN(in_channels=backbone._out_channels, out_channels=96, use_depthwise=True, num_features=4)
    feat = modeling.PicoFeat(feat_in=96, feat_out=96, num_convs=2, num_fpn_stride=4, use_se=True, share_cls_reg=True)
    head = modeling.PicoHeadV2(
        conv_feat=feat, num_classes=8, fpn_stride=[8, 16, 32, 64], feat_in_chan=96, reg_max=7,
        static_assigner_epoch=1, static_assigner=None, assigner=None, nms=nms, eval_size=[160, 160],
        loss_class=VarifocalLoss(), loss_dfl=DistributionFocalLoss(), loss_bbox=GIoULoss(),
    )  # fmt: skip
    return lively(UnscaledDetector(modeling.PicoDet(backbone=backbone, neck=neck, head=head)), gain=0.03)


def yolov3_heads() -> Heads:
    return Heads(yolov3())


def picodet_heads() -> Heads:
    return Heads(picodet())


def networks() -> list[Network]:
    """PaddleDetection 2.6.0, with the pre- and post-processing that it exports, and as heads."""
    picture = Tensor(("batch", 3, 160, 160), name="image")
    sizes = Tensor(("batch", 2), values="integers(160,161)", name="im_shape")
    scales = Tensor(("batch", 2), values="integers(1,2)", name="scale_factor")
    # PicoDet's head takes the batch from its feature maps as a number.
    fixed = tuple(Tensor((2, *given.shape[1:]), given.dtype, given.values, given.name) for given in (picture, scales))
    return [
        Network("det", "YOLOv3_MobileNet", yolov3, (picture, sizes, scales)),
        Network("det", "PicoDet_LCNet", picodet, fixed, {}),
        Network("det", "YOLOv3_MobileNet_heads", yolov3_heads, (picture,)),
        Network("det", "PicoDet_LCNet_heads", picodet_heads, fixed[:1], {}),
    ]
