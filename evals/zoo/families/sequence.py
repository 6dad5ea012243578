"""Small recurrent networks and transformers, of the kinds that are deployed."""

from __future__ import annotations

import paddle
import paddle.nn as nn
import paddle.nn.functional as F

from evals.zoo.network import BATCH, TIME, Network, Tensor, image


class Lstm(nn.Layer):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(50, 16)
        self.lstm = nn.LSTM(16, 24, num_layers=2, direction="bidirectional", dropout=0.1)
        self.head = nn.Linear(48, 5)

    def forward(self, words, length):
        states, (last, _) = self.lstm(self.embedding(words), sequence_length=length)
        return self.head(states), last


class Gru(nn.Layer):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(50, 16)
        self.gru = nn.GRU(16, 24)
        self.head = nn.Linear(24, 5)

    def forward(self, words, length):
        states, last = self.gru(self.embedding(words), sequence_length=length)
        return F.softmax(self.head(last[-1])), states


class Encoder(nn.Layer):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(50, 32)
        self.places = nn.Embedding(16, 32)
        layer = nn.TransformerEncoderLayer(32, 4, 64, activation="gelu", attn_dropout=0.0, act_dropout=0.0)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(32, 3)

    def forward(self, words):
        mask = (words == 0).astype("float32").unsqueeze([1, 2]) * -1e4
        places = paddle.cumsum(paddle.ones_like(words), axis=-1) - 1
        states = self.encoder(self.words(words) + self.places(places), mask)
        return self.head(states[:, 0]), states


class DecoderStep(nn.Layer):
    """One step of decoding: the keys and values so far come in, and go out longer."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(50, 32)
        self.attention = nn.MultiHeadAttention(32, 4)
        self.head = nn.Linear(32, 50)

    def forward(self, words, keys, values):
        x = self.words(words[:, -1:])
        cache = nn.MultiHeadAttention.Cache(keys, values)
        y, cache = self.attention(x, x, x, None, cache)
        return self.head(x + y), cache.k, cache.v


class Greedy(nn.Layer):
    """A decoder of two layers that writes five words, with the cache inside the program."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(50, 32)
        self.decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(32, 4, 64), 2)
        self.head = nn.Linear(32, 50)

    def forward(self, words):
        memory = self.words(words)
        caches = self.decoder.gen_cache(memory)
        last = words[:, :1]
        written = []
        for _ in range(5):
            y, caches = self.decoder(self.words(last), memory, cache=caches)
            last = paddle.argmax(self.head(y), axis=-1)
            written.append(last)
        return paddle.concat(written, axis=1)


class Crnn(nn.Layer):
    """Convolutions, two bidirectional LSTMs, and the head that CTC decodes greedily."""

    def __init__(self):
        super().__init__()
        self.convolutions = nn.Sequential(
            nn.Conv2D(1, 16, 3, padding=1), nn.BatchNorm2D(16), nn.ReLU(), nn.MaxPool2D(2, 2),
            nn.Conv2D(16, 32, 3, padding=1), nn.BatchNorm2D(32), nn.Hardswish(), nn.MaxPool2D((2, 1), (2, 1)),
            nn.Conv2D(32, 32, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2D((1, None)),
        )  # fmt: skip
        self.lstm = nn.LSTM(32, 24, num_layers=2, direction="bidirectional")
        self.head = nn.Linear(48, 20)

    def forward(self, image):
        columns = paddle.transpose(paddle.squeeze(self.convolutions(image), 2), [0, 2, 1])
        states, _ = self.lstm(columns)
        scores = F.softmax(self.head(states), axis=2)
        return scores, paddle.argmax(scores, axis=2), paddle.max(scores, axis=2)


class Attention(nn.Layer):
    """An encoder and a decoder of GRUs with additive attention."""

    def __init__(self):
        super().__init__()
        self.source = nn.Embedding(50, 16)
        self.target = nn.Embedding(50, 16)
        self.encoder = nn.GRU(16, 24, direction="bidirect")
        self.cell = nn.GRUCell(16 + 48, 48)
        self.score = nn.Linear(96, 1)
        self.head = nn.Linear(48, 50)

    def forward(self, source, target):
        memory, _ = self.encoder(self.source(source))
        state = paddle.mean(memory, axis=1)
        scores = []
        for step in range(target.shape[1]):
            query = paddle.expand_as(state.unsqueeze(1), memory)
            weights = F.softmax(self.score(paddle.tanh(paddle.concat([query, memory], -1))), axis=1)
            context = paddle.sum(weights * memory, axis=1)
            _, state = self.cell(paddle.concat([self.target(target[:, step]), context], -1), state)
            scores.append(self.head(state))
        return paddle.stack(scores, axis=1)


def networks() -> list[Network]:
    """Recurrent networks and transformers of our own."""
    batch, both = {"batch": BATCH}, {"batch": BATCH, "time": TIME}
    words = Tensor(("batch", "time"), "int64", "integers(1,50)", "words")
    lengths = Tensor(("batch",), "int64", "integers(1,time)", "length")
    six = Tensor(("batch", 6), "int64", "integers(1,50)", "words")
    keys, values = (Tensor(("batch", 4, "time", 8), name=name) for name in ("keys", "values"))
    source, target = (Tensor(("batch", 6), "int64", "integers(1,50)", name) for name in ("source", "target"))
    return [
        Network("sequence", "LSTM_sequence_length", Lstm, (words, lengths), both),
        Network("sequence", "GRU_sequence_length", Gru, (words, lengths), both),
        Network("sequence", "Transformer_encoder", Encoder, (words,), both),
        Network("sequence", "Transformer_decoder_cache", DecoderStep, (six, keys, values), both),
        Network("sequence", "Transformer_decoder_loop", Greedy, (six,), batch),
        Network("sequence", "CRNN_CTC", Crnn, image(64, height=32, channels=1), batch),
        Network("sequence", "Seq2seq_attention", Attention, (source, target), batch),
    ]
