"""What PaddleDetection's models are from tensor to tensor: each takes and returns a dict.

Each layer here hands a model the entries that it reads, since Paddle refuses an input that is not used.
"""

from __future__ import annotations

from typing import Any

from paddle import nn


class Picture(nn.Layer):
    """A model that reads the picture alone."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, image):
        return self.model({"image": image})


class Scaled(Picture):
    """A model that also undoes the scale of the picture, and hands on its size without a use for it."""

    def forward(self, image, scale_factor):
        return self.model({"image": image, "im_shape": None, "scale_factor": scale_factor})


class Sized(Picture):
    """A model that also clips its boxes to the size of the picture, or reads it otherwise."""

    def forward(self, image, im_shape, scale_factor):
        return self.model({"image": image, "im_shape": im_shape, "scale_factor": scale_factor})


class Heads(Picture):
    """The maps before post-processing: backbone, neck and head in the order in which the model calls them."""

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        names = ("yolo_head", "fcos_head", "ttf_head", "hrhrnet_head", "head")
        self.called = next(name for name in names if getattr(model, name, None) is not None)

    def forward(self, image):
        features = self.model.backbone({"image": image})
        if getattr(self.model, "neck", None) is not None:
            features = self.model.neck(features)
        return getattr(self.model, self.called)(features)


class Aligned(Heads):
    """TOOD's maps, without the number of anchors of each level, which are numbers of Python's in eager mode."""

    def forward(self, image):
        scores, boxes, anchors, _, strides = super().forward(image)
        return scores, boxes, anchors, strides


class Body(Picture):
    """The features that the heads read."""

    def forward(self, image):
        model = getattr(self.model, "detector", self.model)
        features = model.backbone({"image": image})
        return features if getattr(model, "neck", None) is None else model.neck(features)


class Anchors(Picture):
    """Boxes and scores of an SSD at each of its anchors, and the anchors."""

    def forward(self, image):
        features = self.model.backbone({"image": image})
        if getattr(self.model, "neck", None) is not None:
            features = self.model.neck(features)
        head = getattr(self.model, "ssd_head", None) or self.model.blaze_head
        return head(features, image)


class Queries(Picture):
    """Boxes and scores of the last layer of a DETR's decoder."""

    def forward(self, image):
        features = self.model.backbone({"image": image})
        if self.model.neck is not None:
            features = self.model.neck(features)
        states = self.model.transformer(features, None, {"image": image})
        return [value for value in self.model.detr_head(states, features) if value is not None]


class Rois(Picture):
    """What an R-CNN proposes, and the boxes and scores of its second stage, before its suppression."""

    def forward(self, image, im_shape, scale_factor):
        inputs = {"image": image, "im_shape": im_shape, "scale_factor": scale_factor}
        features = self.model.backbone(inputs)
        if self.model.neck is not None:
            features = self.model.neck(features)
        rois, count, _ = self.model.rpn_head(features, inputs)
        (deltas, scores), _ = self.model.bbox_head(features, rois, count, None)
        return rois, count, deltas, scores


class Instances(Picture):
    """SOLOv2 with its suppression, without the count of its masks, which is a list of Python's in eager mode."""

    def forward(self, image, im_shape, scale_factor):
        out = self.model({"image": image, "im_shape": im_shape, "scale_factor": scale_factor})
        return out["segm"], out["cate_label"], out["cate_score"]


class Masks(Picture):
    """SOLOv2 before its suppression: scores and kernels of each grid, and the features that the kernels read."""

    def forward(self, image):
        features = self.model.neck(self.model.backbone({"image": image}))
        maps = self.model.mask_head(features)
        scores, kernels = self.model.solov2_head(features)
        return [*scores, *kernels, maps]


class Joints(Picture):
    """ViTPose's map of each joint, as its test begins."""

    def forward(self, image):
        return self.model.head(self.model.backbone.forward_features(image))


class Centers(Picture):
    """CenterNet's maps, which FairMOT adds a neck to."""

    def forward(self, image):
        features = self.model.neck(self.model.backbone({"image": image}))
        return self.model.head(features, {"image": image})
