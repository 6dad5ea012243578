"""Run by an older Paddle's Python, without this package: save networks as `.pdmodel` into a folder, one folder each.

`python saved_by_older.py FOLDER`; networks of paddle.vision and layers of paddle.nn, with random weights by seed.
"""

import sys
from pathlib import Path

import paddle
from paddle import nn
from paddle.vision import models

SIZES = {"alexnet": 224, "googlenet": 224, "inception_v3": 96}
VISION = """
resnet18 resnet34 resnet50 resnext50_32x4d resnext50_64x4d wide_resnet50_2 vgg11 vgg13 vgg16 vgg19
mobilenet_v1 mobilenet_v2 mobilenet_v3_small mobilenet_v3_large squeezenet1_0 squeezenet1_1 densenet121
shufflenet_v2_x0_25 shufflenet_v2_x0_33 shufflenet_v2_x0_5 shufflenet_v2_x1_0 shufflenet_v2_swish alexnet
googlenet inception_v3 resnet101 densenet169 shufflenet_v2_x1_5
""".split()


class Reader(nn.Layer):
    """Convolutions, two directions of an LSTM, a score a step."""

    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2D(3, 8, 3, padding=1, stride=2), nn.BatchNorm2D(8)
        self.lstm, self.fc = nn.LSTM(8 * 16, 12, direction="bidirectional"), nn.Linear(24, 7)

    def forward(self, x):
        y = nn.functional.relu(self.norm(self.conv(x)))
        y = y.transpose([0, 3, 1, 2]).flatten(2)
        return nn.functional.softmax(self.fc(self.lstm(y)[0]), axis=-1)


class Recurrent(nn.Layer):
    def __init__(self, kind):
        super().__init__()
        self.cells = kind(5, 6, num_layers=2)

    def forward(self, x):
        return self.cells(x)[0]


class Encoder(nn.Layer):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(30, 16)
        self.layers = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32, dropout=0.1), 2)
        self.pool = nn.Linear(16, 3)

    def forward(self, ids):
        return self.pool(self.layers(self.table(ids)).mean(axis=1))


class Gated(nn.Layer):
    def __init__(self):
        super().__init__()
        self.convs = nn.LayerList([nn.Conv1D(4, 8, 3, padding=2**n, dilation=2**n) for n in range(3)])
        self.last = nn.Conv1D(4, 2, 1)

    def forward(self, x):
        for conv in self.convs:
            left, right = paddle.split(conv(x), 2, axis=1)
            x = x + paddle.tanh(left) * nn.functional.sigmoid(right)
        return self.last(x)


class Pyramid(nn.Layer):
    def __init__(self):
        super().__init__()
        self.down = nn.LayerList([nn.Conv2D(3 if not n else 8, 8, 3, padding=1, stride=2) for n in range(3)])
        self.out = nn.Conv2D(8, 4, 1)
        self.norm = nn.GroupNorm(2, 8)

    def forward(self, x):
        levels = []
        for conv in self.down:
            x = nn.functional.swish(self.norm(conv(x)))
            levels.append(x)
        y = levels[-1]
        for level in levels[-2::-1]:
            y = nn.functional.interpolate(y, size=level.shape[2:], mode="nearest") + level
        return self.out(y), paddle.topk(y.flatten(1), 5)[0]


class Deciding(nn.Layer):
    def forward(self, x):
        if paddle.mean(x) > 0:
            y = x * 2
        else:
            y = x - 1
        return paddle.clip(y, -1.0, 1.5)


OWN = {
    "reader": (Reader, [None, 3, 32, None], "float32"),
    "lstm": (lambda: Recurrent(nn.LSTM), [None, 6, 5], "float32"),
    "gru": (lambda: Recurrent(nn.GRU), [None, 6, 5], "float32"),
    "rnn": (lambda: Recurrent(nn.SimpleRNN), [None, 6, 5], "float32"),
    "encoder": (Encoder, [None, None], "int64"),
    "gated": (Gated, [None, 4, None], "float32"),
    "pyramid": (Pyramid, [None, 3, 64, 64], "float32"),
    "deciding": (Deciding, [None, 4], "float32"),
    "autoencoder": (
        lambda: nn.Sequential(nn.Linear(12, 8), nn.LayerNorm(8), nn.GELU(), nn.Linear(8, 12)),
        [None, 12],
        "float32",
    ),
    "upsampler": (
        lambda: nn.Sequential(nn.Conv2D(3, 12, 3, padding=1), nn.PixelShuffle(2), nn.PReLU(), nn.Conv2D(3, 1, 3)),
        [None, 3, 16, 16],
        "float32",
    ),
    "deconvolution": (
        lambda: nn.Sequential(nn.Conv2DTranspose(4, 6, 4, stride=2, padding=1), nn.BatchNorm2D(6), nn.Hardswish()),
        [None, 4, 8, 8],
        "float32",
    ),
    "volume": (
        lambda: nn.Sequential(nn.Conv3D(1, 4, 3, padding=1), nn.BatchNorm3D(4), nn.MaxPool3D(2), nn.AvgPool3D(2)),
        [None, 1, 8, 8, 8],
        "float32",
    ),
}


def save(name, layer, shape, dtype, folder):
    layer.eval()
    Path(folder, name).mkdir(parents=True, exist_ok=True)
    paddle.jit.save(layer, f"{folder}/{name}/inference", input_spec=[paddle.static.InputSpec(shape, dtype, "x")])


def main():
    folder = sys.argv[1]
    for name in VISION:
        paddle.seed(0)
        size = SIZES.get(name, 64)
        save(name, getattr(models, name)(), [None, 3, size, size], "float32", folder)
    for name, (build, shape, dtype) in OWN.items():
        paddle.seed(0)
        save(name, build(), shape, dtype, folder)


if __name__ == "__main__":
    main()
