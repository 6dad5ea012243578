"""What `forward` of PaddleX's networks is from tensor to tensor.

The wheel's own `forward` takes a list of arrays and ends in `numpy()`, or takes the keyword arguments of a generating
loop; each layer here calls the same sublayers in the same order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn


class Plain(nn.Layer):
    """A network that takes a tensor and returns tensors already."""

    def __init__(self, network: Any) -> None:
        super().__init__()
        self.network = network

    def forward(self, image):
        return self.network(image)


class Read(Plain):
    """PP-OCR's detectors and recognizers."""

    def forward(self, image):
        return self.network.head(self.network.model(image))


class HGNetV2(Plain):
    def forward(self, image):
        network = self.network
        states, _ = network.encoder(network.embedder(image))
        for layer in network.classifier:
            states = layer(states)
        return network.out_act(network.fc(states))


class PPLCNet(Plain):
    def forward(self, image):
        network = self.network
        states = network.act_fn(network.last_convolution(network.avg_pool(network.encoder(image))))
        states = states * (1 - network.hidden_dropout_prob)
        return network.head(network.flatten(states)).softmax()


class UVDoc(Plain):
    def forward(self, image):
        network = self.network
        height, width = image.shape[2:]
        small = F.interpolate(image, size=network.upsample_size, mode=network.upsample_mode, align_corners=True)
        out = network.head(paddle.concat(network.backbone(small), axis=1))
        grid = F.interpolate(out, size=(height, width), mode=network.upsample_mode, align_corners=True)
        return F.grid_sample(image, grid.transpose([0, 2, 3, 1]), align_corners=True)


class Table(Plain):
    """SLANet and SLANeXt: greedy decoding until each row has ended."""

    def forward(self, image):
        return self.network([image])[0]


class Boxes(Plain):
    """RT-DETR and PP-DocLayout with their post-processing."""

    def forward(self, image, im_shape, scale_factor):
        boxes, count = self.network([im_shape, image, scale_factor])
        return boxes, count


class Queries(Plain):
    """RT-DETR and PP-DocLayout before their post-processing."""

    def forward(self, image):
        out = self.network.model(image)
        return out["intermediate_reference_points"][:, -1], out["intermediate_logits"][:, -1]


class Encoder(Plain):
    """What PP-FormulaNet's decoder looks at."""

    def forward(self, image):
        return self.network._encode(image)


class Step(Plain):
    """PP-FormulaNet's decoder over the tokens so far, without a cache."""

    def forward(self, tokens, states):
        return self.network._decode_step(tokens, states, None, 0)


class Features(Plain):
    """The picture's tokens, as PP-Chart2Table puts them among the words."""

    def forward(self, image):
        return self.network.model.get_image_features(image)


class Words(Plain):
    """A language model: scores of the next token, or the states of one without a head."""

    def forward(self, input_ids):
        result = self.network(input_ids=input_ids, return_dict=False)
        return result[0] if isinstance(result, (list, tuple)) else result


class Embedded(Plain):
    """ERNIE 4.5 as PaddleOCR-VL calls it: of one row, from embeddings, with places in three directions."""

    def forward(self, embeddings, places):
        mask = paddle.ones(embeddings.shape[:2], dtype="int64")
        states = self.network.model(inputs_embeds=embeddings, position_ids=places, attention_mask=mask)[0]
        return self.network.lm_head(states)


class Patches(Plain):
    """The picture's tokens of PaddleOCR-VL: one picture of `GRID` patches."""

    def forward(self, patches):
        time, height, width = GRID
        count = time * height * width
        states = self.network.visual(
            pixel_values=patches.unsqueeze(0),
            image_grid_thw=[GRID],
            position_ids=paddle.arange(count) % (height * width),
            vision_return_embed_list=True,
            interpolate_pos_encoding=True,
            cu_seqlens=paddle.to_tensor([0, count], dtype="int32"),
            return_pooler_output=False,
            use_rope=True,
            window_size=-1,
        ).last_hidden_state
        return self.network.mlp_AR(states, [GRID])[0]


class Grid(Plain):
    """The picture's tokens of PP-DocBee and PP-DocBee2: one picture of `GRID` patches."""

    def forward(self, patches):
        return self.network(patches, paddle.to_tensor([GRID], dtype="int64"))


#: Frames, rows and columns of patches.
GRID = (1, 8, 4)


def scale(network: Any, draw: np.random.Generator) -> None:
    """Draw every matrix of parameters as wide as its inputs ask for, so that states neither die nor explode.

    The wheel's networks begin near zero or as Paddle begins them, and their outputs hardly depend on the picture.
    """
    for layer in network.sublayers(include_self=True):
        for name, parameter in layer._parameters.items():
            if parameter is None or len(parameter.shape) < 2 or "float" not in str(parameter.dtype):
                continue
            value = draw.standard_normal(parameter.shape) * _deviation(layer, name, parameter.shape)
            parameter.set_value(value.astype(str(parameter.dtype).rpartition(".")[2]))


def _deviation(layer: Any, name: str, shape: list[int]) -> float:
    if name != "weight":
        return 0.1  # places and the like, which are added
    if isinstance(layer, nn.Embedding):
        return 1.0
    if len(shape) > 2:
        fan = shape[0] if isinstance(layer, (nn.Conv1DTranspose, nn.Conv2DTranspose)) else shape[1]
        return float((2.0 / (fan * np.prod(shape[2:]))) ** 0.5)
    return float(shape[0] ** -0.5)
