"""A small language model: ids [batch, seq] to the logits of the next word [batch, seq, 2000]."""

from __future__ import annotations

from typing import Any

WORDS, WIDTH, LAYERS = 2000, 192, 6


def build() -> Any:
    """Six layers of causal attention between an embedding and a projection onto the words."""
    import paddle
    from paddle import nn

    layer = nn.TransformerEncoderLayer(WIDTH, 6, 4 * WIDTH, activation="gelu", normalize_before=True)

    class Language(nn.Layer):  # type: ignore[misc]  # Paddle has no types
        def __init__(self) -> None:
            super().__init__()
            self.embed = nn.Embedding(WORDS, WIDTH)
            self.body = nn.TransformerEncoder(layer, LAYERS, nn.LayerNorm(WIDTH))
            self.head = nn.Linear(WIDTH, WORDS)

        def forward(self, ids: Any) -> Any:
            later = paddle.triu(paddle.full([ids.shape[1], ids.shape[1]], -1e9), 1)
            return self.head(self.body(self.embed(ids), later))

    return Language()
