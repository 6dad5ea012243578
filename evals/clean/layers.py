"""Small networks of the kinds that are deployed, with random weights: few outputs, lengths, masks, losses, labels.

Every factory takes no arguments; :mod:`evals.clean.networks` says what its inputs are.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Any

import paddle
import paddle.nn.functional as F
from paddle import nn

_NUMBERS = count()


def filled(make: Callable[..., nn.Layer], *arguments: Any, **named: Any) -> nn.Layer:
    """A layer whose biases and norms are no zeros and ones, as after training."""
    layer = make(*arguments, **named)
    for parameter in layer.state_dict().values():
        if len(parameter.shape) == 1 and parameter.dtype == paddle.float32:
            parameter.set_value(parameter + 0.1 * paddle.rand(parameter.shape))
    return layer


class Attended(nn.Layer):
    """Words, a recurrent layer, additive attention: the scores of few classes, and the weights of the attention."""

    def __init__(self, kind: Any, direction: str, classes: int = 3) -> None:
        super().__init__()
        width = 16 if direction == "forward" else 32
        self.words, self.body = nn.Embedding(60, 12), kind(12, 16, direction=direction)
        self.score, self.head = nn.Linear(width, 1), nn.Linear(width, classes)

    def forward(self, ids):
        states, _ = self.body(self.words(ids))
        weights = F.softmax(self.score(paddle.tanh(states)), axis=1)
        return self.head((weights * states).sum(1)), weights.squeeze(-1)


class Lengths(nn.Layer):
    """A recurrent layer over rows of different lengths; one number for each row."""

    def __init__(self, kind: Any, direction: str) -> None:
        super().__init__()
        width = 12 if direction == "forward" else 24
        self.words, self.body = nn.Embedding(60, 8), kind(8, 12, direction=direction)
        self.head = nn.Linear(width, 1)

    def forward(self, ids, lengths):
        states, _ = self.body(self.words(ids), sequence_length=lengths)
        return F.sigmoid(self.head(states.sum(1)))


class Encoder(nn.Layer):
    """A Transformer whose attention skips what the mask leaves out; `head` says what it is for."""

    def __init__(self, head: str, width: int = 16) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(60, width), nn.Embedding(16, width)
        layer = nn.TransformerEncoderLayer(width, 2, 2 * width, 0.0, "gelu")
        self.body, self.kind = nn.TransformerEncoder(layer, 2), head
        self.head = nn.Linear(width, {"pair": 2, "score": 1, "tokens": 5, "label": 4, "classes": 7}[head])

    def forward(self, ids, mask):
        there = mask.astype("float32")
        bias = ((1.0 - there) * -1e4).unsqueeze([1, 2])
        x = self.body(self.words(ids) + self.places(paddle.arange(ids.shape[1])), bias)
        if self.kind == "tokens":
            return F.log_softmax(self.head(x), -1)
        mean = (x * there.unsqueeze(-1)).sum(1) / paddle.clip(there.sum(1, keepdim=True), min=1.0)
        scores = self.head(mean)
        if self.kind == "pair":
            return F.softmax(scores, -1)
        if self.kind == "label":
            return scores, paddle.argmax(scores, -1)
        return scores


class Ctc(nn.Layer):
    """Convolutions over a line of text, a recurrent layer, the scores of each column and the best of them."""

    def __init__(self, kind: Any) -> None:
        super().__init__()
        self.stem, self.norm = nn.Conv2D(1, 8, 3, stride=(2, 1), padding=1), nn.BatchNorm2D(8)
        self.body, self.head = kind(32, 12, direction="bidirect"), nn.Linear(24, 9)

    def forward(self, image):
        x = F.hardswish(self.norm(self.stem(image)))
        x = x.transpose([0, 3, 1, 2]).flatten(2)
        scores = F.softmax(self.head(self.body(x)[0]), -1)
        return scores, paddle.argmax(scores, -1)


class Mlp(nn.Layer):
    """A regression: one number for each row."""

    def __init__(self, act: Callable[[Any], Any], outputs: int = 1) -> None:
        super().__init__()
        self.first, self.second, self.head = nn.Linear(10, 24), nn.Linear(24, 16), nn.Linear(16, outputs)
        self.act = act

    def forward(self, x):
        return self.head(self.act(self.second(self.act(self.first(x)))))


class Normed(nn.Layer):
    """One normalisation between two layers, and few outputs."""

    def __init__(self, norm: nn.Layer) -> None:
        super().__init__()
        self.stem, self.norm, self.head = nn.Conv2D(3, 8, 3, padding=1), norm, nn.Linear(8, 3)

    def forward(self, x):
        return self.head(F.relu(self.norm(self.stem(x))).mean([2, 3]))


class Rms(nn.Layer):
    """A root mean square norm by hand, and a gated layer, as in language models."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = self.create_parameter([10], default_initializer=nn.initializer.Uniform(0.5, 1.5))
        self.up, self.gate, self.head = nn.Linear(10, 20), nn.Linear(10, 20), nn.Linear(20, 2)

    def forward(self, x):
        x = x * paddle.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * self.scale
        return self.head(self.up(x) * F.silu(self.gate(x)))


class Convs(nn.Layer):
    """A few convolutions, global means, few outputs."""

    def __init__(self, *layers: nn.Layer, width: int, outputs: int = 2) -> None:
        super().__init__()
        self.body, self.head = nn.Sequential(*layers), nn.Linear(width, outputs)

    def forward(self, x):
        x = self.body(x)
        return self.head(x.flatten(2).mean(-1))


class Squeeze(nn.Layer):
    """Squeeze and excitation around a convolution, softmax over two classes."""

    def __init__(self) -> None:
        super().__init__()
        self.stem, self.down, self.up = nn.Conv2D(3, 8, 3, padding=1), nn.Conv2D(8, 4, 1), nn.Conv2D(4, 8, 1)
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        x = F.relu(self.stem(x))
        x = x * F.hardsigmoid(self.up(F.relu(self.down(F.adaptive_avg_pool2d(x, 1)))))
        return F.softmax(self.head(x.mean([2, 3])), -1)


class Named(nn.Layer):
    """Weights with names of their own, as PaddleClas gives them; a number, since a name serves once in a process."""

    def __init__(self) -> None:
        super().__init__()
        number = next(_NUMBERS)
        attr = [paddle.ParamAttr(name=f"conv{at}_weights_{number}") for at in (1, 2)]
        self.one, self.two = nn.Conv2D(3, 6, 3, weight_attr=attr[0]), nn.Conv2D(6, 3, 3, weight_attr=attr[1])

    def forward(self, x):
        return F.leaky_relu(self.two(F.relu(self.one(x)))).mean([2, 3])


class Sharper(nn.Layer):
    """Twice the pixels, by pixel shuffle, and the difference to what interpolation gives."""

    def __init__(self) -> None:
        super().__init__()
        self.body, self.out = nn.Conv2D(3, 12, 3, padding=1), nn.PixelShuffle(2)

    def forward(self, x):
        return self.out(self.body(x)) + F.interpolate(x, scale_factor=2, mode="nearest")


class Loss(nn.Layer):
    """A scalar, or one number for each row, without any weights."""

    def __init__(self, loss: Callable[[Any, Any], Any]) -> None:
        super().__init__()
        self.loss = loss

    def forward(self, x, y):
        return self.loss(x, y)


class Trained(nn.Layer):
    """The loss of a small classifier: weights, and one number for the whole batch."""

    def __init__(self) -> None:
        super().__init__()
        self.body, self.head = nn.Linear(10, 16), nn.Linear(16, 4)

    def forward(self, x, label):
        return F.cross_entropy(self.head(paddle.tanh(self.body(x))), label)


class Boxes(nn.Layer):
    """Corners from centres and sizes against anchors, and their overlap with a box: no weights."""

    def forward(self, boxes, whole):
        centre, size = boxes[..., :2], F.softplus(boxes[..., 2:])
        corners = paddle.concat([centre - size / 2, centre + size / 2], -1)
        low = paddle.maximum(corners[..., :2], whole[:, None, :2])
        high = paddle.minimum(corners[..., 2:], whole[:, None, :2] + 2.0)
        shared = F.relu(high - low).prod(-1)
        return corners, shared / (size.prod(-1) + 4.0 - shared)


class Bag(nn.Layer):
    """Ids only: the mean of their vectors, the score of a pair, or only the label."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.words, self.head, self.kind = nn.Embedding(60, 12), nn.Linear(12, 4), kind

    def forward(self, ids):
        scores = self.head(self.words(ids).mean(1))
        if self.kind == "label":
            return paddle.argmax(scores, -1)
        return F.softmax(scores, -1) if self.kind == "softmax" else scores.max(-1)


class Counts(nn.Layer):
    """Whole numbers in, whole numbers out."""

    def forward(self, ids):
        return paddle.cumsum(ids, -1), (ids > 7).astype("int64").sum(-1)


class Towers(nn.Layer):
    """A recommender: one score for each pair of a user and an item."""

    def __init__(self, wide: bool) -> None:
        super().__init__()
        self.users, self.items = nn.Embedding(40, 8), nn.Embedding(90, 8)
        self.deep, self.head, self.wide = nn.Linear(16, 8), nn.Linear(8, 1), wide

    def forward(self, user, item):
        u, i = self.users(user), self.items(item)
        if self.wide:
            return F.sigmoid(self.head(F.relu(self.deep(paddle.concat([u, i], -1)))))
        return F.cosine_similarity(u, i, axis=-1)


class Machine(nn.Layer):
    """A factorisation machine: the square of a sum less the sum of squares, one probability."""

    def __init__(self) -> None:
        super().__init__()
        self.vectors, self.weights = nn.Embedding(60, 6), nn.Embedding(60, 1)

    def forward(self, ids):
        v = self.vectors(ids)
        pairs = (v.sum(1) ** 2 - (v**2).sum(1)).sum(-1, keepdim=True) / 2
        return F.sigmoid(self.weights(ids).sum(1) + pairs)


class Cross(nn.Layer):
    """Attention of few queries over keys that a mask thins out; the weights are an output."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value = nn.Linear(6, 8), nn.Linear(6, 8), nn.Linear(6, 4)

    def forward(self, queries, keys, mask):
        scores = paddle.matmul(self.query(queries), self.key(keys), transpose_y=True) / 8**0.5
        scores = paddle.where(mask.unsqueeze(1) > 0, scores, paddle.full_like(scores, -1e9))
        weights = F.softmax(scores, -1)
        return paddle.matmul(weights, self.value(keys)), weights


class Graph(nn.Layer):
    """One layer of graph attention over five nodes, by a matrix of 0 and 1; one number for each graph."""

    def __init__(self) -> None:
        super().__init__()
        self.into, self.left, self.right, self.head = nn.Linear(4, 6), nn.Linear(6, 1), nn.Linear(6, 1), nn.Linear(6, 1)

    def forward(self, nodes, edges):
        h = self.into(nodes)
        scores = F.leaky_relu(self.left(h) + self.right(h).transpose([0, 2, 1]))
        linked = edges + paddle.eye(5)
        weights = F.softmax(paddle.where(linked > 0, scores, paddle.full_like(scores, -1e9)), -1)
        return self.head(F.elu(paddle.matmul(weights, h)).mean(1))


class Siamese(nn.Layer):
    """The distance of two pictures."""

    def __init__(self) -> None:
        super().__init__()
        self.body, self.head = nn.Conv2D(1, 6, 3), nn.Linear(6, 5)

    def forward(self, left, right):
        a, b = (F.normalize(self.head(F.relu(self.body(x)).mean([2, 3]))) for x in (left, right))
        return paddle.sqrt(((a - b) ** 2).sum(-1) + 1e-8)


class Forecast(nn.Layer):
    """The next value of a series and how sure it is, from causal convolutions."""

    def __init__(self) -> None:
        super().__init__()
        self.one, self.two = nn.Conv1D(2, 8, 3, padding=2), nn.Conv1D(8, 8, 3, padding=4, dilation=2)
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        x = F.relu(self.one(x)[:, :, : x.shape[2]])
        x = F.relu(self.two(x)[:, :, : x.shape[2]])
        mean, spread = paddle.split(self.head(x[:, :, -1]), 2, -1)
        return mean, F.softplus(spread)


class Empty(nn.Layer):
    """A detector on pictures that show nothing: every probability is small.

    `map` puts each of them out, as text detection by segmentation does; `score` the product of a class and of there
    being anything; `gate` each times what it is the probability of, far below zero.
    """

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind, self.body = kind, nn.Conv2D(3, 6, 3, padding=1)
        self.head = nn.Conv2D(6, 5, 1, bias_attr=paddle.ParamAttr(initializer=nn.initializer.Constant(-12.0)))

    def forward(self, x):
        x = self.head(F.relu(self.body(x)))
        if self.kind == "gate":
            return F.silu(x)
        if self.kind == "map":
            return F.sigmoid(x)
        sure, scores = F.sigmoid(x[:, :1]), F.sigmoid(x[:, 1:])
        return (sure * scores).flatten(2)


def _conv(*shape: int, **more: Any) -> nn.Layer:
    return nn.Conv2D(*shape, **more)


FACTORIES: dict[str, Callable[[], nn.Layer]] = {
    "bigru_attention": partial(filled, Attended, nn.GRU, "bidirect"),
    "bilstm_attention": partial(filled, Attended, nn.LSTM, "bidirect"),
    "gru_attention": partial(filled, Attended, nn.GRU, "forward", 2),
    "rnn_attention": partial(filled, Attended, nn.SimpleRNN, "forward", 1),
    "bigru_lengths": partial(filled, Lengths, nn.GRU, "bidirect"),
    "bilstm_lengths": partial(filled, Lengths, nn.LSTM, "bidirect"),
    "gru_lengths": partial(filled, Lengths, nn.GRU, "forward"),
    **{f"encoder_{head}": partial(filled, Encoder, head) for head in ("pair", "score", "tokens", "label", "classes")},
    "ctc_lstm": partial(filled, Ctc, nn.LSTM),
    "ctc_gru": partial(filled, Ctc, nn.GRU),
    **{f"mlp_{name}": partial(filled, Mlp, getattr(F, name)) for name in ("relu", "gelu", "swish", "softplus", "elu")},
    "mlp_tanh": partial(filled, Mlp, paddle.tanh, 3),
    "norm_group": lambda: filled(Normed, nn.GroupNorm(4, 8)),
    "norm_instance": lambda: filled(Normed, nn.InstanceNorm2D(8)),
    "norm_batch": lambda: filled(Normed, nn.BatchNorm2D(8)),
    "norm_layer": lambda: filled(Normed, nn.LayerNorm([8, 12, 12])),
    "norm_rms": partial(filled, Rms),
    "conv_depthwise": lambda: filled(
        Convs, _conv(3, 6, 3), nn.Hardswish(), _conv(6, 6, 3, groups=6), _conv(6, 6, 1), width=6
    ),
    "conv_dilated": lambda: filled(Convs, _conv(3, 6, 3, dilation=2), nn.Mish(), _conv(6, 5, 3), width=5, outputs=1),
    "conv_transposed": lambda: filled(Convs, _conv(3, 6, 3), nn.ReLU(), nn.Conv2DTranspose(6, 4, 2, stride=2), width=4),
    "conv_one": lambda: filled(Convs, nn.Conv1D(2, 6, 5), nn.Sigmoid(), nn.Conv1D(6, 4, 3), width=4, outputs=1),
    "conv_three": lambda: filled(Convs, nn.Conv3D(1, 4, 3), nn.ReLU(), nn.Conv3D(4, 4, 1), width=4),
    "squeeze": partial(filled, Squeeze),
    "named": partial(filled, Named),
    "sharper": partial(filled, Sharper),
    "loss_entropy": partial(Loss, F.cross_entropy),
    "loss_square": partial(Loss, F.mse_loss),
    "loss_smooth": partial(Loss, F.smooth_l1_loss),
    "loss_binary": partial(Loss, F.binary_cross_entropy_with_logits),
    "loss_cosine": partial(Loss, partial(F.cosine_similarity, axis=-1)),
    "loss_trained": partial(filled, Trained),
    "boxes": Boxes,
    **{f"bag_{kind}": partial(filled, Bag, kind) for kind in ("label", "softmax", "best")},
    "counts": Counts,
    "towers_cosine": partial(filled, Towers, False),
    "towers_deep": partial(filled, Towers, True),
    "machine": partial(filled, Machine),
    "cross": partial(filled, Cross),
    "graph": partial(filled, Graph),
    "siamese": partial(filled, Siamese),
    "forecast": partial(filled, Forecast),
    **{f"empty_{kind}": partial(Empty, kind) for kind in ("map", "score", "gate")},
}


def __getattr__(name: str) -> Callable[[], nn.Layer]:
    if name not in FACTORIES:
        raise AttributeError(name)
    return FACTORIES[name]
