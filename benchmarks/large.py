"""A network of 500 MB: nothing but wide linear layers."""

from __future__ import annotations

from typing import Any


def build() -> Any:
    """1,024 features in, 1,000 out, seven layers of 4,096 x 4,096 between."""
    from paddle import nn

    layers = [nn.Linear(1024, 4096), nn.ReLU()]
    for _ in range(7):
        layers += [nn.Linear(4096, 4096), nn.ReLU()]

    class Large(nn.Layer):  # type: ignore[misc]  # Paddle has no types
        def __init__(self) -> None:
            super().__init__()
            self.body = nn.Sequential(*layers, nn.Linear(4096, 1000))

        def forward(self, x: Any) -> Any:
            return self.body(x)

    return Large()


def attention(gigabytes: float) -> Any:
    """A stack of attention and wide linear layers over 2,048 features, as many as have that size in float32."""
    import paddle
    from paddle import nn

    width, heads = 2048, 16

    class Block(nn.Layer):  # type: ignore[misc]  # Paddle has no types
        def __init__(self) -> None:
            super().__init__()
            self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
            self.joined, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x: Any) -> Any:
            batch, time = paddle.shape(x)[0], paddle.shape(x)[1]
            parts = self.joined(self.before(x)).reshape([batch, time, 3, heads, width // heads])
            query, key, value = paddle.unbind(parts.transpose([2, 0, 3, 1, 4]))
            scores = paddle.matmul(query, key, transpose_y=True) * (width // heads) ** -0.5
            mixed = paddle.matmul(nn.functional.softmax(scores), value).transpose([0, 2, 1, 3])
            x = x + self.out(mixed.reshape([batch, time, width]))
            return x + self.narrow(nn.functional.gelu(self.wide(self.between(x))))

    class Stack(nn.Layer):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.tokens = nn.Embedding(8192, width)
            left = gigabytes * 1e9 / 4 - 2 * 8192 * width
            self.blocks = nn.LayerList([Block() for _ in range(round(left / (12 * width * width)))])
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 8192)

        def forward(self, ids: Any) -> Any:
            x = self.tokens(ids)
            for block in self.blocks:
                x = block(x)
            return self.head(self.norm(x))

    return Stack()
