"""Decoders of nine kinds, small and with random weights: each is one step, with its cache as inputs and as outputs.

A planted fault reads another place than is asked for: `shift` places further, for the places from `since` to `until`.
"""

from __future__ import annotations

import math

import paddle
from paddle import Tensor, nn
from paddle.nn import functional as F

WORDS, WIDTH, HEADS, SHARED = 50, 32, 4, 2
HEAD = WIDTH // HEADS
#: Places of a table of positions, and of a buffer whose size never changes.
PLACES = 128
#: So many keys a query of the sliding window sees, itself among them.
WINDOW = 16
#: By how much a state decays too slowly, with a fault, in the two that have no places; the second forgets later.
DRIFT, SLOW_DRIFT = 2e-6, 5e-7
_UNSEEN = -1e9


def split(x: Tensor, heads: int) -> Tensor:
    """[batch, length, heads * size] to [batch, heads, length, size]."""
    return x.reshape([0, 0, heads, -1]).transpose([0, 2, 1, 3])


def attend(q: Tensor, keys: Tensor, values: Tensor, bias: Tensor | None) -> Tensor:
    """Attention of [batch, heads, length, size] over all keys; [batch, length, heads * size]."""
    scores = paddle.matmul(q, keys, transpose_y=True) * HEAD**-0.5
    if bias is not None:
        scores = scores + bias
    mixed = paddle.matmul(F.softmax(scores, axis=-1), values)
    return mixed.transpose([0, 2, 1, 3]).reshape([0, 0, WIDTH])


def rotate(x: Tensor, places: Tensor) -> Tensor:
    """Rotary embedding of [batch, heads, 1, size] at `places` [batch, 1]."""
    steps = paddle.to_tensor([10000.0 ** (-2 * at / HEAD) for at in range(HEAD // 2)])
    angle = (places.astype("float32").unsqueeze(-1) * steps).unsqueeze(1)
    cos, sin = paddle.cos(angle), paddle.sin(angle)
    even, odd = x[..., : HEAD // 2], x[..., HEAD // 2 :]
    return paddle.concat([even * cos - odd * sin, odd * cos + even * sin], axis=-1)


class Moved(nn.Layer):
    """The place that is read; with a fault another one, in a part of all places."""

    def __init__(self, shift: int, since: int, until: int) -> None:
        super().__init__()
        self.shift, self.since, self.until = shift, since, until

    def forward(self, places):
        if not self.shift:
            return places
        wrong = paddle.logical_and(places >= self.since, places < self.until)
        return places + wrong.astype("int64") * self.shift


class RMSNorm(nn.Layer):
    """x / rms(x), scaled."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = self.create_parameter([width], default_initializer=nn.initializer.Uniform(0.5, 1.5))

    def forward(self, x):
        return x * paddle.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * self.weight


class Perceptron(nn.Layer):
    """The second half of a block behind a layer norm."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(self.norm(x))))


class Gated(nn.Layer):
    """The second half of a block of Llama's."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = RMSNorm(WIDTH)
        self.gate, self.up, self.down = (
            nn.Linear(a, b, bias_attr=False) for a, b in ((WIDTH, 64), (WIDTH, 64), (64, WIDTH))
        )

    def forward(self, x):
        h = self.norm(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


class Attention(nn.Layer):
    """The first half of a block of GPT's: keys and values of the past are inputs."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.qkv, self.out = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x, key, value, bias):
        q, k, v = self.qkv(self.norm(x)).split(3, axis=-1)
        keys = paddle.concat([key, split(k, HEADS)], axis=2)
        values = paddle.concat([value, split(v, HEADS)], axis=2)
        return x + self.out(attend(split(q, HEADS), keys, values, bias)), keys, values


class RotaryAttention(nn.Layer):
    """The first half of a block of Llama's; with fewer heads of keys than of queries each is shared."""

    def __init__(self, heads: int, biased: bool) -> None:
        super().__init__()
        self.heads, self.norm = heads, RMSNorm(WIDTH)
        bias = None if biased else False
        self.q = nn.Linear(WIDTH, WIDTH, bias_attr=bias)
        self.k, self.v = (nn.Linear(WIDTH, heads * HEAD, bias_attr=bias) for _ in range(2))
        self.out = nn.Linear(WIDTH, WIDTH, bias_attr=False)

    def forward(self, x, places, key, value, bias):
        h = self.norm(x)
        q, k = rotate(split(self.q(h), HEADS), places), rotate(split(self.k(h), self.heads), places)
        keys = paddle.concat([key, k], axis=2)
        values = paddle.concat([value, split(self.v(h), self.heads)], axis=2)
        times = HEADS // self.heads
        wide = [paddle.repeat_interleave(part, times, axis=1) if times > 1 else part for part in (keys, values)]
        return x + self.out(attend(q, wide[0], wide[1], bias)), keys, values


class GPT(nn.Layer):
    """Positions from a table."""

    def __init__(self, shift: int = 0, since: int = 0, until: int = PLACES) -> None:
        super().__init__()
        self.words, self.places, self.moved = (
            nn.Embedding(WORDS, WIDTH),
            nn.Embedding(PLACES, WIDTH),
            Moved(shift, since, until),
        )
        self.first, self.second = Attention(), Attention()
        self.between, self.after = Perceptron(), Perceptron()
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WORDS)

    def forward(self, ids, position, key_0, value_0, key_1, value_1):
        x = self.words(ids) + self.places(self.moved(position))
        x, key_0, value_0 = self.first(x, key_0, value_0, None)
        x, key_1, value_1 = self.second(self.between(x), key_1, value_1, None)
        return self.head(self.norm(self.after(x))), key_0, value_0, key_1, value_1


class Llama(nn.Layer):
    """Rotary positions, RMS norms and gated perceptrons."""

    heads, biased = HEADS, False

    def __init__(self, shift: int = 0, since: int = 0, until: int = PLACES) -> None:
        super().__init__()
        self.words, self.moved = nn.Embedding(WORDS, WIDTH), Moved(shift, since, until)
        self.first, self.second = (RotaryAttention(self.heads, self.biased) for _ in range(2))
        self.between, self.after = Gated(), Gated()
        self.norm, self.head = RMSNorm(WIDTH), nn.Linear(WIDTH, WORDS, bias_attr=False)

    def decode(self, ids, position, caches, bias):
        """Logits, and the caches one longer."""
        places = self.moved(position)
        x, key_0, value_0 = self.first(self.words(ids), places, caches[0], caches[1], bias)
        x, key_1, value_1 = self.second(self.between(x), places, caches[2], caches[3], bias)
        return self.head(self.norm(self.after(x))), key_0, value_0, key_1, value_1

    def forward(self, ids, position, key_0, value_0, key_1, value_1):
        return self.decode(ids, position, [key_0, value_0, key_1, value_1], None)


class Qwen2(Llama):
    """Two heads of keys for four of queries, biases, and a mask of padding on the left."""

    heads, biased = SHARED, True

    def forward(self, ids, position, mask, key_0, value_0, key_1, value_1):
        bias = ((1 - mask).astype("float32") * _UNSEEN).unsqueeze([1, 2])
        return self.decode(ids, position, [key_0, value_0, key_1, value_1], bias)


class Mistral(Llama):
    """A window that slides: what lies further back is in the cache and is not seen."""

    heads = SHARED

    def forward(self, ids, position, key_0, value_0, key_1, value_1):
        far = paddle.arange(key_0.shape[2], -1, -1, dtype="int64") >= WINDOW
        bias = far.astype("float32") * _UNSEEN
        return self.decode(ids, position, [key_0, value_0, key_1, value_1], bias)


class T5(nn.Layer):
    """Positions by buckets of distances, attention to what an encoder gave."""

    def __init__(self, shift: int = 0, since: int = 0, until: int = PLACES) -> None:
        super().__init__()
        self.words, self.moved = nn.Embedding(WORDS, WIDTH), Moved(shift, since, until)
        self.buckets = nn.Embedding(16, HEADS)
        self.first, self.norm, self.q = Attention(), RMSNorm(WIDTH), nn.Linear(WIDTH, WIDTH)
        self.k, self.v, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(3))
        self.after, self.last, self.head = Perceptron(), RMSNorm(WIDTH), nn.Linear(WIDTH, WORDS)

    def bias(self, past):
        """[1, heads, 1, past + 1]: near distances have buckets of their own, far ones share them by their logarithm."""
        distance = self.moved(paddle.arange(past, -1, -1, dtype="int64"))
        real = paddle.clip(distance.astype("float32"), min=1.0)
        far = 8 + (paddle.log(real / 8.0) / math.log(16.0) * 8.0).astype("int64")
        bucket = paddle.where(distance < 8, distance, paddle.clip(far, max=15))
        return self.buckets(bucket).transpose([1, 0]).unsqueeze([0, 2])

    def forward(self, ids, memory, key, value):
        x, key, value = self.first(self.words(ids), key, value, self.bias(key.shape[2]))
        q = split(self.q(self.norm(x)), HEADS)
        x = x + self.out(attend(q, split(self.k(memory), HEADS), split(self.v(memory), HEADS), None))
        return self.head(self.last(self.after(x))), key, value


class Bloom(nn.Layer):
    """No positions but a slope for each head (alibi), which makes what is far weigh less."""

    def __init__(self, shift: int = 0, since: int = 0, until: int = PLACES) -> None:
        super().__init__()
        self.words, self.norm, self.moved = nn.Embedding(WORDS, WIDTH), nn.LayerNorm(WIDTH), Moved(shift, since, until)
        self.first, self.second = Attention(), Attention()
        self.between, self.after = Perceptron(), Perceptron()
        self.last, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WORDS)

    def forward(self, ids, key_0, value_0, key_1, value_1):
        slopes = paddle.to_tensor([2.0 ** (-8.0 * (head + 1) / HEADS) for head in range(HEADS)])
        distance = self.moved(paddle.arange(key_0.shape[2], -1, -1, dtype="int64")).astype("float32")
        bias = -slopes.reshape([1, HEADS, 1, 1]) * distance
        x, key_0, value_0 = self.first(self.norm(self.words(ids)), key_0, value_0, bias)
        x, key_1, value_1 = self.second(self.between(x), key_1, value_1, bias)
        return self.head(self.last(self.after(x))), key_0, value_0, key_1, value_1


class Seq2Seq(nn.Layer):
    """A GRU over an LSTM that attend to what an encoder gave; the cache is their states."""

    def __init__(self, shift: int = 0, since: int = 0, until: int = PLACES) -> None:
        super().__init__()
        self.words, self.score = nn.Embedding(WORDS, WIDTH), nn.Linear(2 * WIDTH, 1)
        self.lower, self.upper = nn.LSTMCell(2 * WIDTH, WIDTH), nn.GRUCell(WIDTH, WIDTH)
        self.head, self.decay = nn.Linear(2 * WIDTH, WORDS), 1.0 + shift * DRIFT

    def forward(self, ids, memory, hidden, cell, state):
        wide = paddle.expand_as(state.unsqueeze(1), memory)
        weights = F.softmax(self.score(paddle.tanh(paddle.concat([memory, wide], axis=-1))), axis=1)
        context = (weights * memory).sum(1)
        taken = paddle.concat([self.words(ids).squeeze(1), context], axis=-1)
        out, (hidden, cell) = self.lower(taken, (hidden, cell))
        out, state = self.upper(out, state)
        return self.head(paddle.concat([out, context], axis=-1)), hidden, cell * self.decay, state


class Mamba(nn.Layer):
    """A selective state space behind a short convolution; the cache is the state and the last inputs."""

    def __init__(self, shift: int = 0, since: int = 0, until: int = PLACES) -> None:
        super().__init__()
        self.words, self.norm = nn.Embedding(WORDS, WIDTH), RMSNorm(WIDTH)
        self.into, self.out = nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.kernel = self.create_parameter([WIDTH, 4])
        self.select, self.step = nn.Linear(WIDTH, 16), nn.Linear(WIDTH, WIDTH)
        self.rates = self.create_parameter([WIDTH, 8])
        self.last, self.head, self.decay = RMSNorm(WIDTH), nn.Linear(WIDTH, WORDS), 1.0 + shift * SLOW_DRIFT

    def forward(self, ids, recent, state):
        x, gate = self.into(self.norm(self.words(ids).squeeze(1))).split(2, axis=-1)
        recent = paddle.concat([recent[:, :, 1:], x.unsqueeze(-1)], axis=-1)
        x = F.silu((recent * self.kernel).sum(-1))
        write, read = self.select(x).split(2, axis=-1)
        step = F.softplus(self.step(x)).unsqueeze(-1)
        kept = paddle.exp(-step * paddle.exp(self.rates - 4.0)) * self.decay
        state = kept * state + step * x.unsqueeze(-1) * write.unsqueeze(1)
        y = (state * read.unsqueeze(1)).sum(-1) * F.silu(gate)
        return self.head(self.last(self.out(y))), recent, state


class Static(nn.Layer):
    """A Transformer that writes its keys and values into buffers of one size, at the place that is asked for."""

    def __init__(self, shift: int = 0, since: int = 0, until: int = PLACES) -> None:
        super().__init__()
        self.words, self.places, self.moved = (
            nn.Embedding(WORDS, WIDTH),
            nn.Embedding(PLACES, WIDTH),
            Moved(shift, since, until),
        )
        self.norm, self.qkv, self.out = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.after, self.last, self.head = Perceptron(), nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WORDS)

    def forward(self, ids, position, keys, values):
        at = self.moved(position)
        x = self.words(ids) + self.places(position)
        q, k, v = self.qkv(self.norm(x)).split(3, axis=-1)
        every = paddle.arange(0, PLACES, dtype="int64")
        here = (every == at).astype("float32").reshape([-1, 1, PLACES, 1])
        keys = keys * (1.0 - here) + split(k, HEADS) * here
        values = values * (1.0 - here) + split(v, HEADS) * here
        bias = ((every > position).astype("float32") * _UNSEEN).reshape([-1, 1, 1, PLACES])
        x = self.after(x + self.out(attend(split(q, HEADS), keys, values, bias)))
        return self.head(self.last(x)), keys, values


def build(kind: str, shift: int = 0, since: int = 0, until: int = PLACES) -> nn.Layer:
    """The decoder of this kind, with weights of one seed that are large enough for outputs to tell something."""
    paddle.seed(7)
    kinds = (GPT, Llama, Qwen2, Mistral, T5, Bloom, Seq2Seq, Mamba, Static)
    layer: nn.Layer = {one.__name__: one for one in kinds}[kind](shift, since, until)
    for parameter in layer.parameters():
        if parameter.ndim > 1:
            parameter.set_value(paddle.randn(parameter.shape) * (1.5 * parameter.shape[0] ** -0.5))
    layer.eval()
    return layer
